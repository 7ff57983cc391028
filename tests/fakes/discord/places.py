"""A guild, its channels and its people, and what they do: a journey reads like a conversation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.fakes.discord.gateway import GUILDS
from tests.fakes.discord.state import (
    ADMINISTRATOR,
    COMMAND,
    CONTEXT_MENU,
    DEFAULT,
    DIRECT,
    EVERYBODY,
    FORUM,
    LOADING,
    REPLY,
    TEXT,
    Channel,
    Interaction,
    Member,
    Message,
    Role,
    User,
    snowflake,
)

if TYPE_CHECKING:
    from tests.fakes.discord.server import FakeDiscord
    from tests.fakes.discord.state import JSON, Guild

SLASH, COMPONENT, AUTOCOMPLETE, SUBMIT = 2, 3, 4, 5
MESSAGE_COMMAND = 3
OPTION_TYPES = {str: 3, int: 4, bool: 5}


@dataclass(eq=False)
class Place:
    """A guild as tests drive it."""

    discord: FakeDiscord
    guild: Guild

    @property
    def id(self) -> str:
        return self.guild.id

    @property
    def general(self) -> Channel:
        return self.channel("general")

    def channel(self, name: str, *, type: int = TEXT, **more: Any) -> Channel:  # noqa: A002 - the word for it
        """The channel of this name; a new one where there is none (before the bot logs in)."""
        found = next((one for one in self.guild.channels.values() if one.name == name and not one.is_thread), None)
        if found is None:
            found = Channel(more.pop("id", "") or snowflake(self.discord.clock.now()), type, name, self.id, **more)
            self.guild.channels[found.id] = found
            self.discord.channels[found.id] = found
        return found

    def forum(self, name: str, **more: Any) -> Channel:
        return self.channel(name, type=FORUM, **more)

    def role(self, name: str, permissions: int = 0) -> Role:
        found = next((role for role in self.guild.roles.values() if role.name == name), None)
        if found is None:
            found = Role(snowflake(self.discord.clock.now()), name, permissions)
            self.guild.roles[found.id] = found
        return found

    def person(self, name: str, *roles: str, admin: bool = False) -> Person:
        known = next((member for member in self.guild.members.values() if member.user.name == name), None)
        if known is None:
            known = Member(self.discord.user(name))
            self.guild.members[known.user.id] = known
        known.roles = [self.role(role).id for role in roles] + ([self.role("Admins", ADMINISTRATOR).id] if admin else [])
        return Person(self, known.user)

    def other_bot(self, name: str) -> Person:
        user = self.discord.user(name, bot=True)
        self.guild.members[user.id] = Member(user)
        return Person(self, user)

    async def lock(self, thread: Channel, *, archived: bool = False) -> None:
        thread.locked, thread.archived = True, archived or thread.archived
        await self.discord.update_thread(thread)

    async def archive(self, thread: Channel) -> None:
        thread.archived = True
        await self.discord.update_thread(thread)


@dataclass(frozen=True, eq=False)
class Said:
    """A message, as a person can look at it and answer to it."""

    place: Place
    message: Message

    @property
    def id(self) -> str:
        return self.message.id

    @property
    def text(self) -> str:
        return self.message.content

    @property
    def channel(self) -> Channel:
        return self.message.channel

    @property
    def thread(self) -> Channel | None:
        return self.message.thread

    @property
    def thinking(self) -> bool:
        return bool(self.message.flags & LOADING)

    @property
    def buttons(self) -> list[JSON]:
        return [button for row in self.message.components for button in row.get("components", [])]

    @property
    def files(self) -> dict[str, bytes]:
        return {one["filename"]: self.place.discord.file(one) for one in self.message.attachments}

    @property
    def replies(self) -> list[Said]:
        """What the bot said after this, in this channel or in the thread that hangs on this message."""
        bot = self.place.discord.bot
        found = [one for one in self.channel.messages if one.author is bot and int(one.id) > int(self.id)]
        if self.message.thread:
            found += [one for one in self.message.thread.messages if one.author is bot and one.type in (DEFAULT, REPLY)]
        return [Said(self.place, one) for one in found if not one.deleted and not one.seen_by]

    async def answered(self, times: int = 1, *, holding: str = "", seconds: float = 20.0) -> Said:
        """The `times`-th message of the bot after this one, once it holds what is waited for."""

        def found() -> list[Said]:
            return [one for one in self.replies if not one.thinking and holding in one.text]

        await self.place.discord.until(
            lambda: len(found()) >= times, seconds=seconds, what=f"an answer to {self.text!r} with {holding!r}"
        )
        return found()[times - 1]


@dataclass(frozen=True, eq=False)
class Used:
    """A command, button or menu that somebody used."""

    place: Place
    interaction: Interaction

    @property
    def shown(self) -> list[Said]:
        """What the bot showed for it, the first word and what followed."""
        found = [self.interaction.response, *self.interaction.followups]
        return [Said(self.place, one) for one in found if one is not None and not one.deleted]

    @property
    def private(self) -> bool:
        return self.interaction.ephemeral

    async def acknowledged(self, *, seconds: float = 10.0) -> None:
        what = f"an acknowledgement of {self.interaction.name}"
        await self.place.discord.until(lambda: self.interaction.acknowledged is not None, seconds=seconds, what=what)

    async def answered(self, *, holding: str = "", seconds: float = 20.0) -> Said:
        """The first message that is no longer thinking and holds what is waited for."""

        def found() -> list[Said]:
            return [one for one in self.shown if not one.thinking and holding in one.text]

        await self.place.discord.until(
            lambda: bool(found()), seconds=seconds, what=f"an answer to {self.interaction.name} with {holding!r}"
        )
        return found()[0]

    async def choices(self) -> list[str]:
        await self.place.discord.until(lambda: self.interaction.choices is not None, what="choices")
        return [choice["name"] for choice in self.interaction.choices or []]


@dataclass(frozen=True, eq=False)
class Person:
    place: Place
    user: User
    locale: str = "en-US"  # of their client

    @property
    def id(self) -> str:
        return self.user.id

    @property
    def name(self) -> str:
        return self.user.name

    @property
    def mention(self) -> str:
        return f"<@{self.user.id}>"

    @property
    def dm(self) -> Channel:
        return self.place.discord.direct(self.user)

    # --- messages

    async def says(
        self,
        text: str,
        *,
        channel: Channel | None = None,
        to: Said | None = None,
        ping: bool = True,
        files: dict[str, bytes] | None = None,
        **more: Any,
    ) -> Said:
        """In a channel (#general unless another is named), or as a reply. `@Name` mentions."""
        discord = self.place.discord
        where = channel or (to.channel if to else self.place.general)
        more = {"type": REPLY if to else DEFAULT, **more}
        message = Message(snowflake(discord.clock.now()), where, self.user, self._written(text), **more)
        message.mentions = [user for user in discord.users.values() if f"<@{user.id}>" in message.content]
        message.mention_everyone = bool(re.search(r"@(everyone|here)\b", text))
        message.mention_roles = re.findall(r"<@&(\d+)>", message.content)
        message.attachments = [discord.keep_file(name, content) for name, content in (files or {}).items()]
        if to is not None:
            message.reference = {"type": 0, "message_id": to.id, "channel_id": where.id, "guild_id": where.guild or None}
            if ping and to.message.author not in message.mentions:
                message.mentions.append(to.message.author)
        await discord.post(message)
        return Said(self.place, message)

    def _written(self, text: str) -> str:
        for user in sorted(self.place.discord.users.values(), key=lambda one: -len(one.name)):
            text = re.sub(rf"@{re.escape(user.name)}\b", f"<@{user.id}>", text)
        for role in self.place.guild.roles.values():
            text = text.replace(f"@&{role.name}", f"<@&{role.id}>")
        return text

    async def writes(self, text: str, **more: Any) -> Said:
        """To the bot directly."""
        return await self.says(text, channel=self.dm, **more)

    async def edits(self, said: Said, text: str) -> None:
        message = said.message
        message.content = self._written(text)
        message.edited = self.place.discord.clock.now()
        await self.place.discord._tell_of("MESSAGE_UPDATE", message)

    async def deletes(self, said: Said) -> None:
        await self.place.discord.remove(said.message)

    async def starts_thread(self, name: str, said: Said | None = None, channel: Channel | None = None) -> Channel:
        where = said.channel if said else channel or self.place.general
        return await self.place.discord.start_thread(where, name, self.user, said.message if said else None)

    async def posts(
        self, forum: Channel, title: str, text: str, *, pause: bool = False, tags: tuple[str, ...] = ()
    ) -> tuple[Channel, Said | None]:
        """A new post: the thread is told of before its first message is there, as Discord does."""
        discord = self.place.discord
        thread = await discord.start_thread(forum, title, self.user, None)
        thread.applied_tags = list(tags)
        if pause:
            return thread, None
        message = Message(thread.id, thread, self.user, self._written(text))
        message.mentions = [user for user in discord.users.values() if f"<@{user.id}>" in message.content]
        await discord.post(message)
        return thread, Said(self.place, message)

    # --- interactions

    async def slash(self, name: str, *, channel: Channel | None = None, **options: Any) -> Used:
        """A slash command, `group sub` for a subcommand."""
        return await self._command(SLASH, name, options, channel)

    async def autocompletes(self, name: str, option: str, typed: str, *, channel: Channel | None = None, **options: Any) -> Used:
        return await self._command(AUTOCOMPLETE, name, {**options, option: typed}, channel, focused=option)

    async def _command(self, kind: int, name: str, options: dict[str, Any], channel: Channel | None, focused: str = "") -> Used:
        top, _, sub = name.partition(" ")
        given = [{"name": key, "type": OPTION_TYPES[type(value)], "value": value} for key, value in options.items()]
        for option in given:
            if option["name"] == focused:
                option["focused"] = True
        data = {"type": 1, **self._registered(top, 1)}
        data["options"] = [{"name": sub, "type": 1, "options": given}] if sub else given
        return await self._interacts(kind, name, data, channel or self.place.general)

    def _registered(self, name: str, type_: int) -> JSON:
        """What the bot has told Discord of; a command that was never synchronised cannot be used."""
        scopes = (self.place.id, "")
        known = [command for scope in scopes for command in self.place.discord.commands.get(scope, [])]
        found = [command for command in known if command["name"] == name and command.get("type", 1) == type_]
        assert found, f"There is no command {name!r} among {[command['name'] for command in known]}."
        assert len(found) == 1, f"The command {name!r} is shown {len(found)} times."
        return {"id": found[0]["id"], "name": name, "type": type_}

    async def uses_menu(self, name: str, said: Said) -> Used:
        """A command of a message's context menu."""
        data = {**self._registered(name, MESSAGE_COMMAND), "target_id": said.id}
        data["resolved"] = {"messages": {said.id: said.message.as_json()}}
        return await self._interacts(SLASH, name, data, said.channel)

    async def clicks(self, said: Said, button: str) -> Used:
        """The button with this label, emoji, or id."""

        def names(one: JSON) -> tuple[str, str, str]:
            return one.get("label") or "", (one.get("emoji") or {}).get("name", ""), one.get("custom_id", "")

        found = [one for one in said.buttons if button in names(one)]
        assert found, f"There is no button {button!r} among {[names(one) for one in said.buttons]}."
        assert not found[0].get("disabled"), f"The button {button!r} is switched off."
        data = {"component_type": 2, "custom_id": found[0]["custom_id"], "id": 1}
        return await self._interacts(COMPONENT, button, data, said.channel, source=said.message)

    async def submits(self, used: Used, **values: str) -> Used:
        """The modal that was shown."""
        modal = used.interaction.modal
        assert modal is not None
        rows = [
            {"type": 18, "id": at, "component": {"type": 4, "id": at, "custom_id": key, "value": value}}
            for at, (key, value) in enumerate(values.items(), 1)
        ]
        return await self._interacts(
            SUBMIT, "modal", {"custom_id": modal["custom_id"], "components": rows}, used.interaction.channel
        )

    async def _interacts(self, kind: int, name: str, data: JSON, channel: Channel, source: Message | None = None) -> Used:
        discord = self.place.discord
        id_ = snowflake(discord.clock.now())
        interaction = Interaction(id_, f"token-{id_}", kind, self.user, channel, discord.clock.now(), name, source=source)
        discord.interactions[interaction.token] = interaction
        body: JSON = {
            "id": id_,
            "application_id": discord.bot.id,
            "type": kind,
            "data": data,
            "channel_id": channel.id,
            "channel": channel.as_json(),
            "token": interaction.token,
            "version": 1,
            "locale": self.locale,
            "app_permissions": str(discord.permissions(discord.bot, channel)),
            "entitlements": [],
            "authorizing_integration_owners": {"0": channel.guild or "0"},
            "context": 1 if channel.type == DIRECT else 0,
            "attachment_size_limit": 10 * 1024 * 1024,
        }
        if source is not None:
            body["message"] = source.as_json()
        if channel.guild:
            guild = discord.guilds[channel.guild]
            member = {**guild.members[self.user.id].as_json(), "permissions": str(guild.permissions(self.user, channel))}
            body |= {
                "guild_id": channel.guild,
                "member": member,
                "guild_locale": "en-US",
                "guild": {"id": guild.id, "locale": "en-US", "features": []},
            }
        else:
            body["user"] = self.user.as_json()
        await discord.gateway.tell("INTERACTION_CREATE", body)
        return Used(self.place, interaction)


__all__ = ["COMMAND", "CONTEXT_MENU", "EVERYBODY", "GUILDS", "Person", "Place", "Said", "Used"]
