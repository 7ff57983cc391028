"""Who we are, sockets, installing, reactions, views, and what the agent's pane shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.fakes.slack.limits import Refused, check_blocks
from tests.fakes.slack.methods.registry import Call, method
from tests.fakes.slack.state import Status, new_id

if TYPE_CHECKING:
    from tests.fakes.slack.state import JSON

_MOST_PROMPTS, _MOST_LOADING, _LONGEST_STATUS = 4, 10, 150


@method("auth.test")
def auth_test(call: Call) -> JSON:
    workspace = call.workspace
    return {
        "url": f"https://{workspace.name.lower()}.slack.com/",
        "team": workspace.name,
        "team_id": workspace.id,
        "user": workspace.bot.name,
        "user_id": workspace.bot.id,
        "bot_id": workspace.bot.bot_id,
        "is_enterprise_install": False,
    }


@method("auth.revoke")
def revoke(call: Call) -> JSON:
    call.workspace.token_error = "token_revoked"  # noqa: S105 - an error's code
    return {"revoked": True}


@method("apps.connections.open", caller="app")
def open_connection(call: Call) -> JSON:
    if "connections:write" not in call.slack.app.app_token_scopes:
        raise Refused("missing_scope", needed="connections:write", provided=",".join(call.slack.app.app_token_scopes))
    if not call.slack.app.socket_mode:
        raise Refused("socket_mode_not_enabled")
    if len(call.slack.courier.sockets) >= 10:
        raise Refused("too_many_websockets")
    return {"url": call.slack.ticket()}


@method("oauth.v2.access", caller="none")
def access(call: Call) -> JSON:
    app = call.slack.app
    if (call.text("client_id"), call.text("client_secret")) != (app.client_id, app.client_secret):
        raise Refused("invalid_client_id" if call.text("client_id") != app.client_id else "bad_client_secret")
    workspace = call.slack.codes.pop(call.text("code"), None)
    if workspace is None:
        raise Refused("invalid_code")
    workspace.token_error = ""
    return {
        "app_id": app.id,
        "authed_user": {"id": next((user.id for user in workspace.users.values() if user.admin), "U0INSTALLER")},
        "scope": ",".join(sorted(workspace.scopes)),
        "token_type": "bot",
        "access_token": workspace.token,
        "bot_user_id": workspace.bot.id,
        "team": {"id": workspace.id, "name": workspace.name},
        "enterprise": None,
        "is_enterprise_install": False,
    }


# --- reactions ------------------------------------------------------------------------------------------------------


@method("reactions.add", "reactions:write")
def add(call: Call) -> JSON:
    call.required("channel", "timestamp", "name")
    message = call.message(call.channel(), "timestamp")
    users = message.reactions.setdefault(call.text("name"), [])
    if call.workspace.bot.id in users:
        raise Refused("already_reacted")
    users.append(call.workspace.bot.id)
    return {}


@method("reactions.remove", "reactions:write")
def remove(call: Call) -> JSON:
    call.required("channel", "timestamp", "name")
    message = call.message(call.channel(), "timestamp")
    users = message.reactions.get(call.text("name"), [])
    if call.workspace.bot.id not in users:
        raise Refused("no_reaction")
    users.remove(call.workspace.bot.id)
    message.reactions = {name: left for name, left in message.reactions.items() if left}
    return {}


@method("reactions.get", "reactions:read")
def get(call: Call) -> JSON:
    channel = call.channel()
    return {"type": "message", "channel": channel.id, "message": call.message(channel, "timestamp").as_json()}


# --- views ----------------------------------------------------------------------------------------------------------


def _view(call: Call) -> JSON:
    view: Any = call.structure("view")
    if not isinstance(view, dict) or view.get("type") not in ("modal", "home"):
        raise Refused("invalid_arguments")
    check_blocks(view.get("blocks"))
    whole = {"id": new_id("V"), "hash": new_id("h"), "state": {"values": {}}, **view}
    call.workspace.views[whole["id"]] = whole
    call.slack.changed()
    return {"view": whole}


@method("views.open")
def open_view(call: Call) -> JSON:
    call.required("trigger_id", "view")
    call.slack.use_trigger(call.text("trigger_id"))
    return _view(call)


@method("views.update")
def update_view(call: Call) -> JSON:
    if call.workspace.views.pop(call.text("view_id"), None) is None:
        raise Refused("not_found")
    return _view(call)


@method("views.publish")
def publish(call: Call) -> JSON:
    call.required("user_id", "view")
    shown = _view(call)
    call.workspace.homes[call.text("user_id")] = shown["view"]
    return shown


# --- the agent's pane -----------------------------------------------------------------------------------------------


@method("assistant.threads.setStatus", "chat:write", "assistant:write")
def set_status(call: Call) -> JSON:
    call.required("channel_id", "thread_ts")
    channel = call.channel("channel_id")
    root = call.thread(channel)
    loading = call.structure("loading_messages") or []
    if len(loading) > _MOST_LOADING or len(call.text("status")) > _LONGEST_STATUS:
        raise Refused("invalid_arguments")
    if "status" not in call.arguments:
        call.required("status")
    channel.statuses[root] = Status(call.text("status"), call.slack.clock.now(), tuple(loading))
    call.slack.statuses.append((channel.id, root, call.text("status"), call.slack.clock.now()))
    call.slack.changed()
    return {}


@method("assistant.threads.setSuggestedPrompts", "chat:write", "assistant:write")
def set_prompts(call: Call) -> JSON:
    call.required("channel_id", "prompts")
    channel = call.channel("channel_id")
    prompts = call.structure("prompts")
    good = isinstance(prompts, list) and 0 < len(prompts) <= _MOST_PROMPTS
    if channel.kind != "im" or not good or not all(one.get("title") and one.get("message") for one in prompts):
        raise Refused("invalid_arguments")
    channel.prompts = {"title": call.text("title"), "prompts": prompts}
    call.slack.changed()
    return {}


@method("assistant.threads.setTitle", "chat:write", "assistant:write")
def set_title(call: Call) -> JSON:
    call.required("channel_id", "thread_ts", "title")
    channel = call.channel("channel_id")
    if channel.kind != "im":
        raise Refused("invalid_arguments")
    channel.titles[call.thread(channel)] = call.text("title")
    return {}
