"""`footnote slack`, `footnote discord` and `footnote run`: the platforms that people ask on."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from bots.cli.app import app, with_footnote
from rag.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic import SecretStr

    from bots.access import Rules
    from bots.desk import Desk
    from bots.discord.app import DiscordPlatform
    from bots.serving import Platform
    from bots.slack.app import Slack
    from bots.surfaces import Surface
    from config.assembly import Footnote
    from config.settings import Settings
    from rag.types import Place


@app.command("slack")
def slack() -> None:
    """Answer questions in Slack, until Ctrl-C or SIGTERM."""
    with_footnote(lambda footnote: serve_platforms(footnote, ["slack"]))


@app.command("discord")
def discord() -> None:
    """Answer questions in Discord, until Ctrl-C or SIGTERM."""
    with_footnote(lambda footnote: serve_platforms(footnote, ["discord"]))


@app.command("run")
def run_all() -> None:
    """Answer questions on every platform whose tokens are set, until Ctrl-C or SIGTERM."""

    async def serve(footnote: Footnote) -> None:
        known = [name for name, given in GIVEN.items() if given(footnote.settings)]
        if not known:
            raise BadSetting(
                "No platform has its tokens: set SLACK_BOT_TOKEN and SLACK_APP_TOKEN (see docs/slack.md), or DISCORD_TOKEN "
                "(see docs/discord.md)."
            )
        await serve_platforms(footnote, known)

    with_footnote(serve)


GIVEN: Mapping[str, Callable[[Settings], object]] = {
    "slack": lambda settings: settings.slack_bot_token or settings.slack_client_id,
    "discord": lambda settings: settings.discord_token,
}


async def serve_platforms(footnote: Footnote, names: Sequence[str]) -> None:
    from bots.schedule import Schedule  # noqa: PLC0415 - loaded once it is needed
    from bots.serving import serve  # noqa: PLC0415

    await footnote.check()
    async with AsyncExitStack() as stack:
        platforms: list[Platform] = [await OPEN[name](footnote, stack) for name in names]
        await stack.enter_async_context(Schedule(footnote.runs, footnote.catalog, reindexed(footnote)))
        await footnote.warm()
        await serve(platforms, lambda surfaces: desk_of(footnote, surfaces), ready=lambda: say_ready(names))


def say_ready(names: Sequence[str]) -> None:
    from bots.cli.app import console  # noqa: PLC0415

    console(stderr=True).print(f"Footnote listens in {' and '.join(name.capitalize() for name in names)}. Ctrl-C ends it.")


def desk_of(footnote: Footnote, surfaces: Mapping[str, Surface[Any]]) -> Desk:
    from bots.access import AskingLimits, LimitSettings  # noqa: PLC0415
    from bots.desk import Desk, DeskSettings  # noqa: PLC0415

    table, limits = footnote.settings.desk, footnote.settings.limits
    return Desk(
        inbox=footnote.inbox,
        memory=footnote.memory,
        conversation=footnote.conversation,
        surfaces=surfaces,
        limits=AskingLimits(
            LimitSettings(
                limits.question_characters,
                limits.person_per_minute,
                limits.place_per_minute,
                limits.thread_answers,
                limits.answers_per_day,
            ),
        ),
        settings=DeskSettings(
            at_once=table.at_once,
            lease_seconds=table.lease_seconds,
            too_old_seconds=table.too_old_seconds,
            drain_seconds=table.drain_seconds,
        ),
    )


async def open_slack(footnote: Footnote, stack: AsyncExitStack) -> Slack:
    from bots.administering import Administration  # noqa: PLC0415
    from bots.slack.app import Keys, Office, SlackSettings, connected  # noqa: PLC0415
    from bots.slack.intake import IntakeSettings  # noqa: PLC0415

    settings, table = footnote.settings, footnote.settings.slack
    keys = Keys(
        bot=secret(settings.slack_bot_token),
        app=secret(settings.slack_app_token),
        signing=secret(settings.slack_signing_secret),
        client_id=settings.slack_client_id,
        client_secret=secret(settings.slack_client_secret),
    )
    intake = IntakeSettings(
        rules=slack_rules(settings),
        followups=table.followups == "thread",
        edit_seconds=table.edit_minutes * 60.0,
        **({"prompts": table.prompts} if table.prompts else {}),
    )
    chosen = SlackSettings(
        intake,
        api_url=settings.slack_api_url,
        port=table.port or 0,
        host=table.host,
        public_url=table.public_url,
        reading=table.history,
        person=table.ask_a_person,
    )
    office = Office(footnote.inbox, Administration(footnote), speakable(footnote), footnote.installations)
    return await stack.enter_async_context(connected(keys, chosen, office))


async def open_discord(footnote: Footnote, stack: AsyncExitStack) -> DiscordPlatform:
    from bots.administering import Administration  # noqa: PLC0415
    from bots.discord.app import App, DiscordPlatform, logged_in  # noqa: PLC0415
    from bots.discord.heard import Hearing  # noqa: PLC0415
    from bots.discord.listening import Listener, ListenSettings  # noqa: PLC0415
    from bots.discord.surface import DiscordSurface  # noqa: PLC0415
    from bots.discord.tokens import refuse  # noqa: PLC0415

    settings, table = footnote.settings, footnote.settings.discord
    if settings.discord_token is None:
        raise BadSetting(
            "DISCORD_TOKEN is not set: copy the bot's token from the developer portal (Bot, Token). See docs/discord.md."
        )
    refuse(secret(settings.discord_token))
    choosable = footnote.routes.choosable
    longest = settings.limits.question_characters
    client = App(footnote.catalog, footnote.names, choosable, content=table.message_content, direct=table.direct, longest=longest)
    await stack.enter_async_context(logged_in(client, secret(settings.discord_token), settings.discord_api_url))
    heard = Hearing(
        content=table.message_content,
        follow_ups=table.followups == "thread",
        direct=table.direct,
        forums=frozenset(table.forums),
    )
    chosen = ListenSettings(discord_rules(settings), heard, edit_seconds=table.edit_minutes * 60.0, longest=longest)
    return DiscordPlatform(
        client,
        DiscordSurface(client, threads=table.threads),
        lambda desk: Listener(desk, footnote.inbox, chosen, Administration(footnote), choosable),
        {"discord.channels": table.channels, "discord.forums": table.forums},
    )


OPEN: Mapping[str, Callable[[Footnote, AsyncExitStack], Any]] = {"slack": open_slack, "discord": open_discord}


def reindexed(footnote: Footnote) -> dict[str, float]:
    """Seconds by base, for those that are brought up to date by themselves."""
    every = {name: base.reindex_every for name, base in footnote.bases.items()}
    return {name: period for name, period in every.items() if period}


def discord_rules(settings: Settings) -> Rules:
    from bots.access import Rules  # noqa: PLC0415

    table = settings.discord
    return Rules(frozenset(table.admins), frozenset(table.channels), direct=table.direct)


def slack_rules(settings: Settings) -> Rules:
    from bots.access import Rules  # noqa: PLC0415

    table = settings.slack
    return Rules(frozenset(table.admins), frozenset(table.channels), outsiders=table.outsiders, guests=table.guests)


def speakable(footnote: Footnote) -> Callable[[Place], Sequence[str]]:
    """The bases that may be spoken of in a place: all of them where only the admin who asks can read it (R37)."""

    def bases(place: Place) -> Sequence[str]:
        return footnote.names if place.direct else footnote.routes.allowed(place)

    return bases


def secret(value: SecretStr | None) -> str:
    return value.get_secret_value() if value else ""
