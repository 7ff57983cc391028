"""A strict Slack for tests: it refuses what Slack refuses, and shows what a person would see."""

from tests.fakes.slack.delivery import signed
from tests.fakes.slack.people import Command, Person, Said, alert
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.state import App, Channel, Message
from tests.fakes.slack.workspace import Workspace

__all__ = ["App", "Channel", "Command", "FakeSlack", "Message", "Person", "Said", "Workspace", "alert", "signed"]
