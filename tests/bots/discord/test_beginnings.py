"""A process that begins while Discord fails, or has not told yet what may be done: nothing is given up over that (P3, D9, D11)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import discord
import pytest
import yarl

from bots.discord import beginning
from bots.discord.checks import Access, checks
from bots.discord.places import ReplyTo
from bots.discord.surface import DiscordSurface
from rag.checking import findings
from rag.errors import BadSetting, PostLater
from rag.types import Place, Question, Thread
from tests.fakes.discord.faults import Fault
from tests.fakes.discord.state import VIEW
from tests.fakes.gate import gates

if TYPE_CHECKING:
    from tests.bots.discord.conftest import Bot
    from tests.fakes.discord import FakeDiscord

CHANNEL: Any = {
    "id": "2",
    "type": 0,
    "name": "general",
    "position": 0,
    "permission_overwrites": [],
    "nsfw": False,
    "parent_id": None,
}


async def test_a_server_that_is_not_told_of_yet_is_waited_for() -> None:
    client = discord.Client(intents=discord.Intents(guilds=True))
    state: Any = client._connection
    state.user = discord.Object(9)
    guild = state._get_or_create_unavailable_guild(1)
    state._add_guild(guild)
    guild._add_channel(discord.TextChannel(state=state, guild=guild, data=CHANNEL))
    question = Question("1", Thread(Place("discord", "1", "2"), "2"), "how?", reply_to=ReplyTo(2).stored())

    with pytest.raises(PostLater, match="has not told yet"):
        await DiscordSurface(client).reach(question)


async def test_channels_of_the_settings_that_the_bot_cannot_see_are_told_once(
    fake: FakeDiscord, bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    place = fake.guild()
    hidden, forum = place.channel("secret", denied={place.id: VIEW}), place.forum("help")
    bot.named = {"discord.channels": (place.general.id, hidden.id, "381870553235193857"), "discord.forums": (forum.id,)}
    async with bot.running():
        await (await place.person("Ana").says("@Footnote how?")).answered(holding="About how?")

    told = [record.getMessage() for record in caplog.records if "leads to no channel" in record.getMessage()]
    assert [one.partition(",")[0] for one in told] == [
        f"discord.channels names {hidden.id}",
        "discord.channels names 381870553235193857",
    ]


# --- while Discord fails --------------------------------------------------------------------------------------------

KINDS = ("gateway", "me", "application", "commands")
OUTAGES = [("gateway", 500), *((kind, 503) for kind in KINDS)]  # the library itself tries again after a 500, for half a minute


@pytest.mark.parametrize("outage", OUTAGES)
async def test_a_discord_that_fails_at_the_start_is_waited_for(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, outage: tuple[str, int]
) -> None:
    kind, status = outage
    monkeypatch.setattr(beginning, "PAUSE", 0.01)
    fake.faults.planned.append(Fault(kind, times=3, status=status))
    place = fake.guild()
    async with bot.running():
        await (await place.person("Ana").says("@Footnote how?")).answered(holding="About how?")

    told = [record.getMessage() for record in caplog.records if record.name == beginning.__name__]
    assert told == [f"Discord fails just now, with status {status}. See https://discordstatus.com. It is tried again."] * 3


async def test_a_discord_that_asks_to_wait_at_the_start_is_waited_for(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginning, "PAUSE", 0.01)
    fake.faults.planned.append(Fault("gateway", times=2, retry_after=0.01))
    fake.guild()
    async with bot.running():
        assert fake.faults.planned[0].times == 0


async def test_a_discord_that_cannot_be_reached_at_the_start_is_waited_for_with_growing_pauses(
    fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    address = yarl.URL(fake.api_url)
    pauses: list[float] = []
    assert address.port is not None
    async with gates(address.port) as [gate], discord.Client(intents=discord.Intents.none()) as client:
        monkeypatch.setattr(discord.http.Route, "BASE", str(address.with_port(gate.port)))
        await gate.shut()

        async def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 6:
                await gate.open()

        monkeypatch.setattr("bots.discord.beginning.asyncio", SimpleNamespace(sleep=pause))
        await beginning.begin(client, fake.token)

        assert client.user is not None
    assert pauses == [2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    told = "Discord cannot be reached (ClientConnectorError). Is the network there, and a proxy set where one is needed?"
    assert [one.getMessage() for one in caplog.records if one.name == beginning.__name__] == [f"{told} It is tried again."] * 6


async def test_a_way_to_discord_that_is_not_secure_is_told_at_once(fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch) -> None:
    async with discord.Client(intents=discord.Intents.none()) as client:
        monkeypatch.setattr(discord.http.Route, "BASE", fake.api_url.replace("http:", "https:"))

        with pytest.raises(BadSetting, match=r"^Discord cannot be reached \(ClientConnectorSSLError\)\."):
            await beginning.begin(client, fake.token)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault("gateway", times=99, status=500), "Discord fails just now, with status 500."),
        (Fault("gateway", times=99, retry_after=0.01), "Discord asks to wait (status 429)"),
        (Fault("me", times=99, status=503), "Discord fails just now, with status 503."),
        (Fault("gateway", times=99, code=0, status=401), "Discord refuses DISCORD_TOKEN."),
        (Fault("me", times=99, code=50001, status=403), "Discord refuses /api/v10/users/@me (403, code 50001"),
        (Fault("application", times=99, code=50001, status=403), "Discord refuses /api/v10/oauth2/applications/@me (403"),
        (Fault("commands", times=99, code=50001, status=403), "Discord refuses /api/v10/applications/"),
    ],
)
async def test_what_keeps_it_from_beginning_is_told_as_what_it_is(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch, fault: Fault, told: str
) -> None:
    monkeypatch.setattr(beginning, "PATIENCE", 0.1)
    fake.guild()
    fake.faults.planned.append(fault)
    with pytest.raises(BadSetting) as error:
        async with bot.running():
            pass
    [doctor, *_] = [each.text async for each in findings(checks(Access(fake.token, fake.api_url)))]

    assert str(error.value).startswith(told)
    assert fault.name == "commands" or doctor.startswith(told)  # of which the doctor tells nobody
