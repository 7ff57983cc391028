"""When a base is calibrated anew at the end of a run (R34)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import pytest

from rag.calibrating import OFF_TOPIC, ROUGH, Calibrator, Examples
from rag.errors import ModelUnavailable
from rag.offtopic import questions_in
from rag.ports import Work
from rag.retrieval import Retriever
from rag.types import Search, Signature
from storage.catalog import DatabaseCatalog
from storage.database import Database
from storage.local_index import LocalIndex
from tests.storage.passages import SIGNATURE, indexed

BASE = "handbook"
T = TypeVar("T")


class CountedIndex(LocalIndex):
    searches = 0

    async def beside(self, base: str, search: Search, work: Work[T]) -> T | None:
        self.searches += 1
        return await super().beside(base, search, work)


@dataclass
class Bench:
    index: CountedIndex
    catalog: DatabaseCatalog
    calibrator: Calibrator
    thresholds: dict[str, float]

    async def hold(self, documents: int, *, language: str = "en", signature: Signature = SIGNATURE) -> None:
        """A run that leaves so many documents of one passage."""
        async with self.index.write(BASE, signature) as writer:
            await writer.remove(list(await writer.counts()))
            for number in range(documents):
                await writer.put(f"d{number}", indexed(f"d{number}", f"thing {number}", language=language))
            await writer.publish(switch=writer.rebuilding)

    async def asked(self) -> int:
        """How many questions a rough calibration asks now."""
        self.index.searches = 0
        await self.calibrator.calibrate_roughly(BASE)
        return self.index.searches


@pytest.fixture
async def bench(tmp_path: Path, sqlite_url: str) -> AsyncIterator[Bench]:
    async with Database(sqlite_url) as database, CountedIndex(tmp_path / "index") as index:
        catalog = DatabaseCatalog(database)
        thresholds: dict[str, float] = {}
        yield Bench(index, catalog, Calibrator(Retriever(index, None, None), index, catalog, thresholds), thresholds)


async def test_a_base_that_hardly_changed_is_not_calibrated_again(bench: Bench) -> None:
    await bench.hold(20)
    assert await bench.asked() == len(questions_in(["en"]))

    await bench.hold(22)
    assert await bench.asked() == 0


@pytest.mark.parametrize("documents", [17, 23])
async def test_a_base_that_grew_or_shrank_is(bench: Bench, documents: int) -> None:
    await bench.hold(20)
    await bench.asked()

    await bench.hold(documents)
    assert await bench.asked()


async def test_small_changes_add_up(bench: Bench) -> None:
    await bench.hold(20)
    await bench.asked()

    await bench.hold(22)
    assert not await bench.asked()
    await bench.hold(24)
    assert await bench.asked()


async def test_a_base_in_another_language_is(bench: Bench) -> None:
    await bench.hold(20)
    await bench.asked()

    await bench.hold(20, language="de")
    assert await bench.asked() == len(questions_in(["de"]))


async def test_an_index_that_was_made_with_something_else_is(bench: Bench) -> None:
    await bench.hold(20)
    await bench.asked()

    await bench.hold(20, signature=replace(SIGNATURE, embedder="another"))
    assert await bench.asked()


async def test_a_rough_calibration_of_earlier_times_that_does_not_say_what_it_was_made_for_is_made_again(bench: Bench) -> None:
    await bench.hold(20)
    await bench.catalog.remember(f"calibration {BASE}", {"threshold": 0.9, "source": "off-topic questions"})

    assert await bench.asked()


async def test_one_from_labelled_questions_stays_however_much_changed(bench: Bench) -> None:
    await bench.hold(20)
    await bench.calibrator.calibrate(BASE, Examples(["Where is thing 3?"], ["Who owns the whale?"], "mine"))

    await bench.hold(2)
    assert not await bench.asked()


async def test_a_threshold_of_another_scale_is_not_used_and_is_made_again_whatever_it_was_made_from(bench: Bench) -> None:
    await bench.hold(20)
    await bench.calibrator.calibrate(BASE, Examples(["Where is thing 3?"], ["Who owns the whale?"], "mine"))
    kept = await bench.catalog.remembered(f"calibration {BASE}")
    await bench.catalog.remember(f"calibration {BASE}", {**(kept or {}), "scale": "relevance/1", "threshold": 0.9})

    await bench.calibrator.load([BASE])
    assert bench.thresholds[BASE] == ROUGH[0]
    assert await bench.asked()
    assert not await bench.asked()


async def test_a_calibration_is_in_use_again_after_a_restart(bench: Bench) -> None:
    await bench.hold(20)
    found = await bench.calibrator.calibrate(BASE, Examples(["Where is thing 3?"], ["Who owns the whale?"], "mine"))
    bench.thresholds.clear()

    await bench.calibrator.load([BASE])
    assert bench.thresholds == {BASE: found.threshold}


async def test_what_off_topic_questions_tell_keeps_within_what_was_right_elsewhere(bench: Bench) -> None:
    """A few documents share no word with them; labelled questions say more."""
    await bench.hold(3)
    assert (await bench.calibrator.calibrate(BASE, Examples((), ["Who owns the whale?"], OFF_TOPIC))).threshold == ROUGH[0]
    await bench.hold(40)
    assert (await bench.calibrator.calibrate(BASE, Examples((), ["thing 7"], OFF_TOPIC))).threshold == ROUGH[1]
    assert (await bench.calibrator.calibrate(BASE, Examples((), ["Who owns the whale?"], "mine"))).threshold < ROUGH[0]


async def test_a_scale_that_gives_no_scores_changes_no_threshold(bench: Bench) -> None:
    await bench.hold(20)
    on_another = Calibrator(Retriever(bench.index, None, None), bench.index, bench.catalog, bench.thresholds, "reranker/1")

    with pytest.raises(ModelUnavailable, match="reranker/1 gave no scores"):
        await on_another.calibrate(BASE, Examples((), ("thing",), OFF_TOPIC))

    assert bench.thresholds == {}
