"""What is answered in kind, since there is nothing to look up: a thank-you, a greeting, and who asks what it is."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from rag.history import language_of
from rag.introductions import Courtesy, introduction, plain
from rag.nodding import nods

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Turn

_LONGEST: Final = 60  # characters
_MOST_WORDS: Final = 6
_ASKS: Final = re.compile(r"[?？؟]")


class _Manners(NamedTuple):
    """Phrases of thanks and of greeting, parted by commas, words that may stand beside them, and what is said back."""

    thanks: str
    greetings: str
    beside: str
    welcome: str
    hello: str


_MANNERS: Final = {
    "en": _Manners(
        "thank you, thanks, thx, ty, cheers, much appreciated",
        "hello, hi, hey, good morning, good afternoon, good evening",
        "a lot so very much many you ok okay great perfect cool nice good got it all there everyone bot that helps helped again",
        "You're welcome.",
        "Hello! Ask me about the documents.",
    ),
    "de": _Manners(
        "danke, dankeschön, vielen dank, besten dank, herzlichen dank",
        "guten tag, guten morgen, guten abend, moin, servus, grüß gott, hallo",
        "sehr schön dir ihnen super prima gut ok okay alles klar schon mal dafür zusammen",
        "Gern geschehen.",
        "Hallo! Fragen Sie mich etwas zu den Dokumenten.",
    ),
    "fr": _Manners(
        "merci, je vous remercie, je te remercie",
        "bonjour, bonsoir, salut, coucou",
        "beaucoup bien à vous toi tous super parfait ok d'accord infiniment",
        "Avec plaisir.",
        "Bonjour ! Posez-moi une question sur les documents.",
    ),
    "es": _Manners(
        "gracias, te lo agradezco, se lo agradezco",
        "hola, buenos días, buenas tardes, buenas noches, buenas",
        "muchas mil muy amable a todos ok vale perfecto genial por todo la ayuda tu su",
        "De nada.",
        "¡Hola! Pregúntame algo sobre los documentos.",
    ),
    "pt": _Manners(
        "obrigado, obrigada, valeu, agradeço, agradecido, agradecida",
        "olá, oi, bom dia, boa tarde, boa noite",
        "muito tudo bem a todos ok perfeito ótimo pela ajuda",
        "De nada.",
        "Olá! Pergunte-me algo sobre os documentos.",
    ),
    "it": _Manners(
        "grazie, ti ringrazio, la ringrazio",
        "ciao, buongiorno, buonasera, salve",
        "mille tante molto a tutti ok perfetto ottimo dell'aiuto",
        "Prego.",
        "Ciao! Chiedimi qualcosa sui documenti.",
    ),
    "nl": _Manners(
        "bedankt, dank je, dank je wel, dank u, dank u wel, dankjewel, dankuwel",
        "goedemorgen, goedemiddag, goedenavond, goedendag, hoi",
        "hartelijk heel erg veel hartstikke ok prima super hallo allemaal",
        "Graag gedaan.",
        "Hallo! Vraag me iets over de documenten.",
    ),
    "ca": _Manners(
        "gràcies",
        "bon dia, bona tarda, bona nit",
        "moltes a tots d'acord perfecte",
        "De res.",
        "Hola! Pregunta'm sobre els documents.",
    ),
    "ro": _Manners(
        "mulțumesc, mersi, mulțumim",
        "bună, bună ziua, bună dimineața, bună seara, salut tuturor",
        "mult foarte frumos ok perfect",
        "Cu plăcere.",
        "Bună! Întreabă-mă ceva despre documente.",
    ),
    "ru": _Manners(
        "спасибо, благодарю, спс",
        "привет, здравствуйте, здравствуй, добрый день, доброе утро, добрый вечер",
        "большое огромное вам тебе всем отлично хорошо",
        "Пожалуйста.",
        "Здравствуйте! Спросите меня о документах.",
    ),
    "uk": _Manners(
        "дякую, спасибі",
        "привіт, вітаю, добрий день, доброго дня, доброго ранку",
        "дуже щиро вам тобі всім добре чудово",
        "Будь ласка.",
        "Вітаю! Запитайте мене про документи.",
    ),
    "pl": _Manners(
        "dziękuję, dzięki, dziękuje",
        "cześć, dzień dobry, dobry wieczór, witam",
        "bardzo wielkie ok super wszystkim",
        "Proszę bardzo.",
        "Dzień dobry! Zapytaj mnie o dokumenty.",
    ),
    "cs": _Manners(
        "děkuji, díky, děkuju",
        "ahoj, dobrý den, dobré ráno, dobrý večer",
        "moc mockrát super ok všem",
        "Rádo se stalo.",
        "Dobrý den! Zeptejte se mě na dokumenty.",
    ),
    "tr": _Manners(
        "teşekkürler, teşekkür ederim, teşekkür ederiz, sağ ol, sağol, sağ olun",
        "merhaba, selam, günaydın, iyi günler, iyi akşamlar",
        "çok tamam",
        "Rica ederim.",
        "Merhaba! Bana belgeler hakkında bir şey sorun.",
    ),
    "sv": _Manners(
        "tack, tackar",
        "hej, god morgon, god kväll, hejsan, tjena",
        "så mycket ska du ha ok alla",
        "Varsågod.",
        "Hej! Fråga mig något om dokumenten.",
    ),
    "da": _Manners(
        "mange tak, tusind tak, tak",
        "goddag, godmorgen, godaften",
        "skal du have hej ok alle for hjælpen",
        "Selv tak.",
        "Hej! Spørg mig om dokumenterne.",
    ),
    "no": _Manners(
        "takk, tusen takk, mange takk",
        "god dag, god kveld, heisann, hei på deg",
        "skal du ha ok hei alle for hjelpen",
        "Bare hyggelig.",
        "Hei! Spør meg om dokumentene.",
    ),
    "fi": _Manners(
        "kiitos, kiitti, kiitokset",
        "hei kaikille, moi, terve, hyvää huomenta, hyvää päivää",
        "paljon oikein hei ok",
        "Ole hyvä.",
        "Hei! Kysy minulta jotain asiakirjoista.",
    ),
    "hu": _Manners(
        "köszönöm, köszi, köszönjük",
        "szia, sziasztok, jó napot, jó reggelt, jó estét, helló",
        "szépen nagyon ok kívánok",
        "Szívesen.",
        "Üdvözlöm! Kérdezzen a dokumentumokról.",
    ),
    "el": _Manners(
        "ευχαριστώ, ευχαριστούμε",
        "γεια, γεια σας, γεια σου, καλημέρα, καλησπέρα",
        "πολύ σας",
        "Παρακαλώ.",
        "Γεια σας! Ρωτήστε με για τα έγγραφα.",
    ),
    "zh": _Manners(
        "谢谢, 多谢, 感谢, 谢了, 非常感谢, 十分感谢, 謝謝, 多謝, 感謝",
        "你好, 您好, 早上好, 下午好, 晚上好, 大家好, 早安, 嗨",
        "你 您 你们 啊 呀 哦 啦 了 好的 好 非常 十分 大家 的 帮助 妳",
        "不客气。",
        "您好！请问我关于文档的问题。",
    ),
    "ja": _Manners(
        "ありがとう, ありがとうございます, ありがとうございました, 感謝します, どうも",
        "こんにちは, おはよう, おはようございます, こんばんは, はじめまして",
        "どうも 本当に とても 皆さん ね",
        "どういたしまして。",
        "こんにちは。文書についてご質問ください。",
    ),
    "ko": _Manners(
        "감사합니다, 고맙습니다, 고마워요, 고마워, 감사해요",
        "안녕하세요, 안녕, 반갑습니다, 안녕하십니까",
        "정말 대단히 네 여러분",
        "천만에요.",
        "안녕하세요! 문서에 대해 질문해 주세요.",
    ),
    "ar": _Manners(
        "شكرا, شكرًا, أشكرك, مشكور",
        "مرحبا, مرحبًا, أهلا, السلام عليكم, صباح الخير, مساء الخير",
        "جزيلا جدا لك لكم وسهلا",
        "على الرحب والسعة.",
        "مرحبًا! اسألني عن المستندات.",
    ),
    "he": _Manners(
        "תודה, תודה רבה", "שלום, היי, בוקר טוב, ערב טוב", "רבה לך לכם מאוד", "בבקשה.", "שלום! אפשר לשאול אותי על המסמכים."
    ),
    "hi": _Manners("धन्यवाद, शुक्रिया", "नमस्ते, नमस्कार", "बहुत आपका", "आपका स्वागत है।", "नमस्ते! मुझसे दस्तावेज़ों के बारे में पूछें।"),
    "th": _Manners(
        "ขอบคุณ, ขอบคุณครับ, ขอบคุณค่ะ, ขอบคุณมาก", "สวัสดี, สวัสดีครับ, สวัสดีค่ะ", "มาก ครับ ค่ะ", "ด้วยความยินดี", "สวัสดี ถามเกี่ยวกับเอกสารได้เลย"
    ),
    "vi": _Manners(
        "cảm ơn, cám ơn, xin cảm ơn",
        "xin chào, chào, chào bạn",
        "bạn nhiều rất ạ",
        "Không có gì.",
        "Xin chào! Hãy hỏi tôi về tài liệu.",
    ),
    "id": _Manners(
        "terima kasih, makasih, terimakasih",
        "halo, selamat pagi, selamat siang, selamat sore, selamat malam",
        "banyak ya semua",
        "Sama-sama.",
        "Halo! Tanyakan kepada saya tentang dokumen.",
    ),
}


class _Phrases(NamedTuple):
    """What says a courtesy in one language, longest first, and what may stand beside it."""

    thanks: re.Pattern[str]
    greetings: re.Pattern[str]
    beside: frozenset[str]


def besides_courtesies(history: Sequence[Turn]) -> list[Turn]:
    """What was said without thanks, greetings and their answers: a follow-up does not rest on them."""
    kept = []
    courteous = False
    for turn in history:
        if turn.role == "user":
            courteous = courtesy(turn.text) is not None
        if not courteous:
            kept.append(turn)
    return kept


def courtesy(text: str) -> Courtesy | None:
    """The reply to a text that is nothing but a thank-you, a greeting, an "ok" or the question who is asked; else None."""
    return None if len(text) > _LONGEST else _told(text)


def courtesy_after(text: str, history: Sequence[Turn]) -> Courtesy | None:
    """The same within a thread: an "ok" is said in many languages, and is answered in that of the talk so far."""
    said = courtesy(text)
    if said is None or not nods(text):
        return said
    language = language_of("", besides_courtesies(history))
    return Courtesy(_MANNERS[language].welcome, language) if language in _MANNERS else said


@lru_cache(maxsize=512)  # each is asked about again with every further turn of its thread
def _told(text: str) -> Courtesy | None:
    return introduction(text) or (None if _ASKS.search(text) else _courtesy(text))


def _courtesy(text: str) -> Courtesy | None:
    said = plain(text)
    if nods(text):
        return Courtesy(_MANNERS["en"].welcome, "en")
    if not 0 < len(said.split()) <= _MOST_WORDS:
        return None
    for language, manners in _MANNERS.items():
        phrases = _phrases(language)
        for kind, reply in ((phrases.thanks, manners.welcome), (phrases.greetings, manners.hello)):
            rest, found = kind.subn(" ", f" {said} ")
            if found and phrases.beside.issuperset(phrases.greetings.sub(" ", rest).split()):
                return Courtesy(reply, language)
    return None


@lru_cache(maxsize=len(_MANNERS))
def _phrases(language: str) -> _Phrases:
    manners = _MANNERS[language]
    unspaced = language in ("zh", "ja", "th")
    thanks, greetings = (_one_of(listed.split(","), unspaced=unspaced) for listed in (manners.thanks, manners.greetings))
    beside = " ".join(map(plain, manners.beside.split()))
    return _Phrases(thanks, greetings, frozenset(beside.split()))


def _one_of(phrases: list[str], *, unspaced: bool) -> re.Pattern[str]:
    longest_first = sorted(map(plain, phrases), key=len, reverse=True)
    either = "|".join(map(re.escape, longest_first))
    return re.compile(either if unspaced else rf"(?<=\s)(?:{either})(?=\s)")
