"""What Footnote's app at Slack consists of: scopes, events, commands. The manifest files in docs/ are made from it (S11)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

Variant: TypeAlias = Literal["socket", "http", "mentions"]
Json: TypeAlias = dict[str, Any]  # a file of Slack's own form

ASK_COMMAND = "/ask"
ADMIN_COMMAND = "/footnote"
ASK_SHORTCUT = "ask_about_message"

# Scope -> what does not work without it.
NEEDED_SCOPES = {
    "app_mentions:read": "questions by @mention",
    "chat:write": "answers",
    "commands": f"{ASK_COMMAND} and {ADMIN_COMMAND}",
    "im:history": "questions in direct messages",
    "users:read": "names of people, and who is an admin or a guest",
    "channels:read": "telling channels shared with other companies from your own",
    "groups:read": "the same for private channels",
}
OPTIONAL_SCOPES = {
    "assistant:write": "suggested prompts in the messages tab",
    "im:read": "what kind of talk a direct message is",
    "mpim:read": "what kind of talk a group message is",
    "files:read": "reading text files attached to a question",
    "reactions:read": "reactions on answers as feedback",
}
# Without these the app sees only what is addressed to it.
THREAD_SCOPES = {
    "channels:history": "follow-ups without a mention, and threads it is called into, in public channels",
    "groups:history": "the same in private channels",
    "mpim:history": "the same in group messages",
}

EVENTS = ("app_home_opened", "app_mention", "message.im", "reaction_added", "reaction_removed")
THREAD_EVENTS = ("message.channels", "message.groups", "message.mpim")
REMOVAL_EVENTS = ("app_uninstalled", "tokens_revoked")

_HOST = "https://footnote.example.com"


def scopes(*, threads: bool = True) -> tuple[str, ...]:
    return tuple(sorted({**NEEDED_SCOPES, **OPTIONAL_SCOPES, **(THREAD_SCOPES if threads else {})}))


def events(*, threads: bool = True) -> tuple[str, ...]:
    return tuple(sorted((*EVENTS, *(THREAD_EVENTS if threads else ()), *REMOVAL_EVENTS)))


def manifest(variant: Variant) -> Json:
    """`socket` needs no public address; `http` does; `mentions` reads nothing but what is addressed to it, over a socket."""
    threads, http = variant != "mentions", variant == "http"
    request = {"request_url": f"{_HOST}/slack/events"} if http else {}
    return {
        "_metadata": {"major_version": 2, "minor_version": 1},
        "display_information": {
            "name": "Footnote",
            "description": "Answers questions from your team's own documents, with footnotes.",
            "long_description": _LONG,
            "background_color": "#1f2937",
        },
        "features": _features(http=http),
        "oauth_config": {
            **({"redirect_urls": [f"{_HOST}/slack/oauth_redirect"]} if http else {}),
            "scopes": {"bot": list(scopes(threads=threads))},
        },
        "settings": {
            "event_subscriptions": {**request, "bot_events": list(events(threads=threads))},
            "interactivity": {"is_enabled": True, **request},
            "org_deploy_enabled": False,
            "socket_mode_enabled": not http,
            "token_rotation_enabled": False,
        },
    }


_LONG = (
    "Ask in a channel, in a thread or in a direct message. Every answer is written from your team's documents alone, and every "
    "statement carries a footnote that leads to the very page or section. Where the documents don't say, Footnote says so. "
    "It runs on your own machine; nobody else sees your documents or your questions."
)


def _features(*, http: bool) -> Json:
    url = {"url": f"{_HOST}/slack/events"} if http else {}
    return {
        "app_home": {"home_tab_enabled": False, "messages_tab_enabled": True, "messages_tab_read_only_enabled": False},
        "bot_user": {"display_name": "Footnote", "always_online": True},
        "agent_view": {
            "agent_description": "Ask me anything about your team's documents.",
            "suggested_prompts": [{"title": "What can you do?", "message": "What can you help me with?"}],
        },
        "slash_commands": [
            {
                "command": ASK_COMMAND,
                "description": "Ask the documents; only you see the answer",
                "usage_hint": "how do I …?",
                "should_escape": True,
                **url,
            },
            {
                "command": ADMIN_COMMAND,
                "description": "For admins: look after the documents",
                "usage_hint": "reindex | status | sources | forget",
                "should_escape": True,
                **url,
            },
        ],
        "shortcuts": [
            {
                "name": "Ask the docs about this",
                "type": "message",
                "callback_id": ASK_SHORTCUT,
                "description": "Answers the message you choose",
            }
        ],
    }


def file_name(variant: Variant) -> str:
    return "slack-manifest.json" if variant == "socket" else f"slack-manifest-{variant}.json"


def as_text(variant: Variant) -> str:
    return json.dumps(manifest(variant), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":  # python -m bots.slack.manifest docs
    for each in get_args(Variant):
        (Path(sys.argv[1]) / file_name(each)).write_text(as_text(each), encoding="utf-8")
