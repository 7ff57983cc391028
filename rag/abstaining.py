"""Knowing when not to answer: what is said then, in the question's language (R21, R33), and the threshold for it (R34)."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rag.labels import source_of
from rag.types import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Match, Source

_MOST_SUGGESTIONS = 3


class Wording(NamedTuple):
    unknown: str
    suggestions: str
    by_rule: str


_WORDINGS = {
    "en": Wording(
        "The documents don't say anything about this.",
        "You may look at:",
        "Written from the documents, without a language model.",
    ),
    "de": Wording(
        "Dazu steht nichts in den Dokumenten.",
        "Vielleicht hilft ein Blick in:",
        "Ohne Sprachmodell aus den Dokumenten zusammengestellt.",
    ),
    "fr": Wording(
        "Les documents ne disent rien à ce sujet.",
        "Vous pouvez consulter :",
        "Rédigé à partir des documents, sans modèle de langue.",
    ),
    "es": Wording(
        "Los documentos no dicen nada sobre esto.",
        "Puedes consultar:",
        "Escrito a partir de los documentos, sin modelo de lenguaje.",
    ),
    "pt": Wording(
        "Os documentos não dizem nada sobre isso.",
        "Você pode consultar:",
        "Escrito a partir dos documentos, sem modelo de linguagem.",
    ),
    "it": Wording(
        "I documenti non dicono nulla al riguardo.",
        "Puoi consultare:",
        "Scritto a partire dai documenti, senza un modello linguistico.",
    ),
    "nl": Wording(
        "De documenten zeggen hier niets over.",
        "Misschien helpt een blik in:",
        "Samengesteld uit de documenten, zonder taalmodel.",
    ),
    "ca": Wording(
        "Els documents no diuen res sobre això.",
        "Pots consultar:",
        "Escrit a partir dels documents, sense model de llenguatge.",
    ),
    "ro": Wording(
        "Documentele nu spun nimic despre asta.",
        "Puteți consulta:",
        "Scris pe baza documentelor, fără model de limbaj.",
    ),
    "ru": Wording(
        "В документах об этом ничего не сказано.",
        "Можно посмотреть:",
        "Составлено по документам, без языковой модели.",
    ),
    "uk": Wording(
        "У документах про це нічого не сказано.",
        "Можна переглянути:",
        "Складено за документами, без мовної моделі.",
    ),
    "pl": Wording(
        "Dokumenty nic o tym nie mówią.",
        "Możesz zajrzeć do:",
        "Zestawione z dokumentów, bez modelu językowego.",
    ),
    "cs": Wording(
        "Dokumenty o tom nic neříkají.",
        "Můžete se podívat na:",
        "Sestaveno z dokumentů, bez jazykového modelu.",
    ),
    "tr": Wording(
        "Belgelerde bununla ilgili bir bilgi yok.",
        "Şunlara bakabilirsiniz:",
        "Dil modeli olmadan, belgelerden derlendi.",
    ),
    "sv": Wording(
        "Dokumenten säger inget om detta.",
        "Du kan titta i:",
        "Sammanställt ur dokumenten, utan språkmodell.",
    ),
    "da": Wording(
        "Dokumenterne siger ikke noget om dette.",
        "Du kan se i:",
        "Sammenstillet af dokumenterne, uden sprogmodel.",
    ),
    "no": Wording(
        "Dokumentene sier ikke noe om dette.",
        "Du kan se i:",
        "Satt sammen av dokumentene, uten språkmodell.",
    ),
    "fi": Wording(
        "Asiakirjoissa ei sanota tästä mitään.",
        "Voit katsoa näistä:",
        "Koottu asiakirjoista ilman kielimallia.",
    ),
    "hu": Wording(
        "A dokumentumok erről nem írnak semmit.",
        "Érdemes megnézni:",
        "A dokumentumokból összeállítva, nyelvi modell nélkül.",
    ),
    "el": Wording(
        "Τα έγγραφα δεν λένε κάτι γι' αυτό.",
        "Μπορείτε να δείτε:",
        "Από τα έγγραφα, χωρίς γλωσσικό μοντέλο.",
    ),
    "zh": Wording(
        "文档中没有提到这一点。",
        "您可以查看：",
        "根据文档摘录，未使用语言模型。",
    ),
    "ja": Wording(
        "文書にはこれについての記載がありません。",
        "こちらをご覧ください：",
        "言語モデルを使わず、文書から抜粋しました。",
    ),
    "ko": Wording(
        "문서에는 이에 대한 내용이 없습니다.",
        "다음 문서를 참고해 보세요:",
        "언어 모델 없이 문서에서 발췌했습니다.",
    ),
    "ar": Wording(
        "لا تذكر المستندات شيئًا عن هذا.",
        "يمكنك الاطلاع على:",
        "كُتب من المستندات دون نموذج لغوي.",
    ),
    "he": Wording(
        "המסמכים אינם אומרים דבר על כך.",
        "אפשר לעיין ב:",
        "נכתב מתוך המסמכים, ללא מודל שפה.",
    ),
    "hi": Wording(
        "दस्तावेज़ों में इसके बारे में कुछ नहीं लिखा है।",
        "आप यह देख सकते हैं:",
        "बिना भाषा मॉडल के, दस्तावेज़ों से लिखा गया।",
    ),
    "th": Wording(
        "เอกสารไม่ได้กล่าวถึงเรื่องนี้",
        "คุณอาจดูที่:",
        "เรียบเรียงจากเอกสารโดยไม่ใช้แบบจำลองภาษา",
    ),
    "vi": Wording(
        "Tài liệu không nói gì về điều này.",
        "Bạn có thể xem:",
        "Viết từ tài liệu, không dùng mô hình ngôn ngữ.",
    ),
    "id": Wording(
        "Dokumen tidak menyebutkan hal ini.",
        "Anda dapat melihat:",
        "Ditulis dari dokumen, tanpa model bahasa.",
    ),
}
LANGUAGES = tuple(_WORDINGS)
_UNKNOWN = tuple(words.unknown for words in _WORDINGS.values())


def says_nothing(text: str) -> bool:
    """Whether it is what is said where the documents do not say, in whatever language, with or without the nearest documents."""
    return text.startswith(_UNKNOWN)


def wording(language: str) -> Wording:
    """In the language of that code ("pt", "pt-BR"); in English where it is not known."""
    return _WORDINGS.get(language.lower().replace("_", "-").partition("-")[0]) or _WORDINGS["en"]


def abstention(language: str, nearest: Sequence[Match]) -> Answer:
    """The documents do not say; the nearest of them, each once, are offered. No footer (R32)."""
    suggestions = _suggested(nearest)
    words = wording(language)
    return Answer(words.unknown, abstained=True, suggestions=suggestions, language=language)


def _suggested(nearest: Sequence[Match]) -> tuple[Source, ...]:
    first: dict[tuple[str, str], Match] = {}
    for match in nearest:
        first.setdefault((match.passage.base, match.passage.document), match)
    return tuple(source_of(n, match) for n, match in enumerate(list(first.values())[:_MOST_SUGGESTIONS], start=1))


# --- the threshold --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Calibration:
    """Scores of `threshold` and above are answered.

    `answered` is the share of answerable questions that then are, NaN where none was given; `false_answers` that of the
    unanswerable ones; `answerable` and `unanswerable` count what it rests on.
    """

    threshold: float
    answered: float
    false_answers: float
    answerable: int
    unanswerable: int


def calibrate(
    answerable: Sequence[float],
    unanswerable: Sequence[float],
    false_answers: float = 0.1,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Calibration:
    """The lowest threshold at which at most that share of the unanswerable questions is answered.

    Off-topic questions alone will do as `unanswerable`. Between the highest score that must not be answered and the next
    one above it, of either kind, the threshold stands in the middle; never outside of the `bounds`. Raises ValueError without
    unanswerable scores.
    """
    if not unanswerable:
        raise ValueError("Calibration needs scores of questions that the documents cannot answer.")
    wrong = sorted(unanswerable)
    allowed = int(false_answers * len(wrong) + 1e-9)
    right = sorted(answerable)
    threshold = _above(wrong[len(wrong) - allowed - 1], right, wrong) if allowed < len(wrong) else min([wrong[0], *right[:1]])
    threshold = min(max(threshold, bounds[0]), bounds[1])
    return Calibration(threshold, _share(right, threshold), _share(wrong, threshold), len(right), len(wrong))


def _above(highest: float, right: Sequence[float], wrong: Sequence[float]) -> float:
    """Just above `highest`, half-way to the next score that there is."""
    following = [score for scores in (right, wrong) for score in scores if score > highest]
    if not following:
        return highest + max(abs(highest), 1.0) * 1e-6
    return max((highest + min(following)) / 2, math.nextafter(highest, math.inf))  # half-way between neighbours is one of them


def _share(scores: Sequence[float], threshold: float) -> float:
    return (len(scores) - bisect_left(scores, threshold)) / len(scores) if scores else float("nan")
