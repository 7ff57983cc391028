"""The Web API, method by method."""

from tests.fakes.slack.methods import chat, other, reading
from tests.fakes.slack.methods.registry import METHODS, Call

__all__ = ["METHODS", "Call", "chat", "other", "reading"]
