"""What was said in a thread, a post or a chain of replies before we were asked, as history (D3)."""

from __future__ import annotations

import re
from logging import getLogger
from typing import TYPE_CHECKING

import discord

from bots.discord.askers import name_of
from bots.discord.failing import delivering
from bots.discord.places import is_help_post
from rag.attached import named
from rag.errors import DeliveryError
from rag.types import Turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bots.discord.places import Room

log = getLogger(__name__)

MOST = 100  # messages that are read of a thread
CHAIN = 20  # replies that are followed upwards
FILE_BYTES = 200_000
FILE_CHARACTERS = 8_000
SPARE = 40  # characters around files' names and texts; ten files are the most
TEXTS = (".txt", ".md", ".log", ".json", ".yaml", ".yml", ".toml", ".csv", ".py", ".js", ".ts", ".sh", ".sql", ".xml", ".ini")
SAID = (discord.MessageType.default, discord.MessageType.reply)
OWN = (*SAID, discord.MessageType.chat_input_command, discord.MessageType.context_menu_command)

_FOOTER = re.compile(r"(?:\n*^-# [^\n]*$)+\n*\Z", re.MULTILINE)  # remark, sources, suggestions: what stands in small letters
_HIDDEN_LINK = re.compile(r"\[([^\]\n]*)\]\(<([^>\s]+)>\)")


async def before(room: Room, message: discord.abc.Snowflake, me: int) -> list[Turn]:
    """What was said in the room before a message, oldest first. Raises discord.HTTPException."""
    if isinstance(room, discord.Thread):
        return [turn async for turn in _thread(room, message, me) if turn.text]
    if isinstance(room, discord.DMChannel):
        found = [said async for said in room.history(limit=MOST, before=message)]
        return [turn for said in reversed(found) if (turn := await _turn(said, me)) and turn.text]
    if isinstance(room, discord.ForumChannel | discord.CategoryChannel):
        return []
    full = message if isinstance(message, discord.Message) else await room.fetch_message(message.id)
    return [turn async for turn in _chain(full, me) if turn.text]


async def _thread(room: discord.Thread, message: discord.abc.Snowflake, me: int) -> AsyncIterator[Turn]:
    """The message it hangs on, or the post that it is, then what was said in it."""
    if is_help_post(room):
        yield Turn("user", room.name)
    elif (starter := await _starter(room)) is not None and (turn := await _turn(starter, me)):
        yield turn
    found = [said async for said in room.history(limit=MOST, before=message)]
    for said in reversed(found):
        if turn := await _turn(said, me):
            yield turn


async def _starter(room: discord.Thread) -> discord.Message | None:
    if room.starter_message is not None:
        return room.starter_message
    if not isinstance(room.parent, discord.TextChannel):
        return None
    try:
        return await room.parent.fetch_message(room.id)
    except (discord.NotFound, discord.Forbidden):  # it was deleted, or was never one of a message
        return None


async def _chain(message: discord.Message, me: int) -> AsyncIterator[Turn]:
    found: list[Turn] = []
    above = await _replied_to(message)
    while above is not None and len(found) < CHAIN:
        if turn := await _turn(above, me):
            found.append(turn)
        above = await _replied_to(above)
    for turn in reversed(found):
        yield turn


async def _replied_to(message: discord.Message) -> discord.Message | None:
    reference = message.reference
    if reference is None or reference.message_id is None or reference.type is not discord.MessageReferenceType.reply:
        return None
    if isinstance(reference.resolved, discord.Message):
        return reference.resolved
    if isinstance(reference.resolved, discord.DeletedReferencedMessage):
        return None
    try:
        return reference.cached_message or await message.channel.fetch_message(reference.message_id)
    except (discord.NotFound, discord.Forbidden):
        return None


async def _turn(message: discord.Message, me: int) -> Turn | None:
    """Ours is an assistant's; another bot is somebody with a name. Joins, pins and the like are nothing said."""
    if message.author.id == me:
        if message.type not in OWN or message.flags.ephemeral or message.flags.loading:
            return None
        return Turn("assistant", own_words(message.content), said_at=message.created_at)
    if message.type not in SAID:
        return None
    text = "\n\n".join(part for part in (words_of(message, me), await files_of(message)) if part)
    return Turn("user", text, name_of(message.author), said_at=message.created_at)


def own_words(content: str) -> str:
    """An answer of ours without its footer, links as they were before they were hidden from previews."""
    return _HIDDEN_LINK.sub(r"[\1](\2)", _FOOTER.sub("", content)).strip()


def words_of(message: discord.Message, me: int) -> str:
    """What a person wrote: names for mentions, ours left out."""
    text = re.sub(rf"<@!?{me}>", "", message.content)
    for user in message.mentions:
        text = re.sub(rf"<@!?{user.id}>", f"@{user.display_name}", text)
    for role in message.role_mentions:
        text = text.replace(role.mention, f"@{role.name}")
    for channel in message.channel_mentions:
        text = text.replace(channel.mention, f"#{channel.name}")
    return text.strip()


async def files_of(message: discord.Message, room: int = FILE_CHARACTERS) -> str:
    """Attached texts, cut to the room there is for all of them: a long paste comes as message.txt.

    The type is not always told, so the name counts too.
    """
    read: list[str] = []
    for attachment in message.attachments:
        kind = (attachment.content_type or "").partition(";")[0]
        left = room - sum(map(len, read)) - len(attachment.filename) - SPARE
        if (kind.startswith("text/") or attachment.filename.lower().endswith(TEXTS)) and left > 0:
            text = await _content(attachment)
            cut = f"{text[:left]}\n[…]" if len(text) > left else text
            read.append(named(attachment.filename, cut.strip()))
    return "\n\n".join(read)


async def _content(attachment: discord.Attachment) -> str:
    """What was not read is said, so that nobody believes it was."""
    if attachment.size > FILE_BYTES:
        return "(not read: too large)"
    try:
        with delivering():
            return (await attachment.read()).decode("utf-8", "replace")
    except DeliveryError as error:
        log.info("an attachment could not be read: %s", error)
        return "(could not be read)"
