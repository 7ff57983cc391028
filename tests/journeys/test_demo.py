"""`make demo`, from another folder, with the dialog of the README."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.journeys.terminal import ROOT, SECONDS
from tests.surroundings import GIVEN

if TYPE_CHECKING:
    from pathlib import Path


def test_the_demo_answers_about_itself_from_any_folder(tmp_path: Path) -> None:
    if not is_installed():
        pytest.skip("scripts/install has something to do first, and the demo would do it")
    questions = re.findall(r"(?m)^> (.+)$", (ROOT / "README.md").read_text(encoding="utf-8"))
    done = subprocess.run(  # noqa: S603 - our own script
        [ROOT / "scripts" / "demo"],
        input="\n".join(["/forget", *questions]).encode(),
        capture_output=True,
        cwd=tmp_path,
        env={
            "PATH": GIVEN.get("PATH", ""),
            "HOME": str(tmp_path),
            "FOOTNOTE_CONFIG": "elsewhere.toml",
            "DATABASE_URL": "nonsense://",
        },
        timeout=SECONDS,
        check=False,
    )

    out = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert out.count("SOURCES:") == 3
    for told in ("5. **Index your documents", "`xapp-`", "export DISCORD_TOKEN", "[1] Discord", "`.docx`"):
        assert told in out
    assert list(tmp_path.iterdir()) == []


def is_installed() -> bool:
    """As scripts/install sees it."""
    installed, project = ROOT / ".venv" / "installed", ROOT / "pyproject.toml"
    if not installed.exists() or installed.read_bytes() != (ROOT / "requirements.lock").read_bytes():
        return False
    return project.stat().st_mtime <= installed.stat().st_mtime
