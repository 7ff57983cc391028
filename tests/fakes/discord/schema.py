"""Discord's own description of its API as the judge of every request; it is not part of the project (see its README)."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from tests.fakes.discord.state import JSON

PATH = Path(__file__).parents[4] / "shared" / "payloads" / "discord" / "openapi.json"


def problems(method: str, path: str, body: Any) -> list[str]:
    """What the description does not allow; nothing where it is missing or says nothing of the request."""
    validator = _validator(method.lower(), path)
    return [] if validator is None else [error.message for error in validator.iter_errors(_with_text_ids(body))]


@cache
def _described() -> JSON:
    return json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {"paths": {}}


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    paths = sorted(_described()["paths"], key=lambda path: path.count("{"))
    return [(re.compile(re.sub(r"{\w+}", "[^/]+", path)), path) for path in paths]


@cache
def _template(path: str) -> str | None:
    return next((template for pattern, template in _patterns() if pattern.fullmatch(path)), None)


@cache
def _validator_of(method: str, template: str) -> Draft202012Validator | None:
    operation = _described()["paths"][template].get(method, {})
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return Draft202012Validator({**schema, "components": _described()["components"]}) if schema else None


def _validator(method: str, path: str) -> Draft202012Validator | None:
    template = _template(path)
    return _validator_of(method, template) if template else None


def _with_text_ids(body: Any) -> Any:
    """discord.py sends some ids as numbers, which Discord takes."""
    if not isinstance(body, dict):
        return body
    body = copy.deepcopy(body)
    for attachment in body.get("attachments") or []:
        attachment["id"] = str(attachment.get("id"))
    reference = body.get("message_reference") or {}
    for key in reference:
        if key.endswith("_id"):
            reference[key] = str(reference[key])
    return {**body, "data": _with_text_ids(body["data"])} if "data" in body else body
