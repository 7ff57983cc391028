"""An answer that grows past what Slack lets one stream hold, in length and in time, goes on in a further message (S5)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from bots.slack.streams import LONG, OLD, OLDEST
from tests.fakes.surfaces import ScriptedCore

if TYPE_CHECKING:
    from rag.ports import OnDraft
    from rag.types import Answer, Thread
    from tests.bots.slack.running import Bot
    from tests.fakes.slack import FakeSlack, Said

BUTTONS = "[👍] [👎]"


class Dictated(ScriptedCore):
    """Says what a test dictates, as it dictates it."""

    def __init__(self, bot: Bot) -> None:
        super().__init__(bot.memory)
        self.draft = ""
        self.on_draft: OnDraft | None = None
        self.ended = asyncio.Event()

    async def reply(self, thread: Thread, text: str, on_draft: OnDraft | None = None, **more: Any) -> Answer:
        self.on_draft = on_draft
        await self.ended.wait()
        self.say = lambda _: self.draft
        return await super().reply(thread, text, None, **more)

    def types(self, more: str) -> None:
        assert self.on_draft is not None
        self.draft += more
        self.on_draft(self.draft)


class Writing:
    """One answer on its way. The surface's clock is the fake's."""

    def __init__(self, slack: FakeSlack, bot: Bot) -> None:
        self.slack = slack
        self.core = bot.core = Dictated(bot)
        self.asked: Said

    async def begins(self) -> None:
        self.asked = self.slack.workspace.person("Ana").says("@Footnote how?")
        await self.slack.until(lambda: self.core.on_draft is not None)

    async def types(self, more: str) -> None:
        """Until Slack has it."""
        calls = len(self.slack.calls)
        self.core.types(more)
        await self.slack.until(lambda: any("Stream" in call.method for call in self.slack.calls[calls:]), what="a stream's call")
        await self.slack.settled_calls()

    async def ends(self) -> list[Said]:
        self.core.ended.set()
        await self.slack.until(lambda: any(one.buttons for one in self.asked.replies), what="the buttons")
        await self.slack.settles()
        return self.asked.replies

    @property
    def messages(self) -> list[str]:
        return [one.shown.removesuffix(BUTTONS).rstrip() for one in self.asked.replies]


@pytest.fixture
def writing(slack: FakeSlack, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> Writing:
    monkeypatch.setattr("bots.slack.surface.SHORTEST", 0.0)
    bot.now = slack.clock.now
    return Writing(slack, bot)


def lines(count: int, *, of: str = "Line {n} says what stands in line {n}.\n") -> str:
    return "".join(of.format(n=n) for n in range(count))


async def test_a_long_answer_goes_on_in_a_further_message_at_the_end_of_a_line(bot: Bot, writing: Writing) -> None:
    async with bot.running():
        await writing.begins()
        for _ in range(30):
            await writing.types(lines(10))
        replies = await writing.ends()

    assert len(replies) == 2
    assert LONG < len(writing.messages[0]) < LONG + 500
    assert "\n".join(writing.messages).split() == lines(10).split() * 30
    assert all(message.endswith(".") and message.startswith("Line") for message in writing.messages)
    assert [bool(one.buttons) for one in replies] == [False, True]
    assert "chat.update" not in [call.method for call in writing.slack.calls]
    assert writing.slack.refused == []


async def test_a_long_answer_without_lines_is_cut_between_sentences(bot: Bot, writing: Writing) -> None:
    async with bot.running():
        await writing.begins()
        for n in range(30):
            await writing.types("".join(f"Sentence {n} says what it says about the {n}th thing. " for _ in range(10)))
        await writing.ends()

    assert len(writing.messages) == 2
    assert writing.messages[0].endswith("thing.")
    assert " ".join(writing.messages).split() == writing.core.draft.split()
    assert writing.slack.refused == []


async def test_a_block_of_code_that_is_longer_than_a_message_is_closed_and_opened_again(bot: Bot, writing: Writing) -> None:
    async with bot.running():
        await writing.begins()
        await writing.types("Run this:\n\n```python\n")
        for _ in range(30):
            await writing.types(lines(10, of="    call_{n}(argument_{n}, another_{n})\n"))
        await writing.types("```\n\nThat is all.\n")
        await writing.ends()

    whole = [one.message.blocks[0]["text"] for one in writing.asked.replies]
    assert len(whole) == 2
    assert whole[0].startswith("Run this:\n\n```python\n")
    assert whole[0].endswith(")\n```")
    assert whole[1].startswith("```python\n    call_")
    assert whole[1].rstrip().endswith("```\n\nThat is all.")
    assert "".join(whole).count("call_7(") == 30
    assert writing.slack.refused == []


async def test_a_slow_answer_goes_on_in_a_further_message_before_slack_ends_the_stream(bot: Bot, writing: Writing) -> None:
    async with bot.running():
        await writing.begins()
        for minute in range(12):
            await writing.types(f"Minute {minute} has passed.\nNext ")
            writing.slack.clock.advance(60)
        replies = await writing.ends()

    assert len(replies) == 3
    assert " ".join(writing.messages).split() == writing.core.draft.split()
    assert all(message.startswith(("Minute", "Next Minute")) for message in writing.messages)
    assert OLD < 60 * 4 < OLDEST
    assert writing.slack.refused == []


async def test_a_line_that_takes_longer_than_a_stream_lasts_is_cut_at_a_word(bot: Bot, writing: Writing) -> None:
    async with bot.running():
        await writing.begins()
        for _ in range(8):
            await writing.types("one more word ")
            writing.slack.clock.advance(55)
        replies = await writing.ends()

    assert len(replies) == 2
    assert " ".join(writing.messages).split() == writing.core.draft.split()
    assert writing.slack.refused == []


async def test_a_model_that_pauses_until_slack_has_ended_the_stream_loses_none_of_its_words(bot: Bot, writing: Writing) -> None:
    async with bot.running():
        await writing.begins()
        await writing.types("The first half, ")
        writing.slack.clock.advance(301)
        writing.core.types("and the second one.")
        await asyncio.sleep(0.1)
        replies = await writing.ends()

    assert [one.shown for one in replies] == [f"The first half, and the second one.\n{BUTTONS}"]
    assert writing.core.asked == ["how?"]


async def test_a_turn_that_slack_does_not_take_is_mended_in_the_end(bot: Bot, writing: Writing) -> None:
    async with bot.running():
        await writing.begins()
        for _ in range(16):
            await writing.types(lines(10))
        writing.slack.fails("chat.stopStream", 1, "ratelimited", retry_after=1)
        for _ in range(14):
            writing.core.types(lines(10))
            await asyncio.sleep(0.02)
        await writing.ends()

    assert "\n".join(writing.messages).split() == lines(10).split() * 30
    assert all(one.finished for one in writing.asked.replies)
