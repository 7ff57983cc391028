"""`footnote doctor`: everything that may be wrong, each with what to do about it, before anybody asks (O2)."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from bots.cli.app import app, console, run
from rag.checking import Check, examined, findings
from rag.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from config.assembly import Footnote
    from config.settings import Settings
    from rag.checking import Finding


def platforms() -> Mapping[str, Callable[[Settings], list[Check]]]:
    """The checks of each platform. They are made without its tokens, too: that they are missing is what may be wrong."""
    from bots.cli.discord_checks import discord_checks  # noqa: PLC0415 - as in app
    from bots.cli.slack_checks import slack_checks  # noqa: PLC0415

    return {"slack": slack_checks, "discord": discord_checks}


def set_up(settings: Settings) -> list[str]:
    """The platforms that are given a token."""
    given = {
        "slack": settings.slack_bot_token or settings.slack_app_token or settings.slack_client_id,
        "discord": settings.discord_token,
    }
    return [name for name in platforms() if given[name]]


@app.command("doctor")
def doctor(
    platform: Annotated[
        str, typer.Argument(help="Only this platform: slack or discord; without one, everything that is set up.")
    ] = "",
) -> None:
    """Check settings, keys, models, stores, sources and index: one line each, with what to do where something is wrong."""

    async def examine() -> bool:
        from bots.cli.logs import set_up_logs  # noqa: PLC0415 - as in app
        from config.settings import load  # noqa: PLC0415

        try:
            settings = load()
        except BadSetting as error:
            return tell_settings(error)
        set_up_logs(settings.logging)
        if platform:
            return await told(chosen(platform)(settings)) == set()
        return await everything(settings)

    if not run(examine()):
        raise typer.Exit(1)


def chosen(platform: str) -> Callable[[Settings], list[Check]]:
    known = platforms()
    if platform not in known:
        raise BadSetting(f"There are no checks of {platform!r}; there are: {', '.join(known) or 'none yet'}.")
    return known[platform]


def tell_settings(error: BadSetting) -> bool:
    for line in str(error).splitlines():
        show("wrong", "settings", line)
    return False


async def everything(settings: Settings) -> bool:
    from config.checks import BEFORE, base_checks, checks_of  # noqa: PLC0415

    failed = await told(checks_of(settings))
    for name in set_up(settings):
        failed |= await told(chosen(name)(settings))
    async with AsyncExitStack() as stack:
        if failed.isdisjoint(BEFORE):
            footnote = await assembled(settings, stack)
            failed |= {"start"} if footnote is None else await told(base_checks(footnote))
        else:
            show("-", "sources, index", "not looked at before this is mended")
    return not failed


async def assembled(settings: Settings, stack: AsyncExitStack) -> Footnote | None:
    from config.assembly import assemble  # noqa: PLC0415

    opened: list[Footnote] = []

    async def start() -> str:
        opened.append(await stack.enter_async_context(assemble(settings)))
        return ""

    found = await examined(Check("start", start))
    if found.is_problem:
        tell(found)
    return opened[0] if opened else None


async def told(checks: Sequence[Check]) -> set[str]:
    """The names of those that found something wrong."""
    failed = set()
    async for found in findings(checks):
        tell(found)
        if found.is_problem:
            failed.add(found.name)
    return failed


def tell(found: Finding) -> None:
    show("wrong" if found.is_problem else "ok", found.name, found.text)


def show(mark: str, name: str, text: str) -> None:
    console().print(f"{mark:6} {name}: {text}" if text else f"{mark:6} {name}", style="bold red" if mark == "wrong" else None)
