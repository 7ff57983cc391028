"""Interactions: the first word within three seconds, the rest within fifteen minutes, by a token of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fakes.discord import limits
from tests.fakes.discord.messages import fill
from tests.fakes.discord.problems import Refused, as_json
from tests.fakes.discord.state import COMMAND, EPHEMERAL, LOADING, Interaction, Message, snowflake

if TYPE_CHECKING:
    from aiohttp import web

    from tests.fakes.discord.routes import Sent
    from tests.fakes.discord.server import FakeDiscord
    from tests.fakes.discord.state import JSON

PONG, ANSWER, THINK, THINK_UPDATE, UPDATE, CHOICES, MODAL = 1, 4, 5, 6, 7, 8, 9
AUTOCOMPLETE = 4  # the kind of an interaction


async def callback(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:
    interaction = discord.interactions.get(request.match_info["token"])
    now = discord.clock.now()
    if interaction is None or now - interaction.began > limits.ACKNOWLEDGE_SECONDS:
        raise Refused(10062)
    if interaction.acknowledged is not None:
        raise Refused(40060)
    kind, data = sent.body["type"], sent.body.get("data") or {}
    if (kind == CHOICES) != (interaction.kind == AUTOCOMPLETE):
        raise Refused(50035)
    if kind == CHOICES:
        limits.check_choices(data.get("choices") or [])
        interaction.choices = data.get("choices") or []
    if kind == ANSWER:
        await _say(discord, interaction, data, sent)
    elif kind == THINK:
        interaction.deferred = True
        interaction.ephemeral = bool((data.get("flags") or 0) & EPHEMERAL)
        interaction.response = _message(discord, interaction, LOADING | (data.get("flags") or 0))
        await discord.post(interaction.response)
    elif kind == UPDATE and interaction.source is not None:
        limits.check_message(data, sent.contents)
        await discord.change(interaction.source, data, sent)
    elif kind == MODAL:
        interaction.modal = data
    interaction.acknowledged = now
    resource = {"type": kind, "message": interaction.response.as_json()} if interaction.response else {"type": kind}
    body = {"interaction": {"id": interaction.id, "type": interaction.kind, **_responded(interaction)}, "resource": resource}
    return as_json(body) if request.query.get("with_response") else as_json(None, status=204)


def _responded(interaction: Interaction) -> JSON:
    if interaction.response is None:
        return {}
    return {
        "response_message_id": interaction.response.id,
        "response_message_loading": interaction.deferred,
        "response_message_ephemeral": interaction.ephemeral,
    }


async def _say(discord: FakeDiscord, interaction: Interaction, data: JSON, sent: Sent) -> None:
    if limits.is_empty(data, sent.contents):
        raise Refused(50006)
    limits.check_message(data, sent.contents)
    interaction.ephemeral = bool((data.get("flags") or 0) & EPHEMERAL)
    message = _message(discord, interaction, data.get("flags") or 0)
    fill(discord, message, data, sent)
    interaction.response = message
    await discord.post(message)


def _message(discord: FakeDiscord, interaction: Interaction, flags: int) -> Message:
    message = Message(snowflake(discord.clock.now()), interaction.channel, discord.bot, type=COMMAND, flags=flags)
    message.application = discord.bot.id
    message.interaction = {
        "id": interaction.id,
        "type": interaction.kind,
        "user": interaction.user.as_json(),
        "name": interaction.name,
    }
    message.interaction["authorizing_integration_owners"] = {"0": interaction.channel.guild or "0"}
    message.seen_by = interaction.user.id if flags & EPHEMERAL else ""
    return message


def _interaction(discord: FakeDiscord, request: web.Request) -> Interaction:
    """The one that the token is of, while it lives. Raises Refused."""
    interaction = discord.interactions.get(request.match_info["token"])
    if interaction is None or request.match_info["webhook"] != discord.bot.id:
        raise Refused(10015)
    if discord.clock.now() - interaction.began > limits.TOKEN_SECONDS:
        raise Refused(50027)
    if interaction.acknowledged is None:
        raise Refused(10015)
    return interaction


def _original(discord: FakeDiscord, request: web.Request) -> tuple[Interaction, Message]:
    interaction = _interaction(discord, request)
    message = interaction.response or interaction.source
    if message is None or message.deleted:
        raise Refused(10008)
    return interaction, message


async def get_original(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    return as_json(_original(discord, request)[1].as_json())


async def edit_original(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:
    interaction, message = _original(discord, request)
    await _fill_original(discord, interaction, message, sent)
    return as_json(message.as_json())


async def _fill_original(discord: FakeDiscord, interaction: Interaction, message: Message, sent: Sent) -> None:
    if interaction.deferred and limits.is_empty(sent.body, sent.contents):
        raise Refused(50006)
    limits.check_message(sent.body, sent.contents)
    interaction.deferred = False
    message.flags &= ~LOADING
    await discord.change(message, sent.body, sent)


async def delete_original(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    await discord.remove(_original(discord, request)[1])
    return as_json(None, status=204)


async def follow_up(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:
    """The first one after "thinking" takes its place, as Discord (still) does."""
    interaction = _interaction(discord, request)
    if limits.is_empty(sent.body, sent.contents):
        raise Refused(50006)
    limits.check_message(sent.body, sent.contents)
    if interaction.deferred and interaction.response is not None:
        await _fill_original(discord, interaction, interaction.response, sent)
        return as_json(interaction.response.as_json())
    message = _message(discord, interaction, sent.body.get("flags") or 0)
    fill(discord, message, sent.body, sent)
    interaction.followups.append(message)
    await discord.post(message)
    return as_json(message.as_json())


def _followup(discord: FakeDiscord, request: web.Request) -> Message:
    interaction = _interaction(discord, request)
    known = [*interaction.followups, *([interaction.response] if interaction.response else [])]
    found = next((one for one in known if one.id == request.match_info["message"] and not one.deleted), None)
    if found is None:
        raise Refused(10008)
    return found


async def get_followup(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    return as_json(_followup(discord, request).as_json())


async def edit_followup(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:
    message = _followup(discord, request)
    limits.check_message(sent.body, sent.contents)
    await discord.change(message, sent.body, sent)
    return as_json(message.as_json())


async def delete_followup(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    await discord.remove(_followup(discord, request))
    return as_json(None, status=204)
