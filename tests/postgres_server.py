"""A PostgreSQL server for one run of tests: `python -m tests.postgres_server USERS BIN FOLDER PORT USER`.

It ends when no process uses it any more: when the tests end, however they end, nothing stays behind.
"""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tests.sharing import go_on_alone, until_unused

PASSWORD = "not-a-secret"  # noqa: S105 - of a server that lives as long as the tests
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "16MB",
    "max_connections": "120",
    "autovacuum": "off",  # or plans depend on when it last looked at an empty table
}


QUIET = subprocess.DEVNULL


def prepare(programs: Path, folder: Path, account: str | None) -> None:
    secret = folder / "password"
    secret.write_text(PASSWORD)
    if account:
        shutil.chown(folder, account)
        shutil.chown(secret, account)
    who: list[str | Path] = ["-U", "footnote", "-A", "scram-sha-256", "--pwfile", secret]
    initdb: list[str | Path] = [programs / "initdb", "-D", folder / "data", *who, "-E", "UTF8", "-N"]
    subprocess.run(initdb, check=True, user=account, cwd=folder, stdin=QUIET, stdout=QUIET)  # noqa: S603


def serve(users: Path, programs: Path, folder: Path, port: str, account: str | None) -> None:
    options = [part for name, value in OPTIONS.items() for part in ("-c", f"{name}={value}")]
    command: list[str | Path] = [programs / "postgres", "-D", folder / "data", "-p", port, *options]
    server = subprocess.Popen(command, user=account, cwd=folder, stdin=QUIET, stdout=QUIET, stderr=QUIET)  # noqa: S603
    last = until_unused(users)
    server.send_signal(signal.SIGQUIT)  # at once, without tidying up
    server.wait()
    shutil.rmtree(folder, ignore_errors=True)
    last.close()


if __name__ == "__main__":
    place, user = (Path(sys.argv[2]), Path(sys.argv[3])), sys.argv[5] or None
    prepare(*place, user)
    go_on_alone()
    serve(Path(sys.argv[1]), *place, sys.argv[4], user)
