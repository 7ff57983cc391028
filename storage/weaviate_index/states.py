"""How the builds of a base stand: which is live (the alias says so), and which generation of it searches see."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter

from rag.types import Signature
from storage.weaviate_index.calls import CollectionGone, Starting
from storage.weaviate_index.naming import alias_of, key

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from storage.weaviate_index.server import Server

GRACE_SECONDS = 60.0  # so long a question that is under way may ask for passages of what was live before
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class State:
    """One build. `generation` is what searches of it see, 0 before the first; `published` are the newest ones, with when.

    `settled` says that every row there is can be found, so that searches need no filter: a run takes that back before it writes.
    `former` is the build that was live before it, of `former_dimension`, until that is removed.
    """

    build: str
    signature: Signature
    generation: int = 0
    settled: bool = False
    size: int = 0
    languages: tuple[str, ...] = ()
    published: tuple[tuple[int, float], ...] = ()
    former: str = ""
    former_dimension: int = 0
    retired: float = 0.0

    def purgeable(self) -> int:
        """What died by this generation is asked for by nobody any more."""
        before = time.time() - GRACE_SECONDS
        return max((generation for generation, when in self.published if when < before), default=0)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> State:
        values: dict[str, Any] = json.loads(text)
        values["signature"] = Signature(**values["signature"])
        values["languages"] = tuple(values["languages"])
        values["published"] = tuple((generation, when) for generation, when in values["published"])
        return cls(**values)


class States:
    """Of all bases. What was read last is kept: a search checks it while it searches."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[str, tuple[float, State | None]] = {}

    def alias(self, base: str) -> str:
        return alias_of(self._server.settings.name, self._server.settings.tenant, base)

    async def known(self, base: str, *, seconds: float) -> State | None:
        """The live build as it stood not longer than so many seconds ago."""
        when, state = self._known.get(base, (0.0, None))
        return state if state and time.monotonic() - when < seconds else await self.read(base)

    async def read(self, base: str) -> State | None:
        """The live build as it stands; None where there is none.

        While a build is not retired it is the live one still: one look at its state is enough.
        """
        _, before = self._known.get(base, (0.0, None))
        read = self._server.read
        state = await read(lambda: self.fetch(before.build)) if before else None
        if state is None or state.retired:
            build = await read(lambda: self._target(self.alias(base)))
            state = await read(lambda: self.fetch(build)) if build else None
        self._known[base] = time.monotonic(), state
        return state

    def forget(self, base: str) -> None:
        self._known.pop(base, None)

    async def live(self, base: str) -> str:
        return await self._server.write(lambda: self._target(self.alias(base)))

    async def of_base(self, base: str) -> Mapping[str, State]:
        """Every build that was begun, by its name."""
        mine = Filter.by_property("alias").equal(self.alias(base))
        found = await self._server.write(lambda: self._server.states.query.fetch_objects(filters=mine, limit=_MOST))
        states = [State.from_json(str(each.properties["state"])) for each in found.objects]
        return {state.build: state for state in states}

    async def fetch(self, build: str) -> State | None:
        found = await self._server.states.query.fetch_object_by_id(key("state", build), return_properties=["state"])
        return State.from_json(str(found.properties["state"])) if found else None

    async def put(self, base: str, state: State) -> None:
        held = {"alias": self.alias(base), "build": state.build, "state": state.to_json()}
        name = key("state", state.build)

        async def write() -> None:
            written = await self._server.states.data.insert_many([DataObject(held, uuid=name)])
            if written.has_errors:
                raise CollectionGone(f"The state of base {base!r} could not be written: {written.errors[0].message}")

        await self._server.write(write)
        self.forget(base)

    async def delete(self, base: str, build: str) -> None:
        await self._server.write(lambda: self._server.states.data.delete_by_id(key("state", build)))
        self.forget(base)

    async def switch(self, base: str, build: str) -> None:
        """All searches that begin from now on go to this build."""
        alias, client = self.alias(base), self._server.client

        async def write() -> None:
            found = await client.alias.get(alias_name=alias)
            if found is None:
                await client.alias.create(alias_name=alias, target_collection=build)
            elif found.collection != build:
                await client.alias.update(alias_name=alias, new_target_collection=build)

        await self._server.write(write)
        self.forget(base)

    async def _target(self, alias: str) -> str:
        found = await self._server.client.alias.get(alias_name=alias)
        if found is None and not await self._server.ready():
            raise Starting
        return found.collection if found else ""
