"""`footnote eval` and `footnote calibrate`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bots.cli.app import app, console, run, with_footnote
from bots.cli.supplying import BaseOption, chosen
from rag.errors import BadSetting

if TYPE_CHECKING:
    from rich.table import Table

    from config.assembly import Footnote
    from config.settings import Settings
    from rag.evaluation import Report


@app.command("eval")
def evaluate(
    folder: Annotated[Path, typer.Argument(help="A folder with corpus.jsonl and queries.jsonl.")],
    *,
    queries: Annotated[Path | None, typer.Option("--queries", help="Take the questions from this other folder.")] = None,
    leave_out: Annotated[float, typer.Option("--leave-out", min=0, max=1, help="Leave out this share of the documents.")] = 0.0,
    some: Annotated[int, typer.Option("--sample", min=0, help="Ask only so many of the questions; 0: all.")] = 0,
    against: Annotated[list[str] | None, typer.Option("--against", help="TABLE.KEY=VALUE: measure with this as well.")] = None,
    as_object: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure answers on labelled questions."""
    from config.measuring import Exam, measure  # noqa: PLC0415 - `--help` needs none of it
    from config.settings import load  # noqa: PLC0415

    exam = Exam(folder, queries or folder, leave_out, some)
    reports = {"as set": run(measure(load(), exam))}
    if against:
        reports[", ".join(against)] = run(measure(changed(against), exam))
    if as_object:
        shown = {name: report.as_json() for name, report in reports.items()} if against else reports["as set"].as_json()
        print(json.dumps(shown))  # noqa: T201 - for programs
    else:
        console().print(table_of(reports))


def changed(settings: list[str]) -> Settings:
    """The settings with these TABLE.KEY=VALUE on top. Raises BadSetting."""
    from config.settings import load  # noqa: PLC0415

    tables: dict[str, dict[str, str]] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        table, dot, key = name.strip().partition(".")
        if not (equals and dot):
            raise BadSetting(f"--against {setting} is not of the form TABLE.KEY=VALUE.")
        tables.setdefault(table, {})[key] = value.strip()
    return load(**tables)


def table_of(reports: dict[str, Report]) -> Table:
    from rich.table import Table  # noqa: PLC0415

    table = Table("measure", *reports)
    columns = [report.as_json() for report in reports.values()]
    for name in columns[0]:
        table.add_row(name, *("–" if column[name] is None else str(column[name]) for column in columns))
    return table


@app.command("calibrate")
def calibrate(
    labelled: Annotated[Path | None, typer.Argument(help='Lines of {"text": …, "answerable": true or false}.')] = None,
    *,
    base: BaseOption = "",
    false_answers: Annotated[
        float, typer.Option("--false-answers", min=0, max=1, help="The share of unanswerable questions that may be answered.")
    ] = 0.1,
) -> None:
    """Set how relevant a passage must be before a question is answered, for each base by itself."""
    from config.measuring import lines_of  # noqa: PLC0415
    from rag.calibrating import Examples  # noqa: PLC0415
    from rag.labelled import read_examples  # noqa: PLC0415

    examples = read_examples(lines_of(labelled), str(labelled)) if labelled else None

    async def set_thresholds(footnote: Footnote) -> None:
        await footnote.check()
        for name in chosen(footnote, base):
            if examples:
                given = Examples(*examples, source=str(labelled))
            else:
                given = await footnote.calibrator.off_topic(name)
            found = await footnote.calibrator.calibrate(name, given, false_answers)
            answered = "" if math.isnan(found.answered) else f", {found.answered:.0%} of {found.answerable} answerable ones"
            console().print(
                f"{name}: threshold {found.threshold:.3f}; it answers {found.false_answers:.0%} of {found.unanswerable} "
                f"unanswerable questions{answered}."
            )

    with_footnote(set_thresholds)
