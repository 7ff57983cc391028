from __future__ import annotations

from uuid import RFC_4122, UUID

from rag.tracing import Trace


def test_every_run_has_an_id_of_its_own_that_reads_as_a_random_uuid() -> None:
    made = [Trace("question").id for _ in range(200)]
    read = [UUID(each) for each in made]
    assert [str(each) for each in read] == made
    assert {(each.version, each.variant) for each in read} == {(4, RFC_4122)}
    assert len(set(made)) == len(made)
    assert {each.hex[16] for each in read} == set("89ab")
