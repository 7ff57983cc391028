"""A Weaviate server for tests: `python -m tests.weaviate_server USERS PROGRAM FOLDER PORT GRPC OTHERS`.

One for a run of tests ends when no process uses it any more. One for a single test (USERS is empty) ends with its
standard input; `stop` and `start`, each on a line of its own, do that; each is answered with `done`. When the tests end,
however they end, nothing stays behind.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.sharing import go_on_alone, until_unused


class Server:
    """The program with its data in `folder`; `others` are four free ports for what a cluster's nodes say to each other."""

    def __init__(self, program: str, folder: Path, port: str, grpc: str, others: list[str]) -> None:
        self._command = [program, "--host", "127.0.0.1", "--port", port, "--scheme", "http"]
        self._folder = folder
        gossip, data, raft, internal = others
        self._environment = {
            "PATH": os.defpath,
            "PERSISTENCE_DATA_PATH": str(folder / "data"),
            "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "true",
            "CLUSTER_HOSTNAME": "node1",
            "CLUSTER_BIND_ADDR": "127.0.0.1",
            "CLUSTER_ADVERTISE_ADDR": "127.0.0.1",
            "RAFT_BOOTSTRAP_EXPECT": "1",
            "DISABLE_TELEMETRY": "true",
            "GO_PROFILING_DISABLE": "true",
            "DEFAULT_VECTORIZER_MODULE": "none",
            "LOG_LEVEL": "error",
            "GRPC_PORT": grpc,
            "CLUSTER_GOSSIP_BIND_PORT": gossip,
            "CLUSTER_DATA_BIND_PORT": data,
            "RAFT_PORT": raft,
            "RAFT_INTERNAL_RPC_PORT": internal,
        }
        self._running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        quiet = subprocess.DEVNULL
        self._running = subprocess.Popen(  # noqa: S603
            self._command, env=self._environment, cwd=self._folder, stdin=quiet, stdout=quiet, stderr=quiet
        )

    def stop(self) -> None:
        if self._running is not None:
            self._running.kill()  # at once, without tidying up: it must stand that
            self._running.wait()
            self._running = None


def serve_all(server: Server, folder: Path, users: Path) -> None:
    go_on_alone()
    server.start()
    last = until_unused(users)
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)
    last.close()


def serve_one(server: Server, folder: Path) -> None:
    os.setsid()  # Ctrl-C ends the tests, and their end ends this
    server.start()
    try:
        for line in sys.stdin:
            {"stop": server.stop, "start": server.start}[line.strip()]()
            print("done", flush=True)  # noqa: T201 - whoever asked reads it
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    place = Path(sys.argv[3])
    made = Server(sys.argv[2], place, sys.argv[4], sys.argv[5], sys.argv[6:])
    if sys.argv[1]:
        serve_all(made, place, Path(sys.argv[1]))
    else:
        serve_one(made, place)
