"""A Weaviate server for tests: `python -m tests.weaviate_server USERS PROGRAM FOLDER PORT GRPC OTHERS`."""

import os
import subprocess
import sys
from pathlib import Path

from tests.sharing import serve


class Server:
    """The program with its data in `folder`; `others` are four free ports for what a cluster's nodes say to each other.

    What comes after them are variables in place of those of a single node.
    """

    def __init__(self, program: str, folder: Path, port: str, grpc: str, others: list[str]) -> None:
        self._command = [program, "--host", "127.0.0.1", "--port", port, "--scheme", "http"]
        self._folder = folder
        gossip, data, raft, internal, *instead = others
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
            **dict(each.split("=", 1) for each in instead),
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


if __name__ == "__main__":
    place = Path(sys.argv[3])
    serve(Server(sys.argv[2], place, sys.argv[4], sys.argv[5], sys.argv[6:]), place, sys.argv[1])
