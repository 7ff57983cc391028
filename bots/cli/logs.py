"""What is logged, and how: to standard error, with run ids and without the text of messages."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from config.tables import Logging


def set_up_logs(settings: Logging) -> None:
    level = getattr(logging, settings.level.upper())
    rendered = structlog.processors.JSONRenderer() if settings.format == "json" else structlog.dev.ConsoleRenderer(colors=False)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_log_level, structlog.processors.TimeStamper(fmt="iso")],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, rendered],
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
