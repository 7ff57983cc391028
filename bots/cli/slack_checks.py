"""What `footnote doctor` looks at of Slack, from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bots.slack.checks import Access, checks

if TYPE_CHECKING:
    from pydantic import SecretStr

    from config.settings import Settings
    from rag.checking import Check


def slack_checks(settings: Settings) -> list[Check]:
    table = settings.slack
    return checks(
        Access(
            bot_token=_given(settings.slack_bot_token),
            app_token=_given(settings.slack_app_token),
            signing_secret=_given(settings.slack_signing_secret),
            port=table.port,
            oauth=bool(settings.slack_client_id),
            client_secret=_given(settings.slack_client_secret),
            encryption_key=_given(settings.slack_encryption_key),
            public_url=table.public_url,
            api_url=settings.slack_api_url,
            channels=table.channels,
            admins=table.admins,
            ask_a_person=table.ask_a_person,
            followups=table.followups,
        )
    )


def _given(value: SecretStr | None) -> str:
    return value.get_secret_value() if value else ""
