"""The real desk on the real database, its model scripted: for processes that are measured, or killed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bots.access import AskingLimits, LimitSettings
from bots.desk import Desk
from storage.conversations import DatabaseMemory
from storage.inbox import DatabaseInbox

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bots.answering import Replies
    from bots.desk import DeskSettings
    from bots.surfaces import Surface
    from storage.database import Database

NO_LIMITS = LimitSettings(4000, 0, 0, 0, 0)


def desk_for(
    database: Database, core: Replies, settings: DeskSettings, kind: type[Desk] = Desk
) -> Callable[[Mapping[str, Surface[Any]]], Desk]:
    """As `bots.serving.serve` wants it."""
    inbox, memory = DatabaseInbox(database), DatabaseMemory(database)

    def desk(surfaces: Mapping[str, Surface[Any]]) -> Desk:
        limits = AskingLimits(NO_LIMITS)
        return kind(inbox=inbox, memory=memory, conversation=core, surfaces=surfaces, limits=limits, settings=settings)

    return desk
