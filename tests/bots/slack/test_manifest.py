"""The manifest files ask for what the listeners need, no more, and the fake Slack grants by them (S11)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from bots.slack.manifest import (
    NEEDED_SCOPES,
    OPTIONAL_SCOPES,
    THREAD_SCOPES,
    Variant,
    as_text,
    events,
    file_name,
    manifest,
)
from tests.fakes.slack.methods import METHODS

ROOT = Path(__file__).parents[3]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
# The scope that Slack wants for an event to be sent.
SCOPE_OF_EVENT = {
    "app_mention": "app_mentions:read",
    "message.im": "im:history",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.mpim": "mpim:history",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_manifest_file_is_up_to_date(variant: Variant) -> None:
    written = (ROOT / "docs" / file_name(variant)).read_text(encoding="utf-8")

    assert written == as_text(variant), "Run: .venv/bin/python -m bots.slack.manifest docs"


def test_the_documentation_names_the_scopes_that_are_asked_for() -> None:
    section = (ROOT / "docs" / "slack.md").read_text(encoding="utf-8").partition("## Which scopes")[2].partition("\n## ")[0]

    assert set(re.findall(r"`([a-z_]+:[a-z]+|commands)`", section)) == {
        *manifest("socket")["oauth_config"]["scopes"]["bot"],
        "connections:write",
    }


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_event_comes_with_the_scope_it_needs(variant: Variant) -> None:
    scopes = manifest(variant)["oauth_config"]["scopes"]["bot"]

    for event in manifest(variant)["settings"]["event_subscriptions"]["bot_events"]:
        assert SCOPE_OF_EVENT.get(event, scopes[0]) in scopes, event


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_manifest_stays_within_what_slack_takes(variant: Variant) -> None:
    whole = manifest(variant)
    about = whole["display_information"]

    assert len(about["name"]) <= 35
    assert len(about["description"]) <= 140
    assert 175 <= len(about["long_description"]) <= 4000
    assert re.fullmatch(r"#[0-9a-f]{6}", about["background_color"])
    assert all(len(one["name"]) <= 24 and len(one["description"]) <= 150 for one in whole["features"]["shortcuts"])
    assert all(re.fullmatch(r"/[a-z]{1,31}", one["command"]) for one in whole["features"]["slash_commands"])


def test_the_variants_differ_in_what_they_are_for() -> None:
    socket, http, mentions = (manifest(variant) for variant in VARIANTS)

    assert [one["settings"]["socket_mode_enabled"] for one in (socket, http, mentions)] == [True, False, True]
    assert "request_url" not in json.dumps(socket)
    assert json.dumps(http).count("https://footnote.example.com/slack/events") == 4
    read = {event for event in mentions["settings"]["event_subscriptions"]["bot_events"] if event.startswith("message")}
    assert read == {"message.im"}
    assert not THREAD_SCOPES.keys() & set(mentions["oauth_config"]["scopes"]["bot"])


def calls() -> set[str]:
    """Methods of Slack's API that our adapter calls."""
    known = {name.replace(".", "_"): name for name in METHODS}
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "bots" / "slack").glob("*.py"))
    return {known[found] for found in re.findall(r"\.([a-z]+(?:_[a-zA-Z]+)+)\(", text) if found in known}


@pytest.mark.parametrize("name", sorted(calls()))
def test_every_method_that_is_called_has_a_scope_that_is_asked_for(name: str) -> None:
    asked: dict[str, Any] = NEEDED_SCOPES | OPTIONAL_SCOPES | THREAD_SCOPES
    method = METHODS[name]

    assert not method.scopes or asked.keys() & set(method.scopes)


def listened() -> set[str]:
    """Events that we make something of."""
    text = (ROOT / "bots" / "slack" / "events.py").read_text(encoding="utf-8")
    cases = re.findall(r"(?m)^ +case ((?:\"[a-z_]+\"(?: \| )?)+)", text)
    return {name for case in cases for name in re.findall(r"[a-z_]+", case)}


def test_what_is_listened_to_is_subscribed_and_the_other_way_round() -> None:
    older = {"assistant_thread_started"}  # of apps made for the older kind of assistants
    subscribed = {event.partition(".")[0] for event in events()}

    assert listened() - older == subscribed
