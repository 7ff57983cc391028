"""A PostgreSQL server for one test session: `python postgres_server.py BIN FOLDER PORT USER`.

It ends with its standard input: when the tests end, however they end, the pipe closes and nothing stays behind.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

PASSWORD = "not-a-secret"  # noqa: S105 - of a server that lives as long as the tests
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "autovacuum": "off",  # or plans depend on when it last looked at an empty table
}


def serve(programs: Path, folder: Path, port: str, user: str) -> None:
    account = user or None
    if account:
        shutil.chown(folder, account)
    secret = folder / "password"
    secret.write_text(PASSWORD)
    if account:
        shutil.chown(secret, account)
    data = folder / "data"
    initdb: list[str | Path] = [
        programs / "initdb",
        "-D",
        data,
        "-U",
        "footnote",
        "-A",
        "scram-sha-256",
        "--pwfile",
        secret,
        "-E",
        "UTF8",
        "-N",
    ]
    quiet = subprocess.DEVNULL
    subprocess.run(initdb, check=True, user=account, cwd=folder, stdin=quiet, stdout=quiet)  # noqa: S603
    options = [part for name, value in OPTIONS.items() for part in ("-c", f"{name}={value}")]
    server = subprocess.Popen(  # noqa: S603
        [programs / "postgres", "-D", data, "-p", port, *options], user=account, cwd=folder, stdin=quiet, stdout=quiet, stderr=quiet
    )
    try:
        sys.stdin.read()
    finally:
        server.send_signal(signal.SIGQUIT)  # at once, without tidying up
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    os.setsid()  # Ctrl-C ends the tests, and their end ends this
    serve(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4])
