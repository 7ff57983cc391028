"""Opening a database, working in it and closing it, and what is said when it cannot be done."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Connection, Table, literal, make_url, select, text
from sqlalchemy.exc import SQLAlchemyError

from rag.errors import BadSetting, StoreError, StoreUnavailable
from storage.columns import database_clock, new_id
from storage.database import Database, parse
from storage.schema import metadata
from storage.sqlite import SqliteEngine
from storage.statements import driver
from tests.databases import free_port

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]


# --- work -----------------------------------------------------------------------------------------------------------


async def test_work_that_fails_leaves_nothing_and_its_error_comes_back(database: Database) -> None:
    def work(connection: Connection) -> None:
        connection.execute(text("INSERT INTO remembered VALUES ('a', '1', CURRENT_TIMESTAMP)"))
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await database.write(work)
    assert await _count(database, metadata.tables["remembered"]) == 0


async def test_work_of_many_at_once_is_all_done(database: Database) -> None:
    def insert(key: str, connection: Connection) -> None:
        connection.execute(text("INSERT INTO remembered VALUES (:key, '1', CURRENT_TIMESTAMP)"), {"key": key})

    await asyncio.gather(*(database.write(partial(insert, str(n))) for n in range(200)))

    assert await _count(database, metadata.tables["remembered"]) == 200


async def test_single_statements_of_many_at_once_fail_each_for_itself(database: Database) -> None:
    def insert(key: str, connection: Connection) -> None:
        connection.execute(text("INSERT INTO remembered VALUES (:key, '1', CURRENT_TIMESTAMP)"), {"key": key})

    writes = [database.write(partial(insert, str(n // 2)), single=True) for n in range(40)]
    found = await asyncio.gather(*writes, return_exceptions=True)

    assert [type(each) for each in found].count(StoreError) == 20
    assert await _count(database, metadata.tables["remembered"]) == 20


async def test_a_short_read_is_done_at_once_unless_it_had_to_wait(tmp_path: Path) -> None:
    where: list[str] = []

    def work(connection: Connection) -> int:
        where.append(threading.current_thread().name)
        if where == ["MainThread", "MainThread"]:
            raise sqlite3.OperationalError("database is locked")
        return connection.execute(select(literal(7))).scalar_one()

    async with Database(f"sqlite:///{tmp_path}/f.db") as database:
        assert [await database.read(work, short=True) for _ in range(2)] == [7, 7]

    assert where[:2] == ["MainThread", "MainThread"]
    assert [name.startswith("footnote-reader") for name in where[2:]] == [True]


async def test_a_single_statement_is_committed_at_once_on_sqlite_and_by_a_thread_where_somebody_else_is_writing(
    tmp_path: Path,
) -> None:
    threads: list[bool] = []
    main = threading.current_thread()

    def insert(key: str, connection: Connection) -> None:
        connection.execute(text("INSERT INTO remembered VALUES (:key, '1', CURRENT_TIMESTAMP)"), {"key": key})
        threads.append(threading.current_thread() is main)

    async with Database(f"sqlite:///{tmp_path}/f.db") as database:
        await database.write(partial(insert, "a"), single=True)
        await database.write(partial(insert, "b"))
        with closing(sqlite3.connect(tmp_path / "f.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(database.write(partial(insert, "c"), single=True))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            other.execute("COMMIT")
            await waiting
        kept = await _count(database, metadata.tables["remembered"])

    assert kept == 3
    assert threads == [True, False, False]


async def test_what_is_written_at_once_comes_from_the_log_into_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.sqlite._CHECKPOINT_AFTER", 5)

    def insert(key: str, connection: Connection) -> None:
        connection.execute(text("INSERT INTO remembered VALUES (:key, '1', CURRENT_TIMESTAMP)"), {"key": key})

    async with Database(f"sqlite:///{tmp_path}/f.db") as database:
        for number in range(5):
            await database.write(partial(insert, f"a key like no other {number}"), single=True)
        async with asyncio.timeout(10):
            while b"a key like no other 4" not in (tmp_path / "f.db").read_bytes():  # noqa: ASYNC110 - in a file
                await asyncio.sleep(0.01)


async def test_the_log_does_not_grow_while_people_ask_without_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.sqlite._CHECKPOINT_AFTER", 20)
    monkeypatch.setattr("storage.sqlite._LONG", 200)

    def insert(key: str, connection: Connection) -> None:
        connection.execute(text("INSERT INTO remembered VALUES (:key, '1', CURRENT_TIMESTAMP)"), {"key": key * 100})

    async with Database(f"sqlite:///{tmp_path}/f.db") as database:
        for number in range(600):
            await database.write(partial(insert, f"a key like no other {number}"), single=True)
            await asyncio.sleep(0.002)
        kept = await _count(database, metadata.tables["remembered"])
        log = (tmp_path / "f.db-wal").stat().st_size

    assert kept == 600
    assert log < 1_000 * 4096


async def test_what_several_write_in_one_round_of_the_loop_is_committed_together_or_by_who_waits(tmp_path: Path) -> None:
    """In the second round another process has the file when they would be."""
    threads = []

    def insert(key: str, connection: Connection) -> None:
        connection.execute(text("INSERT INTO remembered VALUES (:key, '1', CURRENT_TIMESTAMP)"), {"key": key})
        threads.append((key[0], threading.current_thread() is threading.main_thread()))

    async def lock(other: sqlite3.Connection) -> None:
        other.execute("BEGIN IMMEDIATE")

    async with Database(f"sqlite:///{tmp_path}/f.db") as database:
        with closing(sqlite3.connect(tmp_path / "f.db", isolation_level=None)) as other:
            said: list[str] = []
            assert isinstance(database._engine, SqliteEngine)
            driver(database._engine._connections[1]).set_trace_callback(said.append)
            await asyncio.gather(*(database.write(partial(insert, f"a{n}"), single=True) for n in range(5)))
            assert [words.split()[0] for words in said] == ["INSERT", "BEGIN", *["INSERT"] * 4, "COMMIT"]
            first, second = (asyncio.create_task(database.write(partial(insert, key), single=True)) for key in "bc")
            await asyncio.create_task(lock(other))
            await asyncio.sleep(0.05)
            assert first.done()
            assert not second.done()
            other.execute("COMMIT")
            await second
        kept = await _count(database, metadata.tables["remembered"])

    assert kept == 7
    assert threads == [("a", True)] * 5 + [("b", True), ("c", False)]


async def test_where_sqlite_gives_up_the_transaction_nothing_of_it_is_said_to_be_kept(tmp_path: Path) -> None:
    def insert(key: str, connection: Connection) -> None:
        connection.execute(text("INSERT INTO remembered VALUES (:key, '1', CURRENT_TIMESTAMP)"), {"key": key})

    def full(connection: Connection) -> None:
        """As a full disk does."""
        connection.exec_driver_sql("ROLLBACK")
        raise LookupError("full")

    async with Database(f"sqlite:///{tmp_path}/f.db") as database:
        works: list[Callable[[Connection], None]] = [partial(insert, "a"), partial(insert, "b"), full, partial(insert, "c")]
        found = await asyncio.gather(*(database.write(work, single=True) for work in works), return_exceptions=True)
        kept = await _count(database, metadata.tables["remembered"])

    assert kept == sum(each is None for each in found)
    assert isinstance(found[2], LookupError)


async def test_two_that_wait_for_each_other_are_both_done(database: Database) -> None:
    """PostgreSQL ends one of them: it is done again. SQLite does one after the other."""
    pause = "SELECT pg_sleep(0.5)" if database.dialect == "postgresql" else "SELECT 1"
    insert = "INSERT INTO remembered VALUES (:key, '0', CURRENT_TIMESTAMP)"
    await database.write(lambda connection: [connection.execute(text(insert), {"key": key}) for key in "ab"])
    add = text("UPDATE remembered SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE key = :key")
    begun: list[str] = []

    def crossing(first: str, second: str, connection: Connection) -> None:
        begun.append(first)
        for key in (first, second):
            connection.execute(add, {"key": key})
            connection.execute(text(pause))

    await asyncio.gather(*(database.write(partial(crossing, *keys)) for keys in ("ab", "ba")))

    values = await database.read(lambda connection: connection.execute(text("SELECT value FROM remembered")).all())
    assert [row.value for row in values] == ["2", "2"]
    assert len(begun) > 2 if database.dialect == "postgresql" else len(begun) == 2


async def test_a_statement_that_is_refused_is_a_store_error_without_the_values(database: Database) -> None:
    with pytest.raises(StoreError) as refused:
        await database.read(lambda connection: connection.execute(text("SELECT :secret FROM nowhere"), {"secret": "hush"}))

    assert "hush" not in f"{refused.value!s} {refused.value.__cause__!s}"
    assert not isinstance(refused.value, SQLAlchemyError)


async def test_a_write_that_nobody_waits_for_any_more_is_whole_or_not_at_all(database: Database) -> None:
    def work(connection: Connection) -> None:
        for n in range(50):
            connection.execute(text("INSERT INTO remembered VALUES (:key, '1', CURRENT_TIMESTAMP)"), {"key": str(n)})

    for turns in range(4):
        task = asyncio.create_task(database.write(work))
        for _ in range(turns):
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await database.write(nothing)
        assert await _count(database, metadata.tables["remembered"]) in {0, 50}
        await database.write(lambda connection: connection.execute(text("DELETE FROM remembered")) and None)


async def test_a_closed_database_says_so_and_leaves_no_thread(database_url: str) -> None:
    async with Database(database_url) as database:
        pass
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("footnote")]
    for ask in (database.read, database.write):
        with pytest.raises(StoreUnavailable, match="is not open"):
            await ask(nothing)


async def test_the_database_has_a_clock_and_keeps_times_in_utc(database: Database) -> None:
    first = await database.read(lambda connection: connection.execute(select(database_clock())).scalar_one())
    second = await database.read(lambda connection: connection.execute(select(database_clock())).scalar_one())

    assert 1_700_000_000 < first <= second < first + 60


async def test_a_beginning_is_a_range_whatever_the_order_of_people(database: Database) -> None:
    code = metadata.tables["runs"].c.id.type
    smaller = (
        select(literal("ab-1", code).collate("C") < literal("ab1", code)) if database.dialect != "sqlite" else select(literal(1))
    )

    assert await database.read(lambda connection: connection.execute(smaller).scalar_one())


def test_ids_are_new_and_sort_by_time() -> None:
    ids = [new_id() for _ in range(2000)]

    assert len(set(ids)) == len(ids)
    assert max(ids) < 2**63
    assert ids == sorted(ids)


# --- SQLite ---------------------------------------------------------------------------------------------------------


async def test_sqlite_is_opened_in_a_folder_that_it_makes_and_with_what_keeps_it_safe(tmp_path: Path) -> None:
    async with Database(f"sqlite:///{tmp_path}/new/folder/footnote.db") as database:
        for pragma, value in (("journal_mode", "wal"), ("foreign_keys", 1), ("synchronous", 1), ("busy_timeout", 10_000)):

            def ask(connection: Connection, pragma: str = pragma) -> object:
                return connection.exec_driver_sql(f"PRAGMA {pragma}").scalar()

            assert await database.read(ask) == value
            assert await database.write(ask) == value
    assert (tmp_path / "new/folder/footnote.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
async def test_sqlite_without_a_file_is_refused(url: str) -> None:
    with pytest.raises(BadSetting, match=r"write DATABASE_URL as sqlite:///folder"):
        await Database(url).__aenter__()


async def test_a_path_that_cannot_be_a_file_is_a_bad_setting(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="cannot be opened"):
        await Database(f"sqlite:///{tmp_path}").__aenter__()


async def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadSetting, match=r"footnote.db cannot be made \(.+\): correct DATABASE_URL"):
        await Database(f"sqlite:///{tmp_path}/file/footnote.db").__aenter__()


async def test_a_file_that_is_no_database_is_a_bad_setting(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("These are my notes, and by no means a database. " * 100)
    with pytest.raises(BadSetting, match="is not a SQLite database"):
        await Database(f"sqlite:///{tmp_path}/notes.txt").__aenter__()


async def test_a_file_that_may_only_be_read_is_a_bad_setting(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "footnote.db").close()
    with pytest.raises(BadSetting, match=r"is read-only|cannot be opened"):
        await Database(f"sqlite:///file:{tmp_path}/footnote.db?mode=ro&uri=true").__aenter__()


async def test_a_file_that_another_process_keeps_locked_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.sqlite._BUSY", 50)
    async with Database(f"sqlite:///{tmp_path}/footnote.db") as database:
        other = sqlite3.connect(tmp_path / "footnote.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="is locked by another process"):
            await database.write(nothing)
        assert await database.read(lambda connection: connection.exec_driver_sql("SELECT 1").scalar()) == 1
        other.execute("COMMIT")
        other.close()
        await database.write(nothing)


# --- PostgreSQL -----------------------------------------------------------------------------------------------------


async def test_a_server_that_is_not_there_is_unavailable_and_its_password_is_not_told() -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached") as error:
        await Database(f"postgresql://ann:hush@127.0.0.1:{free_port()}/footnote").__aenter__()
    assert "hush" not in str(error.value)
    assert "postgresql://ann@127.0.0.1" in str(error.value)


async def test_a_wrong_password_is_a_bad_setting(postgres_server: str) -> None:
    url = make_url(postgres_server)
    if not url.password:
        pytest.skip("the given server asks for no password")
    with pytest.raises(BadSetting, match="refused the user name or the password") as error:
        await Database(url.set(password=url.password[::-1]).render_as_string(hide_password=False)).__aenter__()
    assert url.password[::-1] not in str(error.value)


async def test_an_unknown_database_is_a_bad_setting(postgres_server: str) -> None:
    with pytest.raises(BadSetting, match="does not exist"):
        await Database(make_url(postgres_server).set(database="nobody_made_it").render_as_string(hide_password=False)).__aenter__()


@pytest.mark.parametrize("form", ["postgres", "postgresql", "postgresql+asyncpg", "postgresql+psycopg2"])
async def test_every_form_of_address_leads_to_the_same_server(postgres_with_tables: str, form: str) -> None:
    address = postgres_with_tables.replace("postgresql", form, 1)
    options = "?sslmode=prefer&application_name=ours&connect_timeout=5&channel_binding=prefer&prepared_statement_cache_size=0"
    async with Database(address + options) as database:
        name = text("SELECT current_setting('application_name')")
        assert await database.read(lambda connection: connection.execute(name).scalar()) == "ours"


async def test_a_server_without_tls_is_refused_where_tls_is_asked_for(postgres_server: str) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await Database(f"{postgres_server}?sslmode=require").__aenter__()


async def test_connections_that_the_server_closed_are_replaced(postgres_with_tables: str) -> None:
    async with Database(postgres_with_tables) as database, Database(postgres_with_tables) as operator:
        await asyncio.gather(*(database.read(lambda c: c.execute(text("SELECT pg_sleep(0.05)")) and None) for _ in range(4)))
        close = text(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await operator.read(lambda connection: connection.execute(close).all())
        await asyncio.sleep(0.1)

        await database.write(nothing)
        assert await database.read(lambda connection: connection.execute(text("SELECT 1")).scalar()) == 1


# --- addresses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://ann:hush@host/db", "postgresql://ann:hush@host:port/db", "://"])
def test_an_address_that_is_none_is_a_bad_setting_and_its_password_is_not_told(url: str) -> None:
    with pytest.raises(BadSetting, match="DATABASE_URL") as error:
        parse(url)
    assert "hush" not in str(error.value)


@pytest.mark.parametrize("url", ["sqlite:///a.db", "sqlite+aiosqlite:///a.db", " sqlite:///a.db\n"])
def test_every_form_of_a_sqlite_address_is_the_same(url: str) -> None:
    assert parse(url) == make_url("sqlite:///a.db")


# --- help -----------------------------------------------------------------------------------------------------------


def nothing(connection: Connection) -> None:
    assert not connection.closed


async def _count(database: Database, table: Table) -> int:
    return await database.read(lambda connection: len(connection.execute(table.select()).all()))
