"""Which build a run writes: the live one where its signature is equal, else one that was begun beside it, else a new one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from storage.weaviate_index.naming import is_build_of, new_build
from storage.weaviate_index.states import GRACE_SECONDS, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag.types import Signature
    from storage.weaviate_index.server import Server
    from storage.weaviate_index.states import States


class Choice(NamedTuple):
    """`relative` names the live build where its vectors fit the one that is written beside it, else it is ""."""

    state: State
    live: str
    relative: str


async def chosen(server: Server, states: States, base: str, signature: Signature, *, anew: bool) -> Choice:
    await server.make_states()
    live, begun = await states.live(base), await states.of_base(base)
    state = None if anew else _fitting(begun, live, signature)
    if state is None:
        state = State(new_build(states.alias(base)), signature)
        await server.make_build(state.build)
        await states.put(base, state)
    await _sweep(server, states, base, begun, {live, state.build})
    relative = begun.get(live)
    fits = relative is not None and state.build != live and not anew and _same_vectors(relative.signature, signature)
    return Choice(state, live, live if fits else "")


def _fitting(begun: Mapping[str, State], live: str, signature: Signature) -> State | None:
    """A build that was live once is not taken up again: nobody has kept it up to date since."""
    if live in begun and begun[live].signature == signature:
        return begun[live]
    beside = (state for name, state in begun.items() if state.signature == signature and name != live and not state.retired)
    return next(beside, None)


def _same_vectors(one: Signature, other: Signature) -> bool:
    return (one.embedder, one.dimension) == (other.embedder, other.dimension)


async def _sweep(server: Server, states: States, base: str, begun: Mapping[str, State], kept: set[str]) -> None:
    """Remove builds that nobody writes or searches: not one that was live a moment ago."""
    recent = time.time() - GRACE_SECONDS
    kept |= {name for name, state in begun.items() if state.retired > recent}
    client, alias = server.client, states.alias(base)
    for name in await server.write(client.collections.list_all):
        if is_build_of(alias, name) and name not in kept:
            await server.write(lambda name=name: client.collections.delete(name))  # type: ignore[misc] # bound now
    for name in begun.keys() - kept:
        await states.delete(base, name)
