"""The fake Discord against the real discord.py: what a bot relies on holds here too."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import discord
import pytest
import yarl
from discord import app_commands

from tests.fakes.discord import FakeDiscord
from tests.fakes.discord.faults import Fault

INTENTS = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)


class Echo(discord.Client):
    """A small bot: /ask, a context menu, a button that survives, and an echo of what mentions it."""

    def __init__(self, intents: discord.Intents = INTENTS) -> None:
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none())
        self._connection.guild_ready_timeout = 0.05
        self.tree = app_commands.CommandTree(self)
        self.heard: list[tuple[str, str]] = []
        self.slow = 0.0

    async def setup_hook(self) -> None:
        self.add_dynamic_items(Vote)

        @self.tree.command(name="ask", description="Ask")
        async def ask(interaction: discord.Interaction, question: str) -> None:
            await interaction.response.defer(thinking=True)
            await interaction.edit_original_response(content=f"Looking at {question}")
            view = discord.ui.View(timeout=None)
            view.add_item(Vote(7))
            message = await interaction.edit_original_response(content=f"The answer to {question}", view=view)
            if message.channel.type is discord.ChannelType.text:
                await message.create_thread(name=question)

        @ask.autocomplete("question")
        async def suggest(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:  # noqa: ARG001
            return [app_commands.Choice(name=f"{typed}?", value=typed)]

        @self.tree.context_menu(name="Ask about this")
        async def about(interaction: discord.Interaction, message: discord.Message) -> None:
            await interaction.response.send_message(f"You mean {message.content}", ephemeral=True)

        await self.tree.sync()

    async def on_message(self, message: discord.Message) -> None:
        if message.author == self.user:
            return
        self.heard.append((message.author.display_name, message.content))
        if self.user in message.mentions:
            await message.reply(f"You said: {message.clean_content}")


class Vote(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"vote:(?P<id>\d+)"):
    def __init__(self, id: int) -> None:  # noqa: A002 - the word for it
        super().__init__(discord.ui.Button(label="Good", custom_id=f"vote:{id}"))
        self.answer = id

    @classmethod
    async def from_custom_id(cls, interaction: discord.Interaction, item: Any, match: Any, /) -> "Vote":  # noqa: ARG003
        return cls(int(match["id"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"Thanks for {self.answer}", ephemeral=True)


@asynccontextmanager
async def running(fake: FakeDiscord, client: discord.Client) -> AsyncIterator[None]:
    task = asyncio.create_task(client.start(fake.token))
    try:
        ready = asyncio.create_task(client.wait_until_ready())
        await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            ready.cancel()
            task.result()
        yield
    finally:
        await client.close()
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as fake:
        monkeypatch.setattr(discord.http.Route, "BASE", fake.api_url)
        monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(fake.gateway_url))
        yield fake
        assert fake.offences == []


async def test_a_command_is_answered_in_place_and_a_thread_goes_on(fake: FakeDiscord) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with running(fake, Echo()):
        used = await ana.slash("ask", question="why")
        answer = await used.answered(holding="The answer to why")
        await fake.until(lambda: answer.thread is not None)
        assert answer.thread is not None
        said = await ana.says("@Footnote and then?", channel=answer.thread)
        echoed = await said.answered()

    assert answer.message.versions == ["", "Looking at why", "The answer to why"]
    assert echoed.text.startswith("You said:")
    assert echoed.message.reference is not None
    assert "Footnote: The answer to why\n    (Good)" in fake.transcript(place.general)


async def test_buttons_menus_and_autocompletion_reach_the_bot(fake: FakeDiscord) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with running(fake, Echo()):
        answer = await (await ana.slash("ask", question="why")).answered(holding="The answer")
        await fake.until(lambda: bool(answer.buttons))
        vote = await ana.clicks(answer, "Good")
        thanks = await vote.answered()
        assert await (await ana.autocompletes("ask", "question", "ho")).choices() == ["ho?"]
        said = await ana.says("something")
        meant = await (await ana.uses_menu("Ask about this", said)).answered()

    assert (thanks.text, vote.private) == ("Thanks for 7", True)
    assert meant.text == "You mean something"


async def test_who_is_late_is_told_that_the_interaction_is_unknown(fake: FakeDiscord) -> None:
    place = fake.guild()
    client = Echo()
    caught: list[int] = []

    async def on_error(interaction: discord.Interaction, error: app_commands.AppCommandError) -> None:  # noqa: ARG001
        original: Any = getattr(error, "original", None)
        caught.append(original.code)

    client.tree.error(on_error)
    async with running(fake, client):
        used = await place.person("Ana").slash("ask", question="why")
        used.interaction.began -= 3.5
        await fake.until(lambda: bool(caught))

    assert caught == [10062]


async def test_a_message_over_the_limit_and_an_empty_one_are_refused(fake: FakeDiscord) -> None:
    place = fake.guild()
    client = Echo()
    async with running(fake, client):
        channel = client.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        await channel.send("字" * 2000)
        with pytest.raises(discord.HTTPException, match="50035"):
            await channel.send("x" * 2001)
        with pytest.raises(discord.HTTPException, match="50006"):
            await channel.send("")


async def test_a_locked_thread_a_second_thread_and_a_deleted_question_are_refused(fake: FakeDiscord) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    client = Echo()
    async with running(fake, client):
        said = await ana.says("hello")
        channel = client.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        message = await channel.fetch_message(int(said.id))
        thread = await message.create_thread(name="talk")
        with pytest.raises(discord.HTTPException, match="160004"):
            await message.create_thread(name="again")
        await place.lock(fake.channels[str(thread.id)])
        with pytest.raises(discord.Forbidden, match="160005"):
            await thread.send("hi")
        other = await ana.says("gone soon")
        gone = await channel.fetch_message(int(other.id))
        await ana.deletes(other)
        with pytest.raises(discord.HTTPException, match="50035"):
            await gone.reply("late")
        await channel.send("late", reference=gone.to_reference(fail_if_not_exists=False))


async def test_a_forum_post_takes_no_answer_before_its_first_message(fake: FakeDiscord) -> None:
    place = fake.guild()
    forum = place.forum("help")
    client = Echo()
    async with running(fake, client):
        thread, _ = await place.person("Ana").posts(forum, "How?", "", pause=True)
        await fake.until(lambda: client.get_channel(int(thread.id)) is not None)
        early = client.get_channel(int(thread.id))
        assert isinstance(early, discord.Thread)
        with pytest.raises(discord.Forbidden, match="40058"):
            await early.send("too early")


async def test_a_cut_connection_is_resumed_and_missed_events_come_once(fake: FakeDiscord) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    client = Echo()
    async with running(fake, client):
        await fake.gateway.close(4000)
        await ana.says("while away")
        await fake.until(lambda: fake.gateway.resumed == 1)
        await ana.says("back")
        await fake.until(lambda: len(client.heard) == 2)

    assert [text for _, text in client.heard] == ["while away", "back"]
    assert fake.gateway.identified == 1


async def test_a_resume_can_replay_what_was_seen(fake: FakeDiscord) -> None:
    place = fake.guild()
    client = Echo()
    fake.faults.replayed = 1
    async with running(fake, client):
        await place.person("Ana").says("once")
        await fake.until(lambda: len(client.heard) == 1)
        await fake.gateway.close(4000)
        await fake.until(lambda: len(client.heard) == 2)


async def test_without_the_intent_only_what_is_meant_for_the_bot_can_be_read(fake: FakeDiscord) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    client = Echo(discord.Intents(guilds=True, guild_messages=True, dm_messages=True))
    async with running(fake, client):
        await ana.says("not for you")
        await ana.says("@Footnote for you")
        await ana.writes("directly")
        await fake.until(lambda: len(client.heard) == 3)

    assert [text for _, text in client.heard] == ["", f"<@{fake.bot.id}> for you", "directly"]


async def test_an_intent_that_is_not_switched_on_ends_the_login(fake: FakeDiscord) -> None:
    fake.guild()
    fake.gateway.disallowed |= 1 << 15
    with pytest.raises(discord.PrivilegedIntentsRequired):
        async with running(fake, Echo()):
            pass


@pytest.mark.usefixtures("fake")
async def test_a_wrong_token_is_refused() -> None:
    client = Echo()
    with pytest.raises(discord.LoginFailure):
        await client.start("wrong")
    await client.close()


async def test_too_many_requests_are_told_to_wait_and_counted(fake: FakeDiscord) -> None:
    place = fake.guild()
    fake.buckets.each = {"create": (2, 0.2)}
    client = Echo()
    async with running(fake, client):
        channel = client.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        for number in range(5):
            await channel.send(str(number))
        assert fake.too_fast == []
        fake.faults.planned.append(Fault("create", retry_after=0.05))
        await channel.send("after a 429")

    assert [one.content for one in place.general.messages] == ["0", "1", "2", "3", "4", "after a 429"]


async def test_an_answer_that_got_lost_is_not_posted_twice_with_its_nonce(fake: FakeDiscord) -> None:
    place = fake.guild()
    client = Echo()
    async with running(fake, client):
        channel = client.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        fake.faults.planned.append(Fault("create", status=500, performed=True))
        await channel.send("once", nonce="question-1")

    assert [one.content for one in place.general.messages] == ["once"]


async def test_a_link_without_brackets_would_unfurl(fake: FakeDiscord) -> None:
    place = fake.guild()
    client = Echo()
    async with running(fake, client):
        channel = client.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        await channel.send("[a](<https://example.com>) `https://b.example` <https://c.example>")
        assert fake.previews == []
        await channel.send("https://example.com")

    assert fake.previews == ["https://example.com"]
