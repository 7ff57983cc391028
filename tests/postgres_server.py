"""A PostgreSQL server for tests: `python -m tests.postgres_server USERS BIN FOLDER PORT USER`.

One for a single test (USERS is empty) keeps what it confirmed; its orders are `stop`, `kill` and `start`.
"""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tests.sharing import serve

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


class Server:
    """`durable`: what it confirmed is there after it was killed."""

    def __init__(self, programs: Path, folder: Path, port: str, account: str | None, *, durable: bool) -> None:
        chosen = {**OPTIONS, "synchronous_commit": "on"} if durable else OPTIONS
        options = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
        self._command: list[str | Path] = [programs / "postgres", "-D", folder / "data", "-p", port, *options]
        self._folder = folder
        self._account = account
        self._running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Tried again while processes of the one before are still ending: it does not start beside them."""
        for _ in range(60):
            self._running = subprocess.Popen(  # noqa: S603
                self._command, user=self._account, cwd=self._folder, stdin=QUIET, stdout=QUIET, stderr=QUIET
            )
            try:
                self._running.wait(0.5)
            except subprocess.TimeoutExpired:
                return

    def stop(self) -> None:
        """At once, without tidying up."""
        self._end(signal.SIGQUIT)

    def kill(self) -> None:
        """Its first process, as when the machine is short of memory: the others notice, and end."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._running is not None:
            self._running.send_signal(how)
            self._running.wait()
            self._running = None


if __name__ == "__main__":
    installed, place, user = Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[5] or None
    prepare(installed, place, user)
    serve(Server(installed, place, sys.argv[4], user, durable=not sys.argv[1]), place, sys.argv[1])
