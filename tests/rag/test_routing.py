from __future__ import annotations

import pytest

from rag.errors import BadQuestion, BadSetting, ModelError, ModelUnavailable
from rag.prompting import Prompts
from rag.routing import Base, Route, Router, Routes
from rag.types import Place
from tests.fakes.writers import ScriptedWriter

PROMPTS = Prompts.load()
HANDBOOK = Base("handbook", "How we work here: holidays, expenses.")
API = Base("api", "The HTTP interface and its errors.")
SALARIES = Base("salaries", "What people earn.", restricted=True)
BASES = (HANDBOOK, API, SALARIES)

ANYWHERE = Place("slack", "T1", "C9")
ENGINEERING = Place("slack", "T1", "C1")
DIRECT = Place("slack", "T1", "D1", direct=True)


# --- places ---------------------------------------------------------------------------------------------------------


def test_a_place_without_a_route_gets_the_first_base() -> None:
    assert Routes(BASES).allowed(ANYWHERE) == ("handbook",)


def test_a_base_may_say_that_it_is_the_default() -> None:
    assert Routes((HANDBOOK, Base("api", default=True))).allowed(ANYWHERE) == ("api",)


@pytest.mark.parametrize(
    ("place", "roles", "expected"),
    [
        (ANYWHERE, (), ("handbook",)),
        (Place("discord", "T1", "C1"), (), ("handbook",)),
        (Place("slack", "T2", "C9"), (), ("platform",)),
        (Place("slack", "T1", "C9"), ("guest",), ("handbook",)),
        (ENGINEERING, (), ("channel",)),
        (DIRECT, (), ("direct",)),
        (ANYWHERE, ("boss",), ("role",)),
        (ENGINEERING, ("boss",), ("role-channel",)),
        (DIRECT, ("guest", "boss"), ("role",)),
    ],
)
def test_the_narrowest_route_decides(place: Place, roles: tuple[str, ...], expected: tuple[str, ...]) -> None:
    names = ("handbook", "platform", "channel", "direct", "role", "role-channel")
    routes = Routes(
        [Base(name) for name in names],
        [
            Route(("platform",), platform="slack"),
            Route(("handbook",), platform="slack", workspace="T1"),
            Route(("channel",), platform="slack", channel="C1"),
            Route(("direct",), platform="slack", direct=True),
            Route(("role",), role="boss"),
            Route(("role-channel",), channel="C1", role="boss"),
        ],
    )

    assert routes.allowed(place, roles) == expected


def test_routes_of_two_roles_are_united() -> None:
    routes = Routes(BASES, [Route(("api", "handbook"), role="dev"), Route(("salaries", "api"), role="boss")])

    assert routes.allowed(ANYWHERE, ("boss", "dev")) == ("api", "handbook", "salaries")


def test_a_restricted_base_is_searched_only_where_its_route_allows() -> None:
    routes = Routes((SALARIES, HANDBOOK), [Route(("salaries", "handbook"), platform="slack", workspace="T1", channel="C1")])

    assert routes.allowed(ENGINEERING) == ("salaries", "handbook")
    assert routes.allowed(ANYWHERE) == ()


def test_a_restricted_base_without_a_route_is_a_warning() -> None:
    (warning,) = Routes(BASES).warnings()

    assert "salaries" in warning
    assert Routes(BASES, [Route(("salaries",), role="boss")]).warnings() == []


@pytest.mark.parametrize(
    ("bases", "routes", "named"),
    [
        ((), (), ["no knowledge base"]),
        ((Base("a", default=True), Base("b", default=True)), (), ["bases a and b"]),
        ((Base("a"), Base("A")), (), ["Two bases are called A"]),
        ((Base(" "),), (), ["' '"]),
        ((Base("None"),), (), ["'None'"]),
        (BASES, (Route(("wiki",), channel="C1"),), ["channel = C1", "'wiki'", "handbook, api, salaries"]),
        (BASES, (Route(("api",)),), ["names no place", "api"]),
        (BASES, (Route((), channel="C1"),), ["channel = C1", "names no base"]),
        (
            BASES,
            (Route(("api",), platform="slack", channel="C1"), Route(("handbook",), platform="slack", channel="C1")),
            ["channel = C1 -> api", "channel = C1 -> handbook", "one place"],
        ),
        (BASES, (Route(("api",), direct=True), Route(("handbook",), direct=True)), ["dm = true -> api", "dm = true -> handbook"]),
    ],
)
def test_what_contradicts_itself_stops_the_start_naming_both(
    bases: tuple[Base, ...], routes: tuple[Route, ...], named: list[str]
) -> None:
    with pytest.raises(BadSetting) as refusal:
        Routes(bases, routes)

    for name in named:
        assert name in str(refusal.value)


# --- subjects -------------------------------------------------------------------------------------------------------

BOTH = Routes((HANDBOOK, API), [Route(("handbook", "api"), platform="slack")])


async def test_the_model_picks_among_the_descriptions() -> None:
    writer = ScriptedWriter(["api"])

    assert await Router(BOTH, writer, PROMPTS, by_subject=True).route("What does 404 mean?", ANYWHERE) == ("api",)

    user = writer.prompts[0].user
    assert '<base name="api">The HTTP interface and its errors.</base>' in user
    assert "<question>\nWhat does 404 mean?\n</question>" in user


@pytest.mark.parametrize("said", ["api", " `api`.", '"API"\n', "**api**"])
async def test_a_name_is_known_in_any_dress(said: str) -> None:
    assert await Router(BOTH, ScriptedWriter([said]), PROMPTS, by_subject=True).route("404?", ANYWHERE) == ("api",)


async def test_none_means_the_default() -> None:
    assert await Router(BOTH, ScriptedWriter(["None."]), PROMPTS, by_subject=True).route("?", ANYWHERE) == ("handbook",)


async def test_none_means_all_that_are_allowed_where_the_default_is_not() -> None:
    routes = Routes(BASES, [Route(("api", "salaries"), role="boss")])

    assert await Router(routes, ScriptedWriter(["none"]), PROMPTS, by_subject=True).route("?", ANYWHERE, ("boss",)) == (
        "api",
        "salaries",
    )


async def test_a_name_that_does_not_exist_is_an_error_that_names_it() -> None:
    with pytest.raises(ModelError, match=r"'wiki'.*handbook, api"):
        await Router(BOTH, ScriptedWriter(["wiki"]), PROMPTS, by_subject=True).route("?", ANYWHERE)


async def test_a_base_that_is_not_allowed_here_cannot_be_chosen() -> None:
    routes = Routes(BASES, [Route(("handbook", "api"), platform="slack"), Route(("salaries",), role="boss")])
    writer = ScriptedWriter(["salaries"])

    with pytest.raises(ModelError, match="'salaries'"):
        await Router(routes, writer, PROMPTS, by_subject=True).route("What does Ann earn?", ANYWHERE)

    assert "What people earn" not in writer.prompts[0].user


@pytest.mark.parametrize("line", ["wiki", ModelUnavailable("gone")])
async def test_with_silent_errors_the_default_is_taken_and_the_failure_noted(line: str | ModelUnavailable) -> None:
    notes: dict[str, object] = {}
    router = Router(BOTH, ScriptedWriter([line]), PROMPTS, by_subject=True, silent_errors=True)

    assert await router.route("?", ANYWHERE, notes=notes) == ("handbook",)
    assert notes["failed"]


async def test_nothing_is_asked_where_there_is_nothing_to_choose() -> None:
    assert await Router(Routes(BASES), ScriptedWriter([]), PROMPTS, by_subject=True).route("?", ANYWHERE) == ("handbook",)
    assert await Router(BOTH, ScriptedWriter([]), PROMPTS).route("?", ANYWHERE) == ("handbook", "api")
    assert await Router(BOTH, ScriptedWriter([], is_model=False), PROMPTS, by_subject=True).route("?", ANYWHERE) == (
        "handbook",
        "api",
    )
    assert await Router(BOTH, None, PROMPTS, by_subject=True).route("?", ANYWHERE) == ("handbook", "api")


async def test_a_base_is_asked_for_by_name_where_its_route_allows_or_nothing_restricts_it() -> None:
    bases = [Base("handbook", default=True), Base("api"), Base("salaries", restricted=True)]
    router = Router(Routes(bases, [Route(("salaries",), role="boss")]), None, PROMPTS)

    assert await router.route("404?", ANYWHERE, base="api") == ("api",)
    assert await router.route("Ann?", ANYWHERE, ("boss",), base="salaries") == ("salaries",)
    assert router.routes.choosable(ANYWHERE) == ("handbook", "api")
    for hidden in ("salaries", "nothing"):
        with pytest.raises(BadQuestion) as caught:
            await router.route("Ann?", ANYWHERE, base=hidden)
        assert caught.value.user_message == f"I know no documents called {hidden!r} here. There are: handbook, api."
