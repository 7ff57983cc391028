"""One decision for everything that can be done, and the limits of asking."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bots.access import Asker, AskingLimits, Kind, LimitSettings, Rules, authorize, refused
from bots.cli.serving import discord_rules
from config.platforms import Discord
from config.settings import Settings
from rag.types import Place, Question, Tally, Thread

CHANNEL = Place("slack", "T1", "C1")
DIRECT = Place("slack", "T1", "D1", direct=True)
ANN = Asker("U1", CHANNEL)
KINDS = ("question", "command", "button", "suggestion")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rules", [Rules(), Rules(admins=frozenset({"U1"}), outsiders=True, guests=True)])
def test_a_bot_may_do_nothing_whatever_is_allowed(kind: Kind, rules: Rules) -> None:
    assert authorize(rules, replace(ANN, bot=True, admin=True), kind) == "bot"
    assert authorize(rules, replace(ANN, person=""), kind) == "bot"
    assert refused("bot", "hello") == ""


@pytest.mark.parametrize("kind", KINDS)
def test_outsiders_and_guests_may_do_nothing_unless_they_are_allowed(kind: Kind) -> None:
    assert authorize(Rules(), replace(ANN, outsider=True, admin=True), kind) == "outsider"
    assert authorize(Rules(), replace(ANN, guest=True, admin=True), kind) == "guest"
    allowed = Rules(outsiders=True, guests=True)
    assert authorize(allowed, replace(ANN, outsider=True, guest=True, admin=True), kind) is None


def test_commands_are_for_admins_of_the_workspace_or_of_the_settings() -> None:
    assert authorize(Rules(), ANN, "command") == "not an admin"
    assert authorize(Rules(), replace(ANN, admin=True), "command") is None
    assert authorize(Rules(admins=frozenset({"U1"})), ANN, "command") is None
    assert authorize(Rules(admins=frozenset({"U2"})), ANN, "command") == "not an admin"


@pytest.mark.parametrize("kind", ["question", "button", "suggestion"])
def test_named_channels_are_the_only_ones_and_direct_messages_are_left_alone(kind: Kind) -> None:
    rules = Rules(channels=frozenset({"C2"}))
    assert authorize(rules, ANN, kind) == "channel"
    assert authorize(rules, replace(ANN, place=replace(CHANNEL, channel="C2")), kind) is None
    assert authorize(rules, replace(ANN, parent="C2"), kind) is None
    assert authorize(rules, replace(ANN, place=DIRECT), kind) is None


@pytest.mark.parametrize("kind", ["question", "button", "suggestion"])
def test_where_direct_messages_are_off_nothing_may_be_done_in_them(kind: Kind) -> None:
    rules = Rules(direct=False)
    assert authorize(rules, replace(ANN, place=DIRECT), kind) == "channel"
    assert authorize(rules, ANN, kind) is None


def test_direct_messages_in_discord_are_off_until_the_settings_say_otherwise() -> None:
    talk = Asker("U1", Place("discord", channel="D1", direct=True))
    off, on = Settings(), Settings(discord=Discord(direct=True))
    assert [authorize(discord_rules(each), talk, "question") for each in (off, on)] == ["channel", None]


def test_a_refusal_is_in_the_language_of_what_was_said() -> None:
    assert refused("not an admin", "") == "Only admins may do this."
    assert refused("outsider", "Wie viele Tage Urlaub habe ich im Jahr?").startswith("Ich antworte nur")


ASKED = Question("", Thread(CHANNEL, "1"), "How many days of leave are there?", person="U1")
LIMITS = LimitSettings(question_characters=100, person_per_minute=3, place_per_minute=10, thread_answers=5, answers_per_day=50)


@pytest.mark.parametrize(
    ("tally", "notice"),
    [
        (Tally(2, 9, 4, 49), ""),
        (Tally(person=3), "You have asked a lot"),
        (Tally(place=10), "A lot is being asked here"),
        (Tally(thread=5), "This thread has become long"),
        (Tally(today=50), "I have answered as much as I may today"),
    ],
)
def test_each_limit_has_a_friendly_notice(tally: Tally, notice: str) -> None:
    said = AskingLimits(LIMITS).of(ASKED)(tally)
    assert said.startswith(notice)
    assert bool(said) is bool(notice)


def test_a_question_that_is_too_long_is_told_how_long_it_may_be() -> None:
    said = AskingLimits(LIMITS).of(replace(ASKED, text="x" * 101))(Tally())
    assert said == "That question is too long for me: please ask it in at most 100 characters."


def test_zero_is_no_limit() -> None:
    none = LimitSettings(100, 0, 0, 0, 0)
    assert AskingLimits(none).of(ASKED)(Tally(10**6, 10**6, 10**6, 10**6)) == ""
