"""What is logged, and how: to standard error, with run ids and without the text of messages.

Libraries log what they please: keys, whole requests, at any level (Cohere's SDK an answer's text as a warning). So of their
entries only the level, the time and the place are kept, and of their debugging nothing.
"""

from __future__ import annotations

import logging
import sys
import traceback
from typing import TYPE_CHECKING, Any

import stamina.instrumentation
import structlog

from bots.terminal.wording import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.tables import Logging

log = logging.getLogger(__name__)

OURS = ("bots", "config", "rag", "storage")


def set_up_logs(settings: Logging) -> None:
    level = getattr(logging, settings.level.upper())
    rendered = structlog.processors.JSONRenderer() if settings.format == "json" else structlog.dev.ConsoleRenderer(colors=False)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_log_level, structlog.processors.TimeStamper(fmt="iso")],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, rendered, shown],
        )
    )
    handler.setLevel(level)  # a library that sets a level for itself is not heard below this one
    handler.addFilter(without_the_words_of_others)
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(level)
    stamina.instrumentation.set_on_retry_hooks([tell_retry])


def shown(_: Any, __: str, entry: Any) -> str:
    """A processor: names of files may hold what a terminal obeys."""
    return visible(str(entry))


def without_the_words_of_others(record: logging.LogRecord) -> bool:
    """A handler's filter, which may change what it lets through. Errors, too, are told by their kind and place alone.

    What others say below a warning tells nobody anything without its words.
    """
    if record.name.partition(".")[0] not in OURS:
        if record.levelno < logging.WARNING:
            return False
        place = f"{record.pathname.rpartition('site-packages/')[2]}, line {record.lineno}"
        record.msg, record.args = f"{record.name} ({place}) reported something; its words may hold messages, and are left out", ()
    if isinstance(record.exc_info, tuple) and record.exc_info[1] is not None:
        record.msg, record.args = f"{record.getMessage()}\n{''.join(kinds_and_places(record.exc_info[1]))}".rstrip(), ()
    record.exc_info = record.exc_text = record.stack_info = None
    return True


def kinds_and_places(error: BaseException) -> Iterator[str]:
    """A traceback without what the errors say."""
    if (cause := error.__cause__ or error.__context__) is not None:
        yield from kinds_and_places(cause)
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__qualname__}\n"


def tell_retry(details: stamina.instrumentation.RetryDetails) -> None:
    """The library's own way prints to standard output, where answers are."""
    log.info(
        "%s: tried again, %d so far, after a pause of %.1f s", type(details.caused_by).__name__, details.retry_num, details.wait_for
    )
