"""The tables of settings for the platforms that people ask on, and for the desk that serves them all."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from config.ids import DiscordIds, SlackCalled, SlackChannels, SlackPeople  # noqa: TC001 - pydantic reads them
from config.tables import Count, Positive, Seconds, Table


class Slack(Table):
    """Who is answered in Slack, and where."""

    admins: SlackPeople = Field((), description="Ids of people who may give commands, besides the workspace's admins.")
    channels: SlackChannels = Field((), description="Ids of the channels where it answers; none: wherever it is invited to.")
    followups: Literal["thread", "mention"] = Field(
        "thread", description="Whether further questions in a thread it was asked in need a mention."
    )
    outsiders: bool = Field(default=False, description="True: people of other workspaces (Slack Connect) are answered, too.")
    guests: bool = Field(default=False, description="True: guests of the workspace are answered, too.")
    ask_a_person: SlackCalled = Field(
        "", description="The id of a person or a user group to call by the button Ask a person; empty: none."
    )
    edit_minutes: Count = Field(10, description="For how long an edited question is answered anew.")
    history: Literal["full", "limited"] = Field(
        "full", description="limited: for one app that serves many workspaces, which may read a thread once a minute."
    )
    prompts: tuple[str, ...] = Field((), description="Questions that the messages tab suggests, four at most.")
    port: Positive | None = Field(None, description="The port for Slack's requests over HTTP; needs `SLACK_SIGNING_SECRET`.")
    host: str = Field("0.0.0.0", description="The address that this port is opened at.")  # noqa: S104 - Slack calls from outside
    public_url: str = Field("", description="Where Slack reaches that port, as in `https://bot.example.com`; to install by OAuth.")


class Discord(Table):
    """Who is answered in Discord, and where."""

    admins: DiscordIds = Field((), description="Ids of people who may give commands, besides the server's administrators.")
    channels: DiscordIds = Field((), description="Ids of the channels where it answers; none: wherever it can read.")
    forums: DiscordIds = Field((), description="Ids of the forum channels where a new post is answered without a mention.")
    followups: Literal["thread", "mention"] = Field(
        "thread", description="Whether further questions in a thread it was asked in need a mention."
    )
    threads: Literal["offer", "always", "never"] = Field(
        "offer", description="Whether an answer in a channel gets a thread for more: by a button, at once, or not at all."
    )
    message_content: bool = Field(
        default=True,
        description="False: do without the Message Content intent; then questions need a command, a mention or a direct message.",
    )
    direct: bool = Field(default=False, description="True: direct messages are answered.")
    edit_minutes: Count = Field(10, description="For how long an edited question is answered anew.")


class Limits(Table):
    """How much may be asked."""

    question_characters: Positive = Field(4000, le=6000, description="The longest question, 6000 at most.")
    person_per_minute: Count = Field(10, description="How many questions one person may ask in a minute; 0: any number.")
    place_per_minute: Count = Field(60, description="How many questions may be asked in one channel in a minute; 0: any number.")
    thread_answers: Count = Field(100, description="How often it answers in one thread; 0: any number.")
    answers_per_day: Count = Field(0, description="How many questions are answered in a day, in all places together; 0: any.")


class Desk(Table):
    """How questions are worked on."""

    at_once: Positive = Field(32, description="How many questions one process answers at the same time.")
    too_old_seconds: Seconds = Field(900, description="Older questions, after a time away, get an apology instead of an answer.")
    drain_seconds: Seconds = Field(20, description="How long answers in flight may take once the process is asked to end.")
    lease_seconds: Seconds = Field(15, description="After how long without a sign of life another process takes a question over.")
