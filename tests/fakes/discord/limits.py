"""What Discord takes: sizes that its description does not tell, and how many requests in which time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.fakes.discord.problems import Refused
from tests.fakes.discord.problems import field as wrong

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fakes.discord.state import JSON

CONTENT, EMBEDS_TOTAL, COMPONENTS, CHOICES = 2000, 6000, 40, 25
UPLOAD = 10 * 1024 * 1024
ACKNOWLEDGE_SECONDS, TOKEN_SECONDS = 3.0, 15 * 60.0
EDITABLE_SECONDS, OLD_EDITS = 3600.0, 5


def check_message(body: JSON, files: Sequence[bytes]) -> None:
    """Counted as Discord does: code points. Raises Refused."""
    content = body.get("content") or ""
    if len(content) > CONTENT:
        raise wrong("content", "BASE_TYPE_MAX_LENGTH", f"Must be {CONTENT} or fewer in length.")
    total = sum(map(_size_of_embed, body.get("embeds") or []))
    if total > EMBEDS_TOTAL:
        raise wrong("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {EMBEDS_TOTAL}")
    if _count(body.get("components") or []) > COMPONENTS:
        raise wrong("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", f"The total number of components exceeds {COMPONENTS}")
    if sum(map(len, files)) > UPLOAD:
        raise Refused(40005)


def is_empty(body: JSON, files: Sequence[bytes]) -> bool:
    return not ((body.get("content") or "").strip() or body.get("embeds") or body.get("components") or body.get("poll") or files)


def check_choices(choices: Sequence[JSON]) -> None:
    if len(choices) > CHOICES:
        raise wrong("data", "BASE_TYPE_MAX_LENGTH", f"Must be {CHOICES} or fewer in length.")


def _size_of_embed(embed: JSON) -> int:
    fields: list[Any] = [embed.get("title"), embed.get("description"), (embed.get("footer") or {}).get("text")]
    fields += [(embed.get("author") or {}).get("name")]
    fields += [part for one in embed.get("fields") or [] for part in (one.get("name"), one.get("value"))]
    return sum(len(one or "") for one in fields)


def _count(components: Sequence[JSON]) -> int:
    return sum(1 + _count(one.get("components") or []) for one in components)


@dataclass
class Bucket:
    """`remaining` requests until `resets`, by the clock of the wall: discord.py waits by it."""

    limit: int
    seconds: float
    remaining: int = 0
    resets: float = 0.0

    def take(self) -> bool:
        now = time.monotonic()
        if now >= self.resets:
            self.remaining, self.resets = self.limit, now + self.seconds
        if not self.remaining:
            return False
        self.remaining -= 1
        return True

    @property
    def left(self) -> float:
        return max(0.001, self.resets - time.monotonic())


@dataclass
class Buckets:
    """Each route and channel (or webhook) has its own; `each` names how many in how many seconds, by kind of route."""

    each: dict[str, tuple[int, float]] = field(
        default_factory=lambda: {"create": (5, 5.0), "edit": (5, 5.0), "thread": (50, 300.0), "webhook": (5, 2.0)}
    )
    buckets: dict[tuple[str, str], Bucket] = field(default_factory=dict)

    def take(self, kind: str, major: str) -> tuple[Bucket | None, bool]:
        """The bucket of a request, if its kind has one, and whether there was room."""
        if kind not in self.each:
            return None, True
        bucket = self.buckets.setdefault((kind, major), Bucket(*self.each[kind]))
        return bucket, bucket.take()

    @staticmethod
    def headers(kind: str, major: str, bucket: Bucket) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(bucket.limit),
            "X-RateLimit-Remaining": str(bucket.remaining),
            "X-RateLimit-Reset-After": f"{bucket.left:.3f}",
            "X-RateLimit-Reset": f"{time.time() + bucket.left:.3f}",
            "X-RateLimit-Bucket": f"{kind}-{major}",
        }
