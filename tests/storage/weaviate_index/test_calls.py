"""Every error of the client and of what it stands on is one of ours; what may pass is tried again until time is up."""

import asyncio
import inspect
import time

import grpc  # type: ignore[import-untyped] # it has no types
import httpx
import pytest
import weaviate.exceptions as theirs
from grpc import StatusCode
from grpc.aio import AioRpcError, Metadata, UsageError  # type: ignore[import-untyped] # as above

from rag.errors import StoreError, StoreUnavailable
from storage.weaviate_index.calls import SDK_ERRORS, Calls, CollectionGone, Starting

ADDRESS = "http://weaviate:8080"


def failed(code: StatusCode, details: str = "what was said") -> AioRpcError:
    return AioRpcError(code, Metadata(), Metadata(), details)


def answered(status: int) -> httpx.Response:
    return httpx.Response(status, json={"error": "no"}, request=httpx.Request("GET", ADDRESS))


def made(kind: type[BaseException]) -> BaseException:
    """An error of this class, as the client makes it."""
    special: dict[type[BaseException], tuple[object, ...]] = {
        theirs.UnexpectedStatusCodeError: ("failed", answered(422)),
        theirs.InsufficientPermissionsError: (answered(403),),
        theirs.ResponseCannotBeDecodedError: ("somewhere", answered(200)),
        theirs.WeaviateUnsupportedFeatureError: ("aliases", "1.20.0", "1.32.0"),
        theirs.WeaviateGRPCUnavailableError: (),
        theirs.WeaviateRetryError: ("failed", 3),
        theirs.WeaviateQueryError: ("failed", "GRPC search"),
        theirs.WeaviateClosedClientError: (),
        theirs.WeaviateTimeoutError: ("failed",),
        theirs.AdditionalPropertiesError: ("vector", "id"),
        theirs.WeaviateEmbeddedInvalidVersionError: ("1",),
        theirs.WeaviateAgentsNotInstalledError: (),
        theirs.WeaviateInvalidInputError: ("failed",),
    }
    return kind(*special.get(kind, ("failed",)))


ALL = sorted(
    {
        found
        for found in vars(theirs).values()
        if inspect.isclass(found) and issubclass(found, theirs.WeaviateBaseError) and found.__module__ == theirs.__name__
    },
    key=lambda found: found.__name__,
)
AWAY = {
    theirs.WeaviateConnectionError,
    theirs.WeaviateGRPCUnavailableError,
    theirs.WeaviateRetryError,
    theirs.WeaviateStartUpError,
    theirs.WeaviateTimeoutError,
}


def quick(patience: float = 0.0) -> Calls:
    return Calls(ADDRESS, 5.0, patience)


async def raised(error: BaseException, calls: Calls | None = None) -> StoreError:
    async def make() -> None:
        raise error

    with pytest.raises(StoreError) as caught:
        await (calls or quick())(make)
    assert caught.value.__cause__ is error
    return caught.value


@pytest.mark.parametrize("kind", ALL)
async def test_every_error_of_the_client_is_one_of_ours(kind: type[BaseException]) -> None:
    ours = await raised(made(kind))

    assert isinstance(ours, StoreUnavailable) == (kind in AWAY)
    assert str(ours).count("\n") == 0
    assert ADDRESS in str(ours)
    assert "failed" not in ours.user_message


def test_nothing_that_the_client_raises_is_forgotten() -> None:
    errors = {found for found in vars(theirs).values() if inspect.isclass(found) and issubclass(found, Exception)}
    ours = {kind for kind in errors if kind.__module__ == theirs.__name__ and not kind.__name__.startswith("_")}

    assert ours - set(ALL) == {theirs.WeaviateProtobufIncompatibility}, "that one is raised at import"
    assert all(issubclass(kind, SDK_ERRORS) for kind in ALL)


@pytest.mark.parametrize("code", list(StatusCode))
async def test_every_status_of_a_call_is_one_of_ours(code: StatusCode) -> None:
    bare = await raised(failed(code))
    wrapped = theirs.WeaviateQueryError("failed", "GRPC search")
    wrapped.__context__ = failed(code)

    assert type(await raised(wrapped)) is type(bare)
    passing = {StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED, StatusCode.RESOURCE_EXHAUSTED, StatusCode.ABORTED}
    assert isinstance(bare, StoreUnavailable) == (code in passing)


@pytest.mark.parametrize(
    "error", [httpx.ConnectError("no"), httpx.ReadTimeout("no"), httpx.RemoteProtocolError("no"), httpx.PoolTimeout("no")]
)
async def test_a_connection_that_breaks_is_one_of_ours(error: httpx.HTTPError) -> None:
    assert isinstance(await raised(error), StoreUnavailable)


@pytest.mark.parametrize("error", [httpx.InvalidURL("no"), httpx.TooManyRedirects("no"), httpx.DecodingError("no"), UsageError()])
async def test_other_errors_of_the_libraries_beneath_are_ours_too(error: Exception) -> None:
    assert type(await raised(error)) is StoreError


@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_is_refused_is_named(status: int) -> None:
    for error in (
        theirs.UnexpectedStatusCodeError("failed", answered(status)),
        theirs.AuthenticationFailedError("failed"),
        failed(StatusCode.UNAUTHENTICATED),
    ):
        ours = await raised(error)
        assert "WEAVIATE_API_KEY" in str(ours)
        assert not isinstance(ours, StoreUnavailable)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_a_server_with_a_problem_may_be_well_again(status: int) -> None:
    ours = await raised(theirs.UnexpectedStatusCodeError("failed", answered(status)))

    assert isinstance(ours, StoreUnavailable)
    assert str(status) in str(ours)


async def test_a_collection_that_is_gone_is_told_apart() -> None:
    gone = theirs.WeaviateQueryError("could not find class Footnote_a in schema", "GRPC search")

    assert isinstance(await raised(gone), CollectionGone)


async def test_a_call_is_made_again_until_the_server_is_back() -> None:
    answers: list[Exception | str] = [httpx.ConnectError("no"), failed(StatusCode.UNAVAILABLE), "here"]

    async def make() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert await quick(patience=20.0)(make) == "here"


async def test_what_a_server_refuses_while_it_starts_is_asked_again() -> None:
    answers: list[Exception | str] = [theirs.WeaviateQueryError("could not find class A", "GRPC search"), Starting(), "here"]
    readiness = [False]

    async def make() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def ready() -> bool:
        return readiness.pop()

    assert await Calls(ADDRESS, 5.0, 20.0, ready)(make) == "here"
    assert readiness == []


@pytest.mark.parametrize(("gone", "calls"), [(1, 2), (9, 2)])
async def test_a_collection_is_gone_only_where_the_server_had_started_before_it_was_asked(gone: int, calls: int) -> None:
    made: list[str] = []

    async def make() -> str:
        made.append("call")
        if len(made) <= gone:
            raise theirs.WeaviateQueryError("could not find class A", "GRPC search")
        return "here"

    async def ready() -> bool:
        return True

    call = Calls(ADDRESS, 5.0, 20.0, ready)(make)
    if gone == 1:
        assert await call == "here"
    else:
        with pytest.raises(CollectionGone):
            await call
    assert len(made) == calls


async def test_a_call_that_is_refused_is_not_made_again() -> None:
    await raised(theirs.UnexpectedStatusCodeError("failed", answered(422)), quick(patience=3600.0))


async def test_a_call_that_nobody_answers_ends_with_our_deadline() -> None:
    async def make() -> None:
        await asyncio.sleep(3600)

    begun = time.monotonic()
    with pytest.raises(StoreUnavailable, match=r"did not answer within 0\.05 s"):
        await Calls(ADDRESS, 0.05, 0.0)(make)
    assert time.monotonic() - begun < 60


async def test_what_is_no_error_of_the_client_is_left_as_it_is() -> None:
    async def make() -> None:
        raise KeyError("ours to mend")

    with pytest.raises(KeyError):
        await quick()(make)


def test_the_libraries_beneath_are_those_it_was_written_for() -> None:
    assert issubclass(AioRpcError, grpc.RpcError)
