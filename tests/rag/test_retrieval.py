import json
from collections.abc import Sequence
from dataclasses import replace
from struct import pack

import pytest

from rag.coverage import Word
from rag.errors import ModelUnavailable
from rag.fusion import Searched, fuse, normalised
from rag.languages import likeliest
from rag.lexical import terms
from rag.relevance import LEAST, blended, by_standing
from rag.retrieval import Found, RetrievalSettings, Retriever
from rag.selection import within_budget
from rag.tracing import Trace
from rag.types import Candidate, Indexed, Lookup, Match, Passage, Signature, Vector
from tests.fakes.indexes import MemoryIndex

ALONE = RetrievalSettings(expansion="none")
DIRECTIONS = {"cats": (1.0, 0.0, 0.0), "dogs": (0.0, 1.0, 0.0), "birds": (0.0, 0.0, 1.0)}


def pointing(text: str) -> Vector:
    """A vector by the animals that a text is about, in whichever language."""
    about = [sum(word in text.lower() for word in words) for words in (("cat", "katze", "猫"), ("dog", "hund"), ("bird", "vogel"))]
    length = sum(value * value for value in about) ** 0.5 or 1.0
    return pack("<3f", *(value / length for value in about))


class AnimalEmbedder:
    name = "animals"
    dimension = 3

    def __init__(self, *, fails: bool = False) -> None:
        self._fails = fails

    async def embed_question(self, text: str) -> Vector:
        if self._fails:
            raise ModelUnavailable("the embedder is away")
        return pointing(text)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return [pointing(text) for text in texts]


class ScriptedReranker:
    name = "scripted"

    def __init__(self, scores: dict[str, float | None], *, fails: bool = False, absolute: bool = False) -> None:
        self.absolute = absolute
        self._scores = scores
        self._fails = fails
        self.asked: list[list[str]] = []

    async def rerank(self, question: str, passages: Sequence[Passage], *, seconds: float) -> list[float | None]:
        assert question
        assert seconds > 0
        self.asked.append([passage.document for passage in passages])
        if self._fails:
            raise ModelUnavailable("the reranker is away")
        return [self._scores.get(passage.document, 0.0) for passage in passages]


def indexed(document: str, text: str, *, base: str = "b", vector: bool = True, ordinal: int = 0) -> Indexed:
    passage = Passage(f"{document}#{ordinal}", base, document, ordinal, text, terms=" ".join(terms(text, "en")), language="en")
    return Indexed(passage, pointing(text) if vector else None)


def asked(text: str) -> Lookup:
    return Lookup(text, ((text, 1),), text)


def documents(found: Found) -> list[str]:
    return [match.passage.document for match in found.matches]


ANIMALS = (
    indexed("cat-food", "A cat eats fish and drinks water every morning"),
    indexed("cat-sleep", "Cats sleep for sixteen hours of a day"),
    indexed("dog-food", "A dog eats meat and drinks water"),
    indexed("bird", "Birds fly to the south in autumn"),
)


async def test_words_and_sense_together_put_the_right_passage_first() -> None:
    retriever = Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), None, ALONE)
    found = await retriever.find(asked("What does a cat eat?"), ["b"], Trace("question"))
    assert documents(found)[:2] == ["cat-food", "cat-sleep"]
    assert found.matches[0].scores.keys() >= {"bm25", "cosine", "coverage", "fused"}
    assert 0 < found.relevance <= 1


async def test_a_question_in_another_language_finds_by_sense_alone() -> None:
    index = MemoryIndex(*ANIMALS)
    found = await Retriever(index, AnimalEmbedder(), None, ALONE).find(asked("Was frisst ein Hund?"), ["b"], Trace("question"))
    assert documents(found)[0] == "dog-food"
    assert found.relevance > 0.3  # no word in common is no reason to call it irrelevant


async def test_of_translations_the_one_in_the_language_to_answer_in_is_found_and_the_others_are_noted() -> None:
    english = indexed("guide/cat.md", "A cat sleeps on the sofa")
    german = indexed("guide/de/cat.md", "Eine Katze schläft auf dem Sofa")
    index = MemoryIndex(english, replace(german, passage=german.passage._replace(language="de")))
    retriever, trace = Retriever(index, AnimalEmbedder(), None, ALONE), Trace("question")

    found = await retriever.find(asked("Wo schläft die cat Katze?"), ["b"], trace, language="de")

    assert documents(found) == ["guide/de/cat.md"]
    assert trace.run().steps[-1].notes["copies"] == [{"id": "guide/cat.md#0", "of": "guide/de/cat.md#0"}]
    assert len(documents(await retriever.find(asked("Wo schläft die cat Katze?"), ["b"], trace))) == 2


async def test_where_a_question_is_as_likely_in_two_languages_the_translation_that_fits_best_is_taken() -> None:
    spanish = indexed("es/install.md", "Marejada es un servidor de gatos")
    portuguese = indexed("pt/install.md", "Para atualizar o Marejada, como se diz, atualizo tudo")
    index = MemoryIndex(
        *(replace(each, passage=each.passage._replace(language=each.passage.document[:2])) for each in (spanish, portuguese))
    )
    question = asked("Como atualizo o Marejada?")

    found = await Retriever(index, None, None, ALONE).find(question, ["b"], Trace("question"), language="es")

    assert set(likeliest(question.question)) >= {"es", "pt"}
    assert documents(found) == ["pt/install.md"]


async def test_it_finds_by_words_where_there_is_no_embedder() -> None:
    index = MemoryIndex(*(replace(each, vector=None) for each in ANIMALS))
    found = await Retriever(index, None, None, ALONE).find(asked("Where do birds fly?"), ["b"], Trace("question"))
    assert documents(found) == ["bird"]
    assert index.searches[0][1].vector is None


async def test_an_embedder_that_fails_is_done_without_and_noted() -> None:
    trace = Trace("question")
    found = await Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(fails=True), None, ALONE).find(
        asked("Where do birds fly?"), ["b"], trace
    )
    assert documents(found) == ["bird"]
    assert trace.run().steps[0].notes["without_embedder"] == "the embedder is away"


async def test_nothing_found_gives_nothing() -> None:
    found = await Retriever(MemoryIndex(), AnimalEmbedder(), None).find(asked("anything"), ["b"], Trace("question"))
    assert found == Found()


async def test_texts_of_a_lookup_are_searched_as_often_as_they_weigh() -> None:
    index = MemoryIndex(*ANIMALS)
    lookup = Lookup("How long?", (("how long sleep", 3), ("cats", 1)), "how long do cats sleep", "expanded")
    await Retriever(index, None, None, ALONE).find(lookup, ["b"], Trace("question"))
    counted = index.searches[0][1].terms
    assert counted.count("sleep") == 3
    assert counted.count("cats") == 1


async def test_several_bases_are_ranked_together() -> None:
    index = MemoryIndex(
        indexed("in-a", "Cats chase mice", base="a"), indexed("in-c", "Dogs chase cats and cats chase dogs", base="c")
    )
    found = await Retriever(index, AnimalEmbedder(), None, ALONE).find(
        asked("Which animals chase cats?"), ["a", "c"], Trace("question")
    )
    assert {match.passage.base for match in found.matches} == {"a", "c"}
    assert [match.score for match in found.matches] == sorted((match.score for match in found.matches), reverse=True)


async def test_a_base_named_twice_is_searched_once() -> None:
    index = MemoryIndex(*ANIMALS)
    await Retriever(index, None, None, ALONE).find(asked("cats"), ["b", "b"], Trace("question"))
    assert len(index.searches) == 1


# --- fusion ---------------------------------------------------------------------------------------------------------


def candidate(name: str, bm25: float, cosine: float, matched: str = "") -> Candidate:
    return Candidate(name, bm25, cosine, 1 if bm25 else 0, 1 if cosine > 0.7 else 0, frozenset(matched.split()))


def searched(letters: str, *candidates: Candidate) -> Searched:
    return Searched("b", [Word((letter,), 1) for letter in letters], candidates)


def test_both_raw_scores_of_every_candidate_count() -> None:
    found = searched("ab", candidate("words", 9.0, 0.5, "a b"), candidate("both", 8.0, 0.8, "a b"), candidate("sense", 0.0, 0.9))
    fused = fuse([found], alpha=0.6, coverage=0.4)
    assert fused.trust == 1.0
    assert [each.candidate.id for each in fused.ranked()] == ["both", "words", "sense"]
    assert fused.ranked()[0].score == pytest.approx(0.6 * 8 / 9 + 0.4 * 0.75)


@pytest.mark.parametrize(("letters", "trust"), [("xy", 1.0), ("xyabc", 1.0), ("xyabcdefgh", 0.5), ("xyabcdefghijklmnopqr", 0.25)])
def test_the_lexical_weight_grows_with_how_much_of_the_question_is_found(letters: str, trust: float) -> None:
    fused = fuse([searched(letters, candidate("one", 3.0, 0.2, "x y"), candidate("two", 0.0, 0.9))], 0.6, 0.4)
    assert fused.trust == pytest.approx(trust)
    assert {each.candidate.id: each.score for each in fused.ranked()} == pytest.approx({"one": 0.6 * trust, "two": 1 - 0.6 * trust})


def test_only_the_best_five_lexical_matches_tell_the_coverage() -> None:
    poor = [candidate(str(at), 9.0 - at, 0.8, "x") for at in range(1, 6)]
    late = candidate("late", 1.0, 0.1, "x y z")
    assert fuse([searched("xyz", *poor, late)], 1.0, 1.0).trust == pytest.approx(1 / 3)


def test_equal_scores_are_all_at_the_top() -> None:
    assert normalised([2.0, 2.0]) == [1.0, 1.0]
    assert normalised([]) == []


# --- reranking ------------------------------------------------------------------------------------------------------


async def test_a_reranker_changes_the_order() -> None:
    reranker = ScriptedReranker({"cat-sleep": 0.9, "cat-food": 0.2})
    index = MemoryIndex(*ANIMALS)
    found = await Retriever(index, AnimalEmbedder(), reranker, ALONE).find(asked("How long do cats eat?"), ["b"], Trace("question"))
    assert documents(found)[0] == "cat-sleep"
    assert found.matches[0].scores["rerank"] == 0.9


async def test_only_the_first_are_reranked_and_they_stay_before_the_others() -> None:
    reranker = ScriptedReranker({"cat-food": -1.0})
    settings = replace(ALONE, rerank_k=1)
    found = await Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), reranker, settings).find(
        asked("What does a cat eat?"), ["b"], Trace("question")
    )
    assert reranker.asked == [["cat-food"]]
    assert documents(found)[0] == "cat-food"


async def test_a_reranker_that_fails_is_skipped_and_noted() -> None:
    trace = Trace("question")
    retriever = Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), ScriptedReranker({}, fails=True), ALONE)
    found = await retriever.find(asked("What does a cat eat?"), ["b"], trace)
    assert documents(found)[0] == "cat-food"
    assert next(step for step in trace.run().steps if step.name == "rerank").notes["skipped"] == "the reranker is away"


def ranked(*scores: float) -> list[Match]:
    return [
        Match(Passage(str(at), "b", str(at), 0, ""), score, 0.0, {"cosine": 0.5, "coverage": 0.5, "trust": 1.0})
        for at, score in enumerate(scores)
    ]


def test_passages_that_had_no_time_left_keep_their_place() -> None:
    order = [match.passage.id for match in blended(ranked(1.0, 0.6, 0.2), [None, None, None])]
    assert order == ["0", "1", "2"]
    order = [match.passage.id for match in blended(ranked(1.0, 0.6, 0.2), [0.1, 0.9, None])]
    assert order == ["1", "0", "2"]


def test_the_reranker_counts_a_little_more_than_the_order_so_far() -> None:
    assert [match.passage.id for match in blended(ranked(1.0, 0.0), [0.0, 1.0])] == ["1", "0"]
    assert [match.passage.id for match in blended(ranked(1.0, 0.5, 0.0), [0.6, 0.5, 1.0])] == ["2", "0", "1"]


def test_blended_scores_stay_above_the_floor() -> None:
    assert min(match.score for match in blended(ranked(1.0, 0.9, 0.8), [0.0, 1.0, 0.5], floor=0.7)) >= 0.7


# --- threshold ------------------------------------------------------------------------------------------------------


async def test_what_is_below_the_threshold_is_cut_and_offered_as_nearest() -> None:
    trace = Trace("question")
    retriever = Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), None, replace(ALONE, threshold=0.99))
    found = await retriever.find(asked("What do cats cost in Paris?"), ["b"], trace)
    assert found.matches == ()
    assert found.nearest[0].passage.document in {"cat-food", "cat-sleep"}
    assert found.relevance < 0.99
    below = trace.run().steps[-1].notes["below_threshold"]
    assert isinstance(below, dict)
    assert len(below["id"]) == len(ANIMALS)


async def test_a_calibrated_threshold_is_that_of_the_passages_base() -> None:
    settings = replace(ALONE, thresholds={"b": 0.99})
    found = await Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), None, settings).find(asked("cats in Paris"), ["b"], Trace("q"))
    assert found.matches == ()
    settings = replace(settings, threshold=0.0)
    found = await Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), None, settings).find(asked("cats in Paris"), ["b"], Trace("q"))
    assert found.matches


async def test_the_threshold_is_lower_for_a_question_in_a_language_that_the_base_does_not_hold() -> None:
    """Nothing but meaning finds what it asks for; a threshold that the operator set is as they set it."""
    index, embedder = MemoryIndex(*ANIMALS), AnimalEmbedder()
    question = asked("Was frisst meine Katze, wenn sie nicht hungrig ist?")
    relevance = (await Retriever(index, embedder, None, ALONE).find(question, ["b"], Trace("q"))).relevance
    above = relevance * 1.2

    found = await Retriever(index, embedder, None, replace(ALONE, thresholds={"b": above})).find(question, ["b"], Trace("q"))
    assert documents(found)
    found = await Retriever(index, embedder, None, replace(ALONE, threshold=above)).find(question, ["b"], Trace("q"))
    assert not found.matches


async def test_a_follow_up_is_as_relevant_as_what_it_brings_itself_is_found() -> None:
    retriever = Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), None, ALONE)

    async def relevance(question: str) -> float:
        lookup = Lookup(question, ((question, 3), ("What does a cat eat? fish water morning", 1)), "cat", "expanded")
        return (await retriever.find(lookup, ["b"], Trace("question"))).relevance

    assert await relevance("parking") < 0.7 * await relevance("and why?")


async def test_what_a_follow_up_points_back_to_counts_as_what_it_brings_itself() -> None:
    retriever = Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), None, ALONE)

    async def relevance(weight: int) -> float:
        lookup = Lookup("its cat?", (("its cat?", 3), ("zebra unicorn", weight)), "cat", "expanded")
        return (await retriever.find(lookup, ["b"], Trace("question"))).relevance

    assert await relevance(3) < 0.9 * await relevance(2)


async def test_a_passage_without_any_of_the_words_that_are_needed_is_no_match() -> None:
    retriever = Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), None, ALONE)

    def lookup(*needed: str) -> Lookup:
        return Lookup("cat food", (("cat food", 1),), "cat", "expanded", frozenset(needed))

    assert (await retriever.find(lookup(), ["b"], Trace("question"))).matches
    assert (await retriever.find(lookup("zebra", "cat"), ["b"], Trace("question"))).matches
    assert not (await retriever.find(lookup("zebra"), ["b"], Trace("question"))).matches


async def test_relevance_is_that_of_the_most_relevant_passage_wherever_it_ranks() -> None:
    reranker = ScriptedReranker({"bird": 0.9, "cat-food": 0.1})
    found = await Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), reranker, ALONE).find(
        asked("What does a cat eat?"), ["b"], Trace("question")
    )
    assert found.relevance == max(match.relevance for match in found.matches)
    assert found.relevance > found.matches[0].relevance


def test_what_ranks_far_below_the_first_is_less_relevant() -> None:
    matches = [match._replace(relevance=0.6) for match in ranked(1.0, 0.5, 0.0)]
    assert [match.relevance for match in by_standing(matches)] == pytest.approx([0.6, 0.6 * 0.5**0.25, 0.0])
    assert by_standing(ranked(0.0, 0.0)) == ranked(0.0, 0.0)


# --- copies ---------------------------------------------------------------------------------------------------------

MANUAL = (
    "The backup of the database is made every night at {} by the server and kept for thirty days in the vault of the second site, \
where the people of the operations team can restore it within an hour after somebody has asked for it in the ticket queue."
)


async def test_the_same_text_from_two_places_is_one_match_with_both() -> None:
    index = MemoryIndex(*ANIMALS, indexed("cat-food-again", ANIMALS[0].passage.text))
    trace = Trace("question")
    found = await Retriever(index, AnimalEmbedder(), None, ALONE).find(asked("What does a cat eat?"), ["b"], trace)
    assert [copy.document for copy in found.matches[0].copies] == ["cat-food-again"]
    assert documents(found).count("cat-food") + documents(found).count("cat-food-again") == 1
    assert trace.run().steps[-1].notes["copies"] == [{"id": "cat-food-again#0", "of": "cat-food#0"}]


async def test_near_copies_do_not_crowd_out_other_passages() -> None:
    versions = [indexed(f"version-{at}", MANUAL.format(f"{at} o'clock")) for at in range(30)]
    other = indexed("other", "A backup can be restored with the restore command")
    settings = replace(ALONE, k=4)
    found = await Retriever(MemoryIndex(*versions, other), None, None, settings).find(
        asked("How is a backup of the database restored?"), ["b"], Trace("question")
    )
    assert "other" in documents(found)
    assert sum(name.startswith("version") for name in documents(found)) == 3


async def test_passages_that_differ_in_a_number_are_no_copies_of_each_other() -> None:
    """What is kept for thirty days here and for sixty there is told of both; what is the same but for a word is one."""
    given = [indexed("here", MANUAL.format("3")), indexed("there", MANUAL.format("4")), indexed("again", MANUAL.format("3 sharp"))]
    found = await Retriever(MemoryIndex(*given), None, None, ALONE).find(asked("Is there a backup?"), ["b"], Trace("question"))

    assert sorted(documents(found)) == ["here", "there"]
    assert {match.passage.document: [copy.document for copy in match.copies] for match in found.matches} == {
        "here": ["again"], "there": []
    }  # fmt: skip


async def test_near_copies_that_differ_in_what_was_asked_both_stay() -> None:
    index = MemoryIndex(indexed("one", MANUAL.format("midnight")), indexed("two", MANUAL.format("noon")))
    found = await Retriever(index, None, None, ALONE).find(asked("Which backup is made at noon?"), ["b"], Trace("question"))
    assert documents(found)[0] == "two"
    assert not found.matches[0].copies


# --- budget ---------------------------------------------------------------------------------------------------------


def sized(*texts: str) -> list[Match]:
    return [Match(Passage(str(at), "b", str(at), 0, text), 1.0 - at / 10) for at, text in enumerate(texts)]


def test_passages_are_dropped_from_the_lowest_end_until_they_fit() -> None:
    kept, dropped, was_cut = within_budget(sized("word " * 20, "word " * 20, "word " * 20), 65, {})
    assert ([match.passage.id for match in kept], dropped, was_cut) == (["0", "1"], ["2"], False)


def test_a_first_passage_that_is_too_long_alone_is_cut_never_dropped() -> None:
    kept, dropped, was_cut = within_budget(sized("word " * 1000, "short"), 50, {})
    assert was_cut
    assert dropped == ["1"]
    assert 0 < len(kept[0].passage.text) < 200


def test_a_first_passage_gives_up_its_neighbours_before_its_own_text() -> None:
    hit = sized("the hit itself")[0]
    grown = hit._replace(passage=hit.passage._replace(text="before " * 500 + hit.passage.text))
    kept, _, _ = within_budget([grown], 20, {"0": hit})
    assert kept[0].passage.text == "the hit itself"


# --- traces ---------------------------------------------------------------------------------------------------------


async def test_every_note_of_a_trace_is_a_json_value() -> None:
    trace = Trace("question")
    await Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), ScriptedReranker({"bird": None}), RetrievalSettings(k=2)).find(
        asked("What does a cat eat?"), ["b"], trace
    )
    steps = trace.run().steps
    assert [step.name for step in steps] == ["search", "rerank", "select"]
    for step in steps:
        assert json.loads(json.dumps(step.notes)) == step.notes
    assert {"terms", "trust", "candidates"} <= steps[0].notes.keys()
    assert {"kept", "copies", "below_threshold", "over_budget"} <= steps[-1].notes.keys()


async def test_no_more_passages_are_read_than_can_matter() -> None:
    index = MemoryIndex(*(indexed(f"d{at}", f"Cats number {at} {'and more ' * at}") for at in range(80)))
    await Retriever(index, AnimalEmbedder(), None, replace(ALONE, k=3)).find(asked("cats"), ["b"], Trace("question"))
    assert len(index.fetched) < 15


# --- reranking with scores that mean the same for every question, and an embedder that is away ----------------------


async def test_the_threshold_cuts_on_an_absolute_rerankers_scores() -> None:
    reranker = ScriptedReranker({"cat-food": 0.4, "cat-sleep": 0.1}, absolute=True)
    settings = replace(ALONE, thresholds={"b": 0.3})

    found = await Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), reranker, settings).find(asked("cats?"), ["b"], Trace("q"))

    assert documents(found) == ["cat-food"]
    assert (found.relevance, found.judged) == (0.4, True)


async def test_where_an_absolute_reranker_fails_its_threshold_does_not_count() -> None:
    settings = replace(ALONE, thresholds={"b": 0.99})
    reranker = ScriptedReranker({}, fails=True, absolute=True)

    found = await Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), reranker, settings).find(
        asked("What does a cat eat?"), ["b"], Trace("q")
    )

    assert documents(found)[0] == "cat-food"
    assert not found.judged


@pytest.mark.parametrize(("set_to", "counts"), [(None, LEAST), (0.9, LEAST), (0.02, LEAST), (0.0, 0.0)])
async def test_what_an_absolute_reranker_did_not_judge_is_cut_where_any_base_would_be(set_to: float | None, counts: float) -> None:
    """A number on the reranker's scale means nothing on ours; 0 cuts nothing on either."""
    settings, trace = replace(ALONE, threshold=set_to, thresholds={"b": 0.99}), Trace("question")
    reranker = ScriptedReranker({}, fails=True, absolute=True)

    found = await Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(), reranker, settings).find(asked("cats?"), ["b"], trace)

    notes = trace.run().steps[-1].notes
    assert notes["thresholds"] == {"b": counts}
    assert all(match.relevance >= counts for match in found.matches)


async def test_a_question_in_a_language_that_the_base_does_not_hold_needs_less_when_it_was_not_judged_too() -> None:
    settings = RetrievalSettings(thresholds={"b": 0.99})

    assert settings.threshold_of("b", foreign=True, unjudged=True) == pytest.approx(0.7 * LEAST)
    assert settings.threshold_of("b", foreign=True) == pytest.approx(0.7 * 0.99)


async def test_vectors_of_two_embedders_never_meet() -> None:
    index, trace = MemoryIndex(*ANIMALS), Trace("question")
    index.made_with = Signature("another", 3, "", "")

    found = await Retriever(index, AnimalEmbedder(), None, ALONE).find(asked("What does a cat eat?"), ["b"], trace)

    assert index.searches[0][1].vector is None
    assert documents(found)[0] == "cat-food"
    assert trace.run().steps[0].notes["without_embedder"] == "base b was indexed with another, not with animals"


async def test_an_embedder_that_is_away_makes_no_passage_less_relevant_than_its_words_are() -> None:
    question, settings = asked("What does a cat eat?"), replace(ALONE, thresholds={"b": 0.5})

    blind = await Retriever(MemoryIndex(*ANIMALS), AnimalEmbedder(fails=True), None, settings).find(question, ["b"], Trace("q"))
    without = await Retriever(MemoryIndex(*ANIMALS), None, None, settings).find(question, ["b"], Trace("q"))

    assert documents(blind)[0] == "cat-food"
    assert blind.relevance > without.relevance
