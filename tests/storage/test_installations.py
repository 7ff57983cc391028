"""Tokens of workspaces: kept, found again, forgotten, and unreadable for who has only the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cryptography.fernet import Fernet

from rag.errors import BadSetting
from storage import schema
from storage.installations import DatabaseInstallations

if TYPE_CHECKING:
    from storage.database import Database

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()
TOKEN = "xoxb-1234567890-secret"  # noqa: S105 - nobody's


async def test_what_is_kept_is_found_again_and_forgotten(database: Database) -> None:
    kept = DatabaseInstallations(database, OLD)
    await kept.keep("slack", "", "T1", "", TOKEN)
    await kept.keep("slack", "", "T2", "", "another")
    await kept.keep("slack", "", "T1", "", TOKEN + "2")

    assert await kept.get("slack", "", "T1", "") == TOKEN + "2"
    assert await kept.get("slack", "", "T3", "") is None
    assert await kept.forget("slack", "", "T1")
    assert not await kept.forget("slack", "", "T1")
    assert await kept.get("slack", "", "T1", "") is None
    assert await kept.get("slack", "", "T2", "") == "another"


async def test_no_token_stands_in_the_database_as_it_is(database: Database) -> None:
    await DatabaseInstallations(database, OLD).keep("slack", "", "T1", "", TOKEN)

    rows = await database.read(lambda connection: connection.execute(schema.installations.select()).all())

    assert len(rows) == 1
    assert TOKEN not in str(rows)
    assert b"secret" not in rows[0].secret


async def test_a_key_can_be_changed(database: Database) -> None:
    await DatabaseInstallations(database, OLD).keep("slack", "", "T1", "", TOKEN)

    assert await DatabaseInstallations(database, f"{NEW},{OLD}").get("slack", "", "T1", "") == TOKEN
    with pytest.raises(BadSetting, match="Put the old one behind the new one"):
        await DatabaseInstallations(database, NEW).get("slack", "", "T1", "")


def test_what_is_no_key_is_told_with_how_to_make_one(database: Database) -> None:
    with pytest.raises(BadSetting, match=r"SLACK_ENCRYPTION_KEY is not a key\. Make one"):
        DatabaseInstallations(database, "swordfish")
