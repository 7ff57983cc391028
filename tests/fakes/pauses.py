"""Retries without their pauses."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import cohere.core.http_client
import openai._base_client
import stamina

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


@contextmanager
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As many attempts as ever."""
    monkeypatch.setattr(cohere.core.http_client, "INITIAL_RETRY_DELAY_SECONDS", 0.001)
    monkeypatch.setattr(openai._base_client, "INITIAL_RETRY_DELAY", 0.001)
    stamina.instrumentation.set_on_retry_hooks(())  # the one by default prints
    with stamina.set_testing(testing=True, attempts=10, cap=True):
        yield
