"""Evaluation and calibration, through the whole system."""

import json
from pathlib import Path

import pytest

from config.assembly import assemble
from config.measuring import Exam, measure, source_of
from config.settings import load
from rag.calibrating import Examples
from rag.errors import Unreadable
from rag.labelled import LabelledDocument
from rag.types import Place, Thread

THINGS = {
    "lamp": "The lamp is kept in the tower, and its oil is changed every Monday by the keeper.",
    "rope": "The rope is kept in the shed, and it is forty metres long when it is dry.",
    "sail": "The sail is kept in the attic, and it was sewn by Anna Berg in 1931.",
    "boat": "The boat is kept in the harbour, and it is painted green each spring.",
}
QUESTIONS = {
    "lamp": ("When is the oil of the lamp changed?", "Monday"),
    "rope": ("How long is the rope?", "forty metres"),
    "sail": ("Who sewed the sail?", "Anna Berg"),
    "boat": ("Which colour is the boat painted?", "green"),
}


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FOOTNOTE_RETRIEVAL__RERANKER", "none")
    rows = [{"id": name, "title": "", "text": text, "lang": "en"} for name, text in THINGS.items()]
    asked = [{"id": f"q-{name}", "text": text, "relevant": [name], "answers": [gold]} for name, (text, gold) in QUESTIONS.items()]
    asked.append({"id": "q-none", "text": "What do hedgehogs eat?", "answerable": False})  # type: ignore[dict-item] # a row like another
    for name, written in (("corpus.jsonl", rows), ("queries.jsonl", asked)):
        (home / name).write_text("\n".join(json.dumps(row) for row in written), encoding="utf-8")
    return home


async def test_a_labelled_folder_is_measured_through_the_whole_system(folder: Path) -> None:
    report = await measure(load(), Exam(folder, folder))

    assert report.as_json() | {"seconds": 0} == {
        "documents": 4,
        "questions": 5,
        "mrr@10": 1.0,
        "recall@5": 1.0,
        "recall@10": 1.0,
        "ndcg@10": 1.0,
        "answer_containment": 1.0,
        "abstention_auroc": 1.0,
        "citation_precision": report.citation_precision,
        "seconds": 0,
    }
    assert not (folder / ".footnote").exists()


async def test_documents_left_out_cannot_be_found(folder: Path) -> None:
    report = await measure(load(), Exam(folder, folder, leave_out=0.5, sample=4))

    assert (report.documents, report.questions) == (2, 4)
    assert report.abstention_auroc is not None


async def test_a_labelled_file_with_a_fault_names_the_line(folder: Path) -> None:
    with (folder / "queries.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"id": "x"}')

    with pytest.raises(Unreadable, match="line 6"):
        await measure(load(), Exam(folder, folder))


async def test_after_a_run_off_topic_questions_are_not_answered_and_others_are(folder: Path) -> None:
    documents = [LabelledDocument(name, "", text, "en") for name, text in THINGS.items()]
    async with assemble(load(), given={"things": [source_of(documents)]}) as footnote:
        await footnote.bring_up_to_date("things")
        thread = Thread(Place("terminal"), "t")
        told = await footnote.conversation.reply(thread, "How long is the rope?")
        untold = await footnote.conversation.reply(thread, "Which wine goes with grilled salmon?")

    assert "forty metres" in told.text
    assert untold.abstained
    assert folder


async def test_a_threshold_from_labelled_questions_is_kept_and_not_overwritten_by_a_rough_one(folder: Path) -> None:
    documents = [LabelledDocument(name, "", text, "en") for name, text in THINGS.items()]
    async with assemble(load(), given={"things": [source_of(documents)]}) as footnote:
        await footnote.bring_up_to_date("things")
        found = await footnote.calibrator.calibrate("things", Examples(["How long is the rope?"], ["Who owns the whale?"], "mine"))
        await footnote.calibrator.calibrate_roughly("things")
        kept = await footnote.catalog.remembered("calibration things")

    assert kept is not None
    assert (kept["threshold"], kept["source"]) == (found.threshold, "mine")
    assert found.answered == 1.0
    assert folder
