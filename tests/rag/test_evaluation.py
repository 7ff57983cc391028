import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import Unreadable
from rag.evaluation import Outcome, auroc, contains, evaluate, left_out, ndcg, recall, reciprocal_rank, report, sample
from rag.labelled import LabelledQuestion, read_documents, read_questions
from rag.types import Turn

SHARED = Path(__file__).parents[3] / "shared" / "eval"


def question(name: str, *relevant: str, answers: tuple[str, ...] = (), answerable: bool = True) -> LabelledQuestion:
    return LabelledQuestion(name, f"What is {name}?", relevant=frozenset(relevant), answers=answers, answerable=answerable)


def test_rank_measures_look_at_the_first_ten() -> None:
    found = ["x", "a", "y", "b", *map(str, range(10)), "c"]
    assert reciprocal_rank(found, {"a", "b"}) == 0.5
    assert reciprocal_rank(found, {"c"}) == 0.0
    assert recall(found, {"a", "b", "c"}, 2) == pytest.approx(1 / 3)
    assert ndcg(["a"], {"a"}) == 1.0
    assert ndcg(["x", "a"], {"a"}) == pytest.approx(0.6309, abs=1e-4)
    assert ndcg([], {"a"}) == 0.0


def test_auroc_counts_equal_scores_half() -> None:
    assert auroc([0.9, 0.8], [0.1]) == 1.0
    assert auroc([0.5], [0.5]) == 0.5
    assert auroc([0.1, 0.9], [0.5]) == 0.5
    assert auroc([], [0.5]) is None


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_auroc_is_the_share_of_pairs_in_order(positive: list[int], negative: list[int]) -> None:
    pairs = [(p > n) + (p == n) / 2 for p in positive for n in negative]
    assert auroc(positive, negative) == pytest.approx(sum(pairs) / len(pairs))


@pytest.mark.parametrize(
    ("text", "answer", "inside"),
    [
        ("They gave up just 308 points.", "308", True),
        ("They gave up 1308 points.", "308", False),
        ("it was the  New-York Jets!", "New York jets", True),
        ("防守只丢了 308 分。", "308分", True),
        ("他有 136次 擒杀", "136 次", True),
        ("no such thing", "", False),
    ],
)
def test_an_answer_is_contained_whatever_its_case_punctuation_and_spacing(text: str, answer: str, *, inside: bool) -> None:
    assert contains(text, [answer]) is inside


async def test_a_report_has_every_measure_that_the_labels_allow() -> None:
    outcomes = {
        "one": Outcome(("x", "x", "a"), 0.9, "It is forty two.", cited=("a", "x")),
        "two": Outcome(("b",), 0.8, "Nobody knows", abstained=True),
        "gone": Outcome(("x",), 0.2),
        "never": Outcome(("x",), 0.1),
    }

    async def ask(asked: LabelledQuestion) -> Outcome:
        return outcomes[asked.id]

    asked: list[int] = []
    questions = [
        question("one", "a", answers=("forty-two",)),
        question("two", "b", answers=("nobody",)),
        question("gone", "left-out"),
        question("never", answerable=False),
    ]
    made = await evaluate(questions, ask, indexed={"a", "b", "x"}, at_once=2, on_asked=asked.append)
    shown = made.as_json()
    assert shown.pop("seconds") is not None
    assert shown == {
        "documents": 3,
        "questions": 4,
        "mrr@10": 0.75,
        "recall@5": 1.0,
        "recall@10": 1.0,
        "ndcg@10": pytest.approx((1 + 0.6309) / 2, abs=1e-3),
        "answer_containment": 0.5,
        "abstention_auroc": 1.0,
        "citation_precision": 0.5,
    }
    assert asked == [1, 2, 3, 4]


def test_what_the_labels_do_not_allow_is_none() -> None:
    shown = report([question("free")], [Outcome(("a",))], indexed={"a"}).as_json()
    assert [name for name, value in shown.items() if value is None] == [
        "mrr@10",
        "recall@5",
        "recall@10",
        "ndcg@10",
        "answer_containment",
        "abstention_auroc",
        "citation_precision",
    ]


def test_samples_are_fixed_by_their_seed() -> None:
    ids = [str(at) for at in range(100)]
    assert left_out(ids, 0.5) == left_out(ids[::-1], 0.5)
    assert len(left_out(ids, 0.5)) == 50
    assert left_out(ids, 0.5, seed=1) != left_out(ids, 0.5)
    questions = [question(name) for name in ids]
    assert sample(questions, 10) == sample(questions, 10)
    assert [int(one.id) for one in sample(questions, 10)] == sorted(int(one.id) for one in sample(questions, 10))
    assert sample(questions, 1000) == questions


def test_a_history_is_read_as_turns() -> None:
    line = json.dumps({"id": "1", "text": "And then?", "history": [{"role": "user", "content": "Hello"}]})
    assert read_questions([line])[0].history == (Turn("user", "Hello"),)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 2 is not JSON"),
        ("[]", "line 2 is not a JSON object"),
        ('{"id": "x"}', 'line 2 has no "text"'),
        ('{"text": "x"}', 'line 2 has no "id"'),
        ('{"id": "x", "text": "y", "relevant": "z"}', 'line 2 has a "relevant" that is not a list of texts'),
        ('{"id": "x", "text": "y", "answerable": "no"}', 'line 2 has a "answerable" that is neither true nor false'),
        ('{"id": "x", "text": "y", "history": [{"role": "bot"}]}', 'line 2 has a "history" with a turn'),
    ],
)
def test_a_wrong_line_is_named_with_what_is_wrong(line: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_questions(['{"id": "1", "text": "fine?"}', line])
    assert reason in str(caught.value)


def test_a_document_without_text_or_with_the_id_of_another_is_refused() -> None:
    with pytest.raises(Unreadable, match='line 1 has no "text"'):
        read_documents(['{"id": "1", "title": "T", "text": " "}'])
    with pytest.raises(Unreadable, match='two documents have the id "1"'):
        read_documents(['{"id": "1", "text": "a"}', '{"id": "1", "text": "b"}'])
    with pytest.raises(Unreadable, match="not one line"):
        read_questions([])


@pytest.mark.skipif(not SHARED.is_dir(), reason="the labelled questions of ../shared/eval are not here")
@pytest.mark.parametrize("name", ["xquad_en", "xquad_zh", "xquad_es", "faquad_pt", "mtrag"])
def test_the_shared_sets_are_read(name: str) -> None:
    with (SHARED / name / "corpus.jsonl").open(encoding="utf-8") as corpus:
        ids = {document.id for document in read_documents(corpus)}
    with (SHARED / name / "queries.jsonl").open(encoding="utf-8") as queries:
        questions = read_questions(queries)
    assert all(one.relevant <= ids for one in questions)


@pytest.mark.parametrize(("answer", "held"), [("11", True), ("拿下", True), ("1", False), ("分，最", True), ("1 1", False)])
def test_a_number_within_chinese_text_is_a_word_of_its_own(answer: str, held: bool) -> None:  # noqa: FBT001 - the expectation
    assert contains("他拿下 11 分，最高。", [answer]) is held
