"""Installations of platforms in workspaces: their tokens are encrypted, so that who has the database has no tokens (S10)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from sqlalchemy import bindparam, delete, select

from rag.errors import BadSetting
from storage.schema import installations
from storage.statements import upsert

if TYPE_CHECKING:
    from storage.database import Database

_WHICH = (
    installations.c.platform == bindparam("of_platform"),
    installations.c.enterprise == bindparam("of_enterprise"),
    installations.c.workspace == bindparam("of_workspace"),
)
_GET = select(installations.c.secret).where(*_WHICH, installations.c.person == bindparam("of_person"))
_FORGET = delete(installations).where(*_WHICH)


class DatabaseInstallations:
    """`keys` may be several, separated by commas: the first encrypts, the others still decrypt, so that keys can be changed."""

    def __init__(self, database: Database, keys: str) -> None:
        self._database = database
        self._keep = upsert(installations, database.dialect)
        try:
            self._fernet = MultiFernet([Fernet(key.strip()) for key in keys.split(",") if key.strip()])
        except ValueError as error:
            raise BadSetting(
                "SLACK_ENCRYPTION_KEY is not a key. Make one: python -c 'from cryptography.fernet import Fernet; "
                "print(Fernet.generate_key().decode())'"
            ) from error

    async def keep(self, platform: str, enterprise: str, workspace: str, person: str, secret: str) -> None:
        row = {
            "platform": platform,
            "enterprise": enterprise,
            "workspace": workspace,
            "person": person,
            "secret": self._fernet.encrypt(secret.encode()),
            "installed_at": datetime.now(UTC),
        }
        await self._database.write(lambda connection: connection.execute(self._keep, row))

    async def get(self, platform: str, enterprise: str, workspace: str, person: str) -> str | None:
        """Raises BadSetting where it was encrypted with another key."""
        which = {"of_platform": platform, "of_enterprise": enterprise, "of_workspace": workspace, "of_person": person}
        secret = await self._database.read(lambda connection: connection.execute(_GET, which).scalar())
        if secret is None:
            return None
        try:
            return self._fernet.decrypt(secret).decode()
        except InvalidToken as error:
            raise BadSetting(
                "SLACK_ENCRYPTION_KEY is not the key that the tokens were encrypted with. Put the old one behind the new one, "
                "separated by a comma."
            ) from error

    async def forget(self, platform: str, enterprise: str, workspace: str) -> bool:
        which = {"of_platform": platform, "of_enterprise": enterprise, "of_workspace": workspace}
        count = await self._database.write(lambda connection: connection.execute(_FORGET, which).rowcount)
        return count > 0
