"""Who asks what it is, or for help, is told: the documents say nothing of that, and something of theirs would be an odd answer."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from rag.letters import fold

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?[^\W\d_]*")


class Courtesy(NamedTuple):
    """What is said back, and in which language."""

    text: str
    language: str


class _Introduction(NamedTuple):
    """What is asked, parted by commas, and what is said."""

    asked: str
    said: str


_INTRODUCTIONS: Final = {
    "en": _Introduction(
        "help, help me, who are you, what are you, what is this, what do you do, what can you do, what can i ask,"
        "what can you help with, what can you help me with, how can you help, how can you help me, how do you work, are you a bot,"
        "are you human, are you a human, are you an ai, introduce yourself, tell me about yourself",
        "I am Footnote. I answer questions from the documents I was given, and every answer says which page it is from. "
        "What they don't say, I don't know. Ask me as you would ask a colleague.",
    ),
    "de": _Introduction(
        "hilfe, wer bist du, wer sind sie, was bist du, was kannst du, was können sie, was machst du, bist du ein bot,"
        "was kann ich dich fragen, wie funktionierst du, stell dich vor",
        "Ich bin Footnote. Ich beantworte Fragen aus den Dokumenten, die mir gegeben wurden, und jede Antwort nennt die Seite, "
        "von der sie stammt. Was dort nicht steht, weiß ich nicht. Fragen Sie mich wie eine Kollegin.",
    ),
    "fr": _Introduction(
        "aide, à l'aide, qui es-tu, qui es tu, tu es qui, qui êtes-vous, qui êtes vous, que peux-tu faire, que peux tu faire,"
        "que pouvez-vous faire, que fais-tu, es-tu un bot, présente-toi",
        "Je suis Footnote. Je réponds aux questions à partir des documents qui m'ont été donnés, et chaque réponse indique la page "
        "dont elle vient. Ce qu'ils ne disent pas, je ne le sais pas. Demandez-moi comme à un collègue.",
    ),
    "es": _Introduction(
        "ayuda, quién eres, quien eres, quién es usted, qué eres, qué puedes hacer, que puedes hacer, qué haces, eres un bot,"
        "qué te puedo preguntar, cómo funcionas, preséntate",
        "Soy Footnote. Respondo preguntas a partir de los documentos que me dieron, y cada respuesta dice de qué página viene. "
        "Lo que no dicen, no lo sé. Pregúntame como a un colega.",
    ),
    "pt": _Introduction(
        "ajuda, quem é você, quem é vc, quem és tu, o que é você, o que você faz, o que você pode fazer, o que você sabe fazer,"
        "o que posso perguntar, você é um robô, você é um bot, como você funciona, apresente-se, se apresente",
        "Sou o Footnote. Respondo perguntas a partir dos documentos que me deram, e cada resposta diz de que página veio. "
        "O que eles não dizem, eu não sei. Pergunte como perguntaria a um colega.",
    ),
    "it": _Introduction(
        "aiuto, chi sei, cosa sei, cosa puoi fare, che cosa puoi fare, cosa fai, sei un bot, come funzioni, presentati",
        "Sono Footnote. Rispondo alle domande a partire dai documenti che mi sono stati dati, e ogni risposta dice da quale pagina "
        "viene. Quello che non dicono, non lo so. Chiedimi come chiederesti a un collega.",
    ),
    "nl": _Introduction(
        "wie ben je, wie bent u, wat ben je, wat kun je, wat kan je, wat doe je, ben je een bot, stel jezelf voor",
        "Ik ben Footnote. Ik beantwoord vragen uit de documenten die ik heb gekregen, en elk antwoord zegt van welke pagina "
        "het komt. Wat er niet in staat, weet ik niet. Vraag het me zoals je het een collega zou vragen.",
    ),
    "ru": _Introduction(
        "помощь, помоги, кто ты, кто вы, что ты умеешь, что ты можешь, что вы умеете, ты бот, как ты работаешь, представься",
        "Я Footnote. Я отвечаю на вопросы по документам, которые мне дали, и каждый ответ говорит, с какой он страницы. "
        "Чего в них нет, того я не знаю. Спрашивайте, как спросили бы коллегу.",
    ),
    "zh": _Introduction(
        "帮助, 你是谁, 您是谁, 你是什么, 你能做什么, 你会做什么, 你可以做什么, 你能干什么, 你会什么, 你是机器人吗, 你有什么功能,"
        "介绍一下你自己, 你怎么用, 幫助, 你是誰, 你能做什麼",
        "我是 Footnote。我根据所给的文档回答问题，每个回答都注明出自哪一页；文档里没有的，我就不知道。像问同事一样问我吧。",
    ),
    "ja": _Introduction(
        "ヘルプ, あなたは誰ですか, あなたは誰, 誰ですか, あなたは何ですか, 何ができますか, 何ができるの, 使い方,"
        "自己紹介してください",
        "Footnote です。渡された文書から質問に答え、どの回答にも出典のページを示します。文書にないことは分かりません。"
        "同僚に尋ねるように聞いてください。",
    ),
    "ko": _Introduction(
        "도움말, 누구세요, 넌 누구야, 당신은 누구입니까, 무엇을 할 수 있나요, 뭘 할 수 있어, 뭐 할 수 있어, 자기소개 해줘",
        "저는 Footnote입니다. 주어진 문서에서 질문에 답하고, 모든 답에 어느 페이지에서 왔는지 적습니다. "
        "문서에 없는 것은 모릅니다. 동료에게 묻듯이 물어보세요.",
    ),
}


def introduction(text: str) -> Courtesy | None:
    """What is said to a text that asks for nothing else."""
    language = _asking().get(plain(text))
    return None if language is None else Courtesy(_INTRODUCTIONS[language].said, language)


def plain(text: str) -> str:
    """Its words, folded."""
    return " ".join(fold(word) for word in _WORD.findall(text.replace("’", "'")))


@cache
def _asking() -> Mapping[str, str]:
    return {plain(each): language for language, one in _INTRODUCTIONS.items() for each in one.asked.split(",")}
