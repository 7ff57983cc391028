"""Which knowledge bases a place may search (R35–R37), and which of them a question is about (R36)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag.errors import BadQuestion, BadSetting, ModelError
from rag.types import Prompt, Sampling
from rag.writing import written

if TYPE_CHECKING:
    from collections.abc import Collection, MutableMapping, Sequence

    from rag.ports import Writer
    from rag.prompting import Prompts
    from rag.types import Place

NONE: Final = "none"  # what the model says where no description fits
CHOOSING: Final = Sampling(temperature=0.0, max_tokens=50, seconds=10.0)


@dataclass(frozen=True, slots=True)
class Base:
    """A knowledge base as routing sees it. A restricted one is searched only where a route names it."""

    name: str
    description: str = ""
    restricted: bool = False
    default: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """Where these bases are searched. What is left empty holds for all; `role` is one that the asking person has."""

    bases: tuple[str, ...]
    platform: str = ""
    workspace: str = ""
    channel: str = ""
    role: str = ""
    direct: bool = False

    @property
    def keys(self) -> tuple[str, str, bool, str, str]:
        """What narrows the route, the narrowest first."""
        return (self.role, self.channel, self.direct, self.workspace, self.platform)

    @property
    def specificity(self) -> tuple[bool, ...]:
        return tuple(map(bool, self.keys))

    def fits(self, place: Place, roles: Collection[str]) -> bool:
        return (
            self.platform in {"", place.platform}
            and self.workspace in {"", place.workspace}
            and self.channel in {"", place.channel}
            and (not self.role or self.role in roles)
            and (place.direct or not self.direct)
        )

    def __str__(self) -> str:
        named = {"platform": self.platform, "workspace": self.workspace, "channel": self.channel, "role": self.role}
        parts = [f"{key} = {value}" for key, value in named.items() if value] + ["dm = true"] * self.direct
        return f"the route ({', '.join(parts) or 'no place'} -> {', '.join(self.bases) or 'no base'})"


class Routes:
    """All bases and routes, checked when made. Raises BadSetting, naming what contradicts what."""

    def __init__(self, bases: Sequence[Base], routes: Sequence[Route] = ()) -> None:
        self.bases = tuple(bases)
        self.default = _default(bases)
        self._by_name = {base.name: base for base in bases}
        self._routes = tuple(routes)
        _check_names(bases)
        for route in routes:
            self._check(route)
        _check_places(routes)

    def allowed(self, place: Place, roles: Collection[str] = ()) -> tuple[str, ...]:
        """The names of the bases that may be searched there, by a person with these roles; () where there is none.

        The narrowest route that fits decides; several that are equally narrow (two roles) are united.
        """
        fitting = [route for route in self._routes if route.fits(place, roles)]
        if not fitting:
            return () if self.default.restricted else (self.default.name,)
        narrowest = max(route.specificity for route in fitting)
        named = (name for route in fitting if route.specificity == narrowest for name in route.bases)
        return tuple(dict.fromkeys(named))

    def choosable(self, place: Place, roles: Collection[str] = ()) -> tuple[str, ...]:
        """The names of the bases that may be asked for there by name: those, and whatever is not restricted."""
        open_to_all = (base.name for base in self.bases if not base.restricted)
        return tuple(dict.fromkeys([*self.allowed(place, roles), *open_to_all]))

    def warnings(self) -> list[str]:
        """What cannot be meant, yet stops nothing."""
        routed = {name for route in self._routes for name in route.bases}
        return [
            f"The base {base.name} is restricted and no route names it: it is searched nowhere."
            for base in self.bases
            if base.restricted and base.name not in routed
        ]

    def _check(self, route: Route) -> None:
        if not any(route.specificity):
            raise BadSetting(f"{_capital(route)} names no place. Give it a platform, workspace, channel, role or dm = true.")
        if not route.bases:
            raise BadSetting(f"{_capital(route)} names no base. Give it bases = [...].")
        for name in route.bases:
            if name not in self._by_name:
                known = ", ".join(self._by_name)
                raise BadSetting(f"{_capital(route)} names the base {name!r}, which does not exist. There are: {known}.")


class Router:
    """Which bases a question is looked up in: those its place may search or, `by_subject`, the one of them it is about."""

    def __init__(
        self,
        routes: Routes,
        writer: Writer | None,
        prompts: Prompts,
        *,
        by_subject: bool = False,
        silent_errors: bool = False,
    ) -> None:
        self.routes = routes
        self._writer = writer if by_subject else None
        self._prompts = prompts
        self._silent_errors = silent_errors

    async def route(
        self,
        question: str,
        place: Place,
        roles: Collection[str] = (),
        notes: MutableMapping[str, object] | None = None,
        *,
        base: str = "",
    ) -> tuple[str, ...]:
        """Names of bases; () where nothing may be searched. `base` was asked for by name.

        Raises ModelError, unless `silent_errors`, and BadQuestion for a base that may not be asked for there.
        """
        if base:
            return (self._asked_for(base, place, roles),)
        allowed = self.routes.allowed(place, roles)
        try:
            chosen = await choose(question, self.routes, allowed, self._writer, self._prompts)
        except ModelError as error:
            if not self._silent_errors:
                raise
            chosen = _fallback(self.routes, allowed)
            if notes is not None:
                notes["failed"] = str(error)
        return chosen

    def _asked_for(self, base: str, place: Place, roles: Collection[str]) -> str:
        """One that may not be asked for is not told apart from one that does not exist (R37)."""
        known = self.routes.choosable(place, roles)
        if base in known:
            return base
        told = f"I know no documents called {base!r} here. There are: {', '.join(known) or 'none'}."
        raise BadQuestion(f"The base {base!r} cannot be asked here.", user_message=told)


async def choose(question: str, routes: Routes, allowed: Sequence[str], writer: Writer | None, prompts: Prompts) -> tuple[str, ...]:
    """The one of the allowed bases that the question is about, by their descriptions.

    Where the model says that none is: the default, or all that are allowed where the default is not among them. All of
    them, too, where there is nothing to choose or no model to do it. Raises ModelError, also for a name that does not exist.
    """
    if len(allowed) < 2 or writer is None or not writer.is_model:  # noqa: PLR2004 - one leaves no choice
        return tuple(allowed)
    bases = [base for base in routes.bases if base.name in allowed]
    user = prompts.route(question, [(base.name, base.description) for base in bases])
    said = await written(writer, Prompt("", user, sampling=CHOOSING))
    return _named(said.text, bases, _fallback(routes, allowed))


def _fallback(routes: Routes, allowed: Sequence[str]) -> tuple[str, ...]:
    return (routes.default.name,) if routes.default.name in allowed else tuple(allowed)


def _named(reply: str, bases: Sequence[Base], fallback: tuple[str, ...]) -> tuple[str, ...]:
    said = reply.strip().strip("\"'`*“”‘’<>[].:").strip().casefold()
    for base in bases:
        if said == base.name.casefold():
            return (base.name,)
    if said == NONE:
        return fallback
    known = ", ".join(base.name for base in bases)
    raise ModelError(f"Asked which knowledge base to search, the model named {reply.strip()[:80]!r}. There are: {known}.")


def _default(bases: Sequence[Base]) -> Base:
    if not bases:
        raise BadSetting("There is no knowledge base. Name one as [bases.NAME], with its sources.")
    chosen = [base for base in bases if base.default]
    if len(chosen) > 1:
        raise BadSetting(f"The bases {chosen[0].name} and {chosen[1].name} both say default = true. Only one can be the default.")
    return chosen[0] if chosen else bases[0]


def _check_names(bases: Sequence[Base]) -> None:
    seen: set[str] = set()
    for base in bases:
        if not base.name.strip() or base.name.casefold() == NONE:
            raise BadSetting(f"A base cannot be called {base.name!r}. Give it another name.")
        if base.name.casefold() in seen:
            raise BadSetting(f"Two bases are called {base.name}. Give one of them another name.")
        seen.add(base.name.casefold())


def _check_places(routes: Sequence[Route]) -> None:
    seen: dict[tuple[object, ...], Route] = {}
    for route in routes:
        if (other := seen.setdefault(route.keys, route)) is not route:
            raise BadSetting(f"{_capital(other)} and {route} are for one place. Make them one.")


def _capital(route: Route) -> str:
    return f"T{str(route)[1:]}"
