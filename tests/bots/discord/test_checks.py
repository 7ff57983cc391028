"""`footnote doctor discord` names each thing that is wrong, and how to mend it; and shows the link that invites (D11)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bots.cli.doctor import chosen, told
from bots.discord.checks import Access, checks
from config.settings import load
from rag.checking import Finding, findings
from tests.fakes.discord.state import ATTACH, PUBLIC_THREADS, SEND, THREAD_SEND, VIEW

if TYPE_CHECKING:
    from tests.fakes.discord import FakeDiscord


def access(fake: FakeDiscord, **more: Any) -> Access:
    return replace(Access(fake.token, fake.api_url), **more)


async def found(given: Access) -> dict[str, Finding]:
    return {finding.name: finding async for finding in findings(checks(given))}


def problems(found: dict[str, Finding]) -> dict[str, str]:
    return {name: finding.text for name, finding in found.items() if finding.is_problem}


async def test_where_all_is_well_it_says_what_it_found(fake: FakeDiscord) -> None:
    place = fake.guild()
    ana = place.person("Ana")

    report = await found(
        access(fake, channels=(place.general.id,), forums=(place.forum("help").id,), admins=(ana.id,)),
    )

    assert problems(report) == {}
    assert {name: finding.text for name, finding in report.items()} == {
        "Discord token": "@footnote",
        "Discord invite link": report["Discord invite link"].text,
        "Discord intents": "Message Content is on",
        "Discord servers": "Acme",
        "Discord channels": "#general, #help",
        "Discord admins": "",
    }
    assert fake.gateway.identified == 0, "looking takes no connection away"


async def test_the_link_invites_with_the_least_permissions(fake: FakeDiscord) -> None:
    fake.guild()

    link = (await found(access(fake)))["Discord invite link"].text

    assert link.startswith(f"https://discord.com/oauth2/authorize?client_id={fake.bot.id}&")
    assert "scope=bot+applications.commands" in link
    assert "permissions=309237763136" in link


@pytest.mark.parametrize(
    ("token", "told"),
    [
        ("", "DISCORD_TOKEN is missing. Copy the token of the bot"),
        ("A.B.C\n", "DISCORD_TOKEN has a blank or a line break around it."),
        ('"A.B.C"', "DISCORD_TOKEN has quotation marks around it."),
        ("Bot A.B.C", "DISCORD_TOKEN begins with “Bot”. Set the token alone."),
        ("0123456789abcdefghijklmnopqrstUV", "DISCORD_TOKEN is no token: it looks like the client secret."),
        ("ab" * 32, "DISCORD_TOKEN is no token: it looks like the public key."),
        ("381870553235193857", "DISCORD_TOKEN is no token: it looks like an application's id."),
        ("something", "DISCORD_TOKEN is no token of Discord's, which has two dots in it."),
        ("reset.since.then", "Discord refuses DISCORD_TOKEN. Reset the token"),
    ],
)
async def test_each_wrong_token_is_told_apart(fake: FakeDiscord, token: str, told: str) -> None:
    report = await found(access(fake, token=token))

    assert list(problems(report)) == list(report) == ["Discord token"]
    assert report["Discord token"].text.startswith(told)


@pytest.mark.usefixtures("fake")  # puts back where Discord is
async def test_a_discord_that_cannot_be_reached_is_told_with_its_address() -> None:
    wrong = problems(await found(Access("A.B.C", "http://127.0.0.1:1/api")))

    assert wrong["Discord token"].startswith("DISCORD_API_URL is http://127.0.0.1:1/api, and it cannot be reached there")


async def test_an_intent_that_the_portal_does_not_give_is_told_unless_it_is_done_without(fake: FakeDiscord) -> None:
    fake.guild()
    fake.application_flags = 0

    wanted, unwanted = await found(access(fake)), await found(access(fake, message_content=False))
    fake.application_flags = 1 << 18  # of a bot that Discord has verified
    verified = await found(access(fake))

    assert problems(wanted)["Discord intents"].startswith("Message Content is off in the portal.")
    assert "discord.message_content = false" in problems(wanted)["Discord intents"]
    assert unwanted["Discord intents"].text.startswith("without Message Content: threads need a mention or a command")
    assert (problems(unwanted), problems(verified)) == ({}, {})


async def test_a_bot_in_no_server_is_given_the_link(fake: FakeDiscord) -> None:
    report = await found(access(fake, channels=("381870553235193857",)))

    assert problems(report)["Discord servers"].startswith("The bot is in no server. Invite it: open https://discord.com/oauth2/")
    assert "Discord channels" not in report


async def test_permissions_that_are_missing_in_a_channel_are_named(fake: FakeDiscord) -> None:
    place = fake.guild()
    quiet = place.channel("announcements", denied={place.id: SEND | PUBLIC_THREADS | ATTACH})
    forum = place.forum("help", denied={place.id: THREAD_SEND | SEND})

    wrong = problems(await found(access(fake, channels=(quiet.id, place.general.id), forums=(forum.id,))))
    without_threads = problems(await found(access(fake, channels=(quiet.id,), threads=False)))

    told = "In #{} the bot lacks {}. Allow it to the bot's role in the channel's permissions."
    assert wrong["Discord channels"].split(". In ") == [
        told.format("announcements", "Send Messages, Attach Files, Create Public Threads").removesuffix("."),
        told.format("help", "Send Messages in Threads").removeprefix("In "),
    ]
    assert "lacks Send Messages, Attach Files." in without_threads["Discord channels"]


async def test_a_channel_that_cannot_be_seen_or_is_not_there_is_named(fake: FakeDiscord) -> None:
    place = fake.guild()
    hidden = place.channel("secret", denied={place.id: VIEW})

    for id_ in (hidden.id, "381870553235193857"):
        wrong = problems(await found(access(fake, channels=(id_,))))["Discord channels"]
        assert id_ in wrong or "In #secret the bot lacks View Channel" in wrong


async def test_a_forum_that_is_none_and_a_thread_in_place_of_a_channel_are_named(fake: FakeDiscord) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    thread = await ana.starts_thread("talk", await ana.says("talk"))

    forum = problems(await found(access(fake, forums=(place.general.id,))))
    channel = problems(await found(access(fake, channels=(thread.id,))))

    assert forum["Discord channels"].startswith(f"discord.forums names #general ({place.general.id}), which is no forum.")
    assert channel["Discord channels"] == f"discord.channels names {thread.id}, which is a thread: name the channel that it is in."


async def test_names_in_place_of_ids_are_named(fake: FakeDiscord) -> None:
    fake.guild()

    wrong = problems(await found(access(fake, channels=("#general",), admins=("@ana", "80351110224678912"))))

    assert wrong["Discord channels"].startswith("discord.channels names #general, which is no id. Switch Developer Mode on")
    assert wrong["Discord admins"].startswith("discord.admins names @ana, which is no id.")


async def test_no_token_is_ever_shown(fake: FakeDiscord) -> None:
    for token in ("Bot secret-1.A.B", "secret-1.A.B", '"secret-1', "secret-1"):
        report = await found(access(fake, token=token))
        assert "secret-1" not in " ".join(finding.text for finding in report.values())


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("home")
async def test_the_command_looks_at_discord_from_the_settings(
    fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.guild()
    for name, value in {**fake.variables, "FOOTNOTE_DISCORD__CHANNELS": '["381870553235193857"]'}.items():
        monkeypatch.setenv(name, value)

    failed = await told(chosen("discord")(load()))

    assert failed == {"Discord channels"}
    assert capsys.readouterr().out.splitlines()[0] == "ok     Discord token: @footnote"
