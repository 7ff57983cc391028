"""In which order tests run in several processes: the long ones first, an equal share to each, so that all end together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

SECONDS = {  # what the longest modules take, about
    "tests/bots/discord/test_away.py": 12,
    "tests/bots/discord/test_talking.py": 13,
    "tests/bots/slack/test_answers.py": 14,
    "tests/bots/slack/test_deliveries.py": 21,
    "tests/bots/test_doctor.py": 10,
    "tests/fakes/slack/test_delivery.py": 10,
    "tests/config/test_measuring.py": 18,
    "tests/harness/test_judging.py": 20,
    "tests/harness/test_killing.py": 90,
    "tests/journeys/test_asking.py": 25,
    "tests/journeys/test_crashes.py": 45,
    "tests/journeys/test_demo.py": 12,
    "tests/journeys/test_dialogs.py": 15,
    "tests/journeys/test_discord.py": 25,
    "tests/journeys/test_discord_subjects.py": 15,
    "tests/journeys/test_interruptions.py": 15,
    "tests/journeys/test_logs.py": 25,
    "tests/journeys/test_mistakes.py": 25,
    "tests/journeys/test_postgresql.py": 10,
    "tests/journeys/test_runs.py": 25,
    "tests/journeys/test_slack.py": 10,
    "tests/journeys/test_weaviate.py": 17,
    "tests/rag/models/test_embedder.py": 10,
    "tests/rag/models/test_local_embedder.py": 12,
    "tests/rag/models/test_local_reranker.py": 10,
    "tests/storage/test_leases.py": 10,
    "tests/storage/test_local_index.py": 15,
    "tests/storage/test_migrations.py": 8,
    "tests/storage/test_passage_index.py": 30,
    "tests/storage/weaviate_index/test_building.py": 10,
    "tests/storage/weaviate_index/test_restarting.py": 16,
}


def in_good_order(items: Sequence[pytest.Item], processes: int) -> list[pytest.Item]:
    """As many stretches of equal length as there are processes: xdist gives each of them one to begin with."""
    modules: dict[str, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.nodeid.partition("::")[0], []).append(item)
    shares: list[list[pytest.Item]] = [[] for _ in range(processes)]
    taken = [0] * processes
    for module in sorted(modules.keys() & SECONDS.keys(), key=lambda module: (-SECONDS[module], module)):
        share = taken.index(min(taken))
        taken[share] += SECONDS[module]
        shares[share] += modules.pop(module)
    short = [item for module in modules.values() for item in module]
    ordered: list[pytest.Item] = []
    for number, own in enumerate(shares):
        length = (len(items) - len(ordered)) // (processes - number)
        room = max(0, length - len(own))
        ordered += own + short[:room]
        short = short[room:]
    return ordered + short
