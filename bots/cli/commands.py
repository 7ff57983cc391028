"""Every command: each of these modules adds its own to `app`."""

from bots.cli import asking, doctor, measuring, operating, serving, supplying
from bots.cli.app import app, main

__all__ = ["app", "asking", "doctor", "main", "measuring", "operating", "serving", "supplying"]
