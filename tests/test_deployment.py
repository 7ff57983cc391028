"""compose.yaml, Dockerfile, Procfile: they name only settings, files and commands that there are."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped] # its types are a package of their own

from bots.cli.reference import commands
from config.settings import Settings
from storage.weaviate_index.version import OLDEST

ROOT = Path(__file__).parents[1]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
PLATFORMS = {"slack", "discord", "web", "worker"}


def variables() -> set[str]:
    fields = Settings.model_fields.items()
    return {str(field.validation_alias or f"FOOTNOTE_{name.upper()}") for name, field in fields}


def lines(name: str) -> list[str]:
    """Those of a file that say something, continued ones as one."""
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def processes() -> dict[str, str]:
    return {name: command.strip() for name, _, command in (line.partition(":") for line in lines("Procfile"))}


# --- compose.yaml ---------------------------------------------------------------------------------------------------


def test_a_team_gets_postgres_weaviate_and_the_bots() -> None:
    assert set(SERVICES) == {"bots", "postgres", "weaviate"}
    assert all(service.get("build") or ":" in service["image"] for service in SERVICES.values()), "versions are pinned"
    assert all(service["restart"] == "unless-stopped" for service in SERVICES.values())


def test_what_the_bots_are_given_are_settings() -> None:
    assert set(SERVICES["bots"]["environment"]) <= variables()


def test_what_a_team_fills_in_is_a_setting_or_what_compose_reads_itself() -> None:
    named = set(re.findall(r"(?m)^# ([A-Z_]+?)(?:__[A-Z_]+)?=", (ROOT / ".env.example").read_text("utf-8")))
    read = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text("utf-8")))

    assert {"SLACK_BOT_TOKEN", "DISCORD_TOKEN"} <= named
    assert read <= named <= variables() | read


def test_the_bots_are_given_the_addresses_of_the_other_services() -> None:
    given = SERVICES["bots"]["environment"]

    assert re.search(r"@postgres/(\w+)$", given["DATABASE_URL"])[1] == SERVICES["postgres"]["environment"]["POSTGRES_DB"]  # type: ignore[index] # else the test fails
    port = SERVICES["weaviate"]["command"][SERVICES["weaviate"]["command"].index("--port") + 1]
    assert given["WEAVIATE_URL"] == f"http://weaviate:{port}"
    assert given["WEAVIATE_GRPC_URL"] == "weaviate:50051"


def test_the_bots_wait_until_the_servers_are_healthy() -> None:
    waited_for = SERVICES["bots"]["depends_on"]

    assert {name: how["condition"] for name, how in waited_for.items()} == dict.fromkeys(
        set(SERVICES) - {"bots"}, "service_healthy"
    )
    assert all("healthcheck" in SERVICES[name] for name in waited_for)


def test_what_is_kept_is_kept_in_volumes_and_no_port_is_open() -> None:
    named = {volume.split(":")[0] for service in SERVICES.values() for volume in service["volumes"] if not volume.startswith(".")}

    assert named == set(COMPOSE["volumes"])
    assert not any("ports" in service for service in SERVICES.values())


def test_the_weaviate_that_is_used_is_new_enough() -> None:
    version = SERVICES["weaviate"]["image"].rpartition(":")[2]

    assert tuple(map(int, version.split(".")[:2])) >= OLDEST


def told() -> Iterator[list[str]]:
    """The commands that compose.yaml, the image and the Procfile run."""
    yield SERVICES["bots"]["command"]
    yield from (
        shlex.split(line)[5:] for line in (ROOT / "compose.yaml").read_text("utf-8").splitlines() if "run --rm bots" in line
    )
    yield from (re.findall(r'"([^"]+)"', line) for line in lines("Dockerfile") if line.startswith("CMD"))
    yield from (shlex.split(command)[1:] for command in processes().values())


def test_every_command_that_is_run_is_there() -> None:
    assert {command[0] if command[0] != "bots" else command[1] for command in told()} <= set(commands())


# --- Dockerfile -----------------------------------------------------------------------------------------------------


def test_the_image_is_made_of_files_that_are_there_and_of_locked_versions() -> None:
    copied = [part for line in lines("Dockerfile") if line.startswith("COPY") for part in shlex.split(line)[1:-1]]

    assert {"requirements.lock", "pyproject.toml", "bots", "config", "rag", "storage"} <= set(copied)
    assert all((ROOT / name).exists() for name in copied)
    assert any("--require-hashes" in line for line in lines("Dockerfile"))
    let_in = {line[1:] for line in lines(".dockerignore") if line.startswith("!")}
    assert set(copied) <= let_in


def test_the_image_does_not_run_as_root_and_keeps_its_home_in_a_volume() -> None:
    told_so = lines("Dockerfile")
    home = next(line.partition("FOOTNOTE_HOME=")[2] for line in told_so if line.startswith("ENV"))

    assert "USER footnote" in told_so
    assert f"VOLUME {home}" in told_so
    assert SERVICES["bots"]["environment"]["FOOTNOTE_HOME"] == home


# --- Procfile -------------------------------------------------------------------------------------------------------


def test_every_platform_that_is_served_has_its_process_and_a_release_migrates() -> None:
    assert set(processes()) == {"release", *(PLATFORMS & set(commands()))}
    assert processes()["release"] == "footnote migrate"


@pytest.mark.parametrize("name", sorted(PLATFORMS & set(commands())))
def test_a_process_runs_the_command_of_its_name(name: str) -> None:
    assert processes()[name].split()[:2] == ["footnote", name]
