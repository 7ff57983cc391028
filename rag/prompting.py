"""The prompts: plain template files that an operator may replace, checked when the program starts (R24)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from rag import material
from rag.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from rag.types import Excerpt, Turn

NO_ANSWER: Final = "NO_ANSWER"  # what the templates tell the model to say, and nothing else, where the passages do not answer

Name: TypeAlias = Literal["answer_system", "answer_user", "condense", "map", "combine", "refine_first", "refine_next", "route"]


@dataclass(frozen=True, slots=True)
class Variables:
    """What a template must name, and what it may."""

    required: frozenset[str]
    optional: frozenset[str] = frozenset()


def _variables(required: str, optional: str = "") -> Variables:
    return Variables(frozenset(required.split()), frozenset(optional.split()))


VARIABLES: Final[Mapping[Name, Variables]] = {
    "answer_system": _variables("", "language"),
    "answer_user": _variables("passages history question", "language"),
    "condense": _variables("history question", "language"),
    "map": _variables("passages history question", "language"),
    "combine": _variables("answers history question", "language"),
    "refine_first": _variables("passages history question", "language"),
    "refine_next": _variables("answer passages history question", "language"),
    "route": _variables("bases question"),
}

LANGUAGES: Final[Mapping[str, str]] = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "gl": "Galician", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian",
    "ms": "Malay", "nb": "Norwegian", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish",
    "ta": "Tamil", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
UNKNOWN_LANGUAGE: Final = "the language of the question"


@dataclass(frozen=True, slots=True)
class Prompts:
    """Every template by its name. Material comes in delimited and capped, so no template needs to do it."""

    templates: Mapping[Name, Template]

    @classmethod
    def load(cls, folder: Path | None = None) -> Prompts:
        """The built-in templates, each replaced by the file of its name in the operator's folder. Raises BadSetting."""
        chosen: dict[str, Traversable] = {
            f"{name}.txt": resources.files("rag").joinpath("prompts", f"{name}.txt") for name in VARIABLES
        }
        if folder is not None:
            chosen |= _replacements(folder)
        return cls({name: _checked(name, chosen[f"{name}.txt"]) for name in VARIABLES})

    def answer_system(self, language: str) -> str:
        return _in_language(self.templates["answer_system"].template, language_name(language))

    def answer_user(self, question: str, excerpts: Sequence[Excerpt], history: Sequence[Turn], language: str) -> str:
        return self._of_passages("answer_user", question, excerpts, history, language)

    def map(self, question: str, excerpts: Sequence[Excerpt], history: Sequence[Turn], language: str) -> str:
        return self._of_passages("map", question, excerpts, history, language)

    def refine_first(self, question: str, excerpts: Sequence[Excerpt], history: Sequence[Turn], language: str) -> str:
        return self._of_passages("refine_first", question, excerpts, history, language)

    def refine_next(self, question: str, answer: str, excerpts: Sequence[Excerpt], history: Sequence[Turn], language: str) -> str:
        return self._of_passages("refine_next", question, excerpts, history, language, answer=material.answer(answer))

    def combine(self, question: str, answers: Sequence[tuple[str, Sequence[int]]], history: Sequence[Turn], language: str) -> str:
        blocks = {"answers": material.answers(answers), "history": material.conversation(history)}
        return self._filled("combine", language=language, question=material.question(question), **blocks)

    def condense(self, question: str, history: Sequence[Turn], language: str) -> str:
        said = material.conversation(history)
        return self._filled("condense", language=language, question=material.question(question), history=said)

    def route(self, question: str, bases: Sequence[tuple[str, str]]) -> str:
        return self._filled("route", question=material.question(question), bases=material.bases(bases))

    def _of_passages(
        self, name: Name, question: str, excerpts: Sequence[Excerpt], history: Sequence[Turn], language: str, **more: str
    ) -> str:
        return self._filled(
            name,
            language=language,
            question=material.question(question),
            passages=material.passages(excerpts),
            history=material.conversation(history),
            **more,
        )

    def _filled(self, name: Name, *, language: str = "", **blocks: str) -> str:
        """A line that holds nothing but a variable goes, with the empty lines after it, where the variable is empty."""
        text = self.templates[name].template
        for variable, value in blocks.items():
            if not value:
                text = re.sub(rf"^[ \t]*\$(?:{variable}|{{{variable}}})[ \t]*(?:\n\s*|\Z)", "", text, flags=re.MULTILINE)
        return Template(text).substitute(blocks, language=language_name(language)).strip()


@lru_cache(maxsize=len(LANGUAGES))  # the same at every question
def _in_language(template: str, language: str) -> str:
    return Template(template).substitute(language=language).strip()


def language_name(code: str) -> str:
    """What a prompt calls a language (ISO 639-1, a region after it is left aside)."""
    return LANGUAGES.get(re.split(r"[-_]", code.strip().casefold())[0], UNKNOWN_LANGUAGE)


def _replacements(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise BadSetting(f"The folder of prompts {folder} does not exist. Make it, or take the setting out.")
    files = {path.name: path for path in sorted(folder.iterdir()) if not path.name.startswith(".")}
    known = [f"{name}.txt" for name in VARIABLES]
    for name, path in files.items():
        if name not in known:
            raise BadSetting(f"The prompt {path} has a name that is not known. Known are {', '.join(known)}.")
    return files


def _checked(name: Name, file: Traversable) -> Template:
    text = _read(file)
    template = Template(text)
    if not template.is_valid():
        raise BadSetting(f"The prompt {file} has a $ that begins no variable. Write $$ where a dollar sign is meant.")
    if not text.strip():
        raise BadSetting(f"The prompt {file} is empty. Write one, or delete the file to have the built-in one.")
    named, variables = set(template.get_identifiers()), VARIABLES[name]
    if missing := sorted(variables.required - named):
        raise BadSetting(f"The prompt {file} lacks the variable ${missing[0]}. Put it where its text shall stand.")
    if unknown := sorted(named - variables.required - variables.optional):
        usable = ", ".join(f"${variable}" for variable in sorted(variables.required | variables.optional))
        raise BadSetting(f"The prompt {file} uses the unknown variable ${unknown[0]}. It may use {usable}.")
    return template


def _read(file: Traversable) -> str:
    try:
        return file.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"The prompt {file} cannot be read: {error}. It must be a text file in UTF-8.") from error
