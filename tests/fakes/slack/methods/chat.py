"""Messages: posted, changed, deleted, shown to one person; and streams."""

from __future__ import annotations

import json
from typing import Any

from tests.fakes.slack.limits import LONGEST_MARKDOWN, LONGEST_TEXT, LONGEST_UPDATE, MOST_METADATA, Refused, check_blocks, texts
from tests.fakes.slack.methods.registry import Call, method
from tests.fakes.slack.state import JSON, Message, Stream
from tests.fakes.slack.workspace import URL


def _content(call: Call, longest: int) -> tuple[str, list[JSON], list[JSON]]:
    text, blocks, attachments = call.get("text", ""), call.structure("blocks") or [], call.structure("attachments") or []
    if markdown := call.get("markdown_text"):
        if text or blocks:
            raise Refused("markdown_text_conflict")
        if len(markdown) > LONGEST_MARKDOWN:
            raise Refused("msg_too_long")
        blocks = [{"type": "markdown", "text": markdown}]
    if not isinstance(text, str) or not (text.strip() or blocks or attachments):
        raise Refused("no_text")
    if len(text) > longest:
        raise Refused("msg_too_long")
    if blocks:
        check_blocks(blocks)
    return text, blocks, attachments


def _metadata(call: Call) -> JSON | None:
    metadata: Any = call.structure("metadata")
    if not metadata:
        return None
    if not isinstance(metadata, dict) or not metadata.get("event_type") or not isinstance(metadata.get("event_payload"), dict):
        raise Refused("invalid_metadata_format")
    if len(json.dumps(metadata)) > MOST_METADATA:
        raise Refused("metadata_too_large")
    return metadata


@method("chat.postMessage", "chat:write")
def post_message(call: Call) -> JSON:
    call.required("channel")
    channel = call.channel()
    text, blocks, attachments = _content(call, LONGEST_TEXT)
    thread = call.thread(channel)
    ts = call.workspace.next_ts()
    message = Message(
        channel,
        ts,
        call.workspace.bot,
        text,
        blocks,
        attachments,
        thread_ts=thread,
        metadata=_metadata(call),
        broadcast=call.flag("reply_broadcast"),
        previewed=_previewed(call, text, blocks),
    )
    call.workspace.post(message)
    return {"channel": channel.id, "ts": ts, "message": message.as_json()}


def _previewed(call: Call, text: str, blocks: list[JSON]) -> tuple[str, ...]:
    """Addresses that Slack fetches to show a preview: that alone tells their host something."""
    if call.get("unfurl_links") is False and call.get("unfurl_media") is False:
        return ()
    return tuple(address for each in (text, *texts(blocks)) for address in URL.findall(each))


@method("chat.postEphemeral", "chat:write")
def post_ephemeral(call: Call) -> JSON:
    call.required("channel", "user")
    channel = call.channel()
    if call.text("user") not in channel.members:
        raise Refused("user_not_in_channel")
    text, blocks, attachments = _content(call, LONGEST_TEXT)
    ts = call.workspace.next_ts()
    thread = call.thread(channel)
    bot = call.workspace.bot
    call.workspace.post(Message(channel, ts, bot, text, blocks, attachments, thread_ts=thread, ephemeral_to=call.text("user")))
    return {"message_ts": ts}


@method("chat.update", "chat:write")
def update(call: Call) -> JSON:
    call.required("channel", "ts")
    channel = call.channel()
    message = call.own_message(channel, "cant_update_message")
    if message.stream and message.stream.open(call.slack.clock):
        raise Refused("streaming_state_conflict")
    text, blocks, attachments = _content(call, LONGEST_UPDATE)
    metadata = _metadata(call)

    def change(one: Message) -> None:
        one.text, one.blocks, one.attachments = text, blocks, attachments
        if metadata or not blocks:
            one.metadata = metadata or one.metadata

    call.workspace.change(message, change, edited=True)
    return {"channel": channel.id, "ts": message.ts, "text": text, "message": message.as_json()}


@method("chat.delete", "chat:write")
def delete(call: Call) -> JSON:
    call.required("channel", "ts")
    channel = call.channel()
    message = call.own_message(channel, "cant_delete_message")
    if message.stream and message.stream.open(call.slack.clock):
        raise Refused("streaming_state_conflict")
    call.workspace.delete(message)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.getPermalink", "chat:write")
def permalink(call: Call) -> JSON:
    call.required("channel", "message_ts")
    channel = call.channel(member=False)
    message = call.message(channel, "message_ts")
    domain = call.workspace.name.lower()
    return {"channel": channel.id, "permalink": f"https://{domain}.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}"}


# --- streams --------------------------------------------------------------------------------------------------------


@method("chat.startStream", "chat:write")
def start_stream(call: Call) -> JSON:
    call.required("channel", "thread_ts")
    channel = call.channel()
    if channel.kind != "im":
        for name in ("recipient_team_id", "recipient_user_id"):
            if not call.get(name):
                raise Refused(f"missing_{name}")
        if call.text("recipient_user_id") not in channel.members:
            raise Refused("user_not_in_channel")
    thread = call.thread(channel, error="message_not_found")
    text, tasks = _streamed(call)
    ts = call.workspace.next_ts()
    stream = Stream(call.slack.clock.now(), call.text("recipient_user_id"), tasks=tasks)
    message = Message(channel, ts, call.workspace.bot, text, thread_ts=thread, stream=stream)
    _show(message)
    call.workspace.post(message)
    return {"channel": channel.id, "ts": ts}


@method("chat.appendStream", "chat:write")
def append_stream(call: Call) -> JSON:
    call.required("channel", "ts")
    message, _ = _open_stream(call)
    text, tasks = _streamed(call, already=message.text)
    if not text and not tasks:
        raise Refused("no_text")
    _grow(call, message, text, tasks)
    return {"channel": message.channel.id, "ts": message.ts}


@method("chat.stopStream", "chat:write")
def stop_stream(call: Call) -> JSON:
    call.required("channel", "ts")
    message, stream = _open_stream(call)
    text, tasks = _streamed(call, already=message.text)
    blocks = call.structure("blocks") or []
    whole = message.text + text
    if blocks:
        check_blocks(blocks)
    if not (whole.strip() or blocks):
        raise Refused("no_text")
    if whole and blocks:
        check_blocks([{"type": "markdown", "text": whole}, *blocks])
    message.metadata = _metadata(call) or message.metadata
    stream.stopped = True

    def change(one: Message) -> None:
        one.text = whole
        one.blocks = [*([{"type": "markdown", "text": whole}] if whole else []), *blocks]
        stream.tasks.extend(tasks)

    call.workspace.change(message, change, edited=False)
    return {"channel": message.channel.id, "ts": message.ts, "message": message.as_json()}


def _open_stream(call: Call) -> tuple[Message, Stream]:
    message = call.own_message(call.channel(), "message_not_owned_by_app")
    if message.stream is None or not message.stream.open(call.slack.clock):
        raise Refused("message_not_in_streaming_state")
    return message, message.stream


def _streamed(call: Call, already: str = "") -> tuple[str, list[JSON]]:
    """The text that a call adds, and its tasks; the whole may not be longer than one block of Markdown."""
    text, tasks = call.text("markdown_text"), []
    chunks: list[JSON] = call.structure("chunks") or []
    if text and chunks:
        raise Refused("invalid_arguments")
    for chunk in chunks:
        if chunk.get("type") == "markdown_text" and chunk.get("text"):
            text += chunk["text"]
        elif chunk.get("type") in ("task_update", "plan_update") and (chunk.get("title")):
            tasks.append(chunk)
        elif chunk.get("type") == "blocks":
            check_blocks(chunk.get("blocks"))
        else:
            raise Refused("invalid_chunks")
    if len(already) + len(text) > LONGEST_MARKDOWN:
        raise Refused("msg_too_long")
    return text, tasks


def _grow(call: Call, message: Message, text: str, tasks: list[JSON]) -> None:
    message.text += text
    if message.stream is not None:
        message.stream.tasks.extend(tasks)
    _show(message)
    message.versions.append(call.workspace.shown(message))
    call.slack.changed()


def _show(message: Message) -> None:
    message.blocks = [{"type": "markdown", "text": message.text}] if message.text else []
