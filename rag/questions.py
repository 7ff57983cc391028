"""Words that tell a question from an answer, and a follow-up from a question that is complete by itself.

In the languages with most speakers; another language goes by its question mark alone. All words are folded as
`rag.lexical.words` folds them: lower case, no accents.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from rag.content import surely_told
from rag.lexical import content_words, terms, words


def _folded(text: str) -> frozenset[str]:
    return frozenset(word for part in text.split() for word in words(part))


# Wherever they stand among the first words.
_ASKING: Final = _folded("""
what what's which who who's whom whose when where where's why how how's
qual quais quem quando onde porque quanto quanta quantos quantas como que
cual cuales quien quienes cuando donde cuanto cuanta cuantos cuantas
quel quelle quels quelles qui quand comment combien pourquoi quoi est-ce
welche welcher welches welchen wer wen wem wann wo warum wieso wie wieviel womit wohin woher
quale quali chi dove perche quanti quante cosa
wat welke wie wanneer waar waarom hoe hoeveel
vad vilken vilket nar varfor hur hvad hvor hvorfor hvordan
что как где когда почему зачем кто какой какая какие какое сколько чем куда
ما ماذا كيف متى أين لماذا هل من كم
""")
# Only as the very first word.
_OPENING: Final = _folded("""
is are was were am do does did can could should would will shall may might must has have had isn't aren't doesn't don't can't
was ist sind kann kannst darf soll muss gibt hat haben wird
ha hay es puede puedo existe tem pode posso esta sao
""")
_ASKING_UNSPACED: Final = re.compile(
    r"什么|什麼|怎么|怎麼|怎样|怎樣|如何|哪|谁|誰|几|幾|多[少久大长長远遠高重快]|为何|为什么|為什麼|是否|能否|可否|有没有|有沒有|吗|嗎|呢|"
    r"何|どう|どこ|どの|どれ|いつ|なぜ|だれ|いくら|いくつ|ですか|ますか|でしょうか|か$|"
    r"무엇|뭐|어떻게|왜|어디|언제|누구|얼마|나요|까요|습니까|อะไร|อย่างไร|ยังไง|ทำไม|ที่ไหน|เมื่อไ|ไหม|เท่าไ"
)
_CAPITALS: Final = re.compile(r"\b[A-Z]{2,}\b")
_QUESTION_MARKS: Final = re.compile(r"[?？؟՞]")
_EARLY: Final = 4  # words
_AFTER: Final = 3  # words, after the last question mark
_PREPOSITION: Final = 4  # letters, at most
_ASKING_BACK: Final = re.compile(
    r"\b(?:are you (?:asking|referring|looking|interested)|(?:could|can|would) you (?:please )?(?:clarify|specify|provide more)|"
    r"do you mean)\b",
    re.IGNORECASE,
)

_ANSWERING: Final = re.compile(
    r"\A\W*(?:(?:yes|no|sure|certainly|sorry|sim|n[ãa]o|claro|s[íi]|oui|non|ja|nein|nee|si|да|нет|是的|不是|对|好的|はい|いいえ|네|아니요)\s*[,.!:;，。！、—–-]"
    r"|(?:of course|i(?:'m| am)? (?:sorry|unable)|i (?:do not|don't|cannot|can't)|as an ai|"
    r"that(?:'s| is) (?:not|correct|right|true)|sorry\b|unfortunately|according to|based on|"
    r"the (?:answer|passages?|documents?|conversation)|the question is (?:already )?complete|here(?:'s| is| are)\b|"
    r"desculpe|infelizmente|lo siento|según|d[ée]sol[ée]|leider|laut|к сожалению|抱歉|很抱歉|根据|申し訳))",
    re.IGNORECASE,
)

# They stand for something said before, or only ask for more of it: a rewrite may well put other words in their place.
POINTERS: Final = _folded("""
it its it's that this these those they them their there here he she his her him one ones such same so then first second third
fourth last former latter previous next other others another both either neither thing things stuff way ways case cases part
parts point points option options step steps example examples kind type above below instead else again also too still more
further detail details about explain tell show give say said mean means meant mention mentioned talk talking think thought know
want wonder wondering help need please thanks thank ok okay yes no yeah hi hello hey sorry question answer answered sure really
actually just maybe well right elaborate clarify continue go going do does did done get got make possible isso isto aquilo ele
ela eles elas esse essa este esta aquele aquela la ali mesmo mesma primeiro primeira segundo segunda ultimo ultima outro outra
outros outras exemplo exemplos detalhe detalhes explique explica diga fale mostre mais sobre entao obrigado obrigada favor sim
eso esto aquello el ellos ellas ese esa alli mismo misma primero otro otra otros ejemplo ejemplos detalle detalles explicame
dime muestra mas entonces gracias vale cela ca ce celui celle ceux celles il ils elle elles y en meme premier premiere deuxieme
dernier derniere autre autres exemple exemples expliquez dites dis montrez plus alors merci das dies diese dieser dieses es er
sie ihn ihm dort da derselbe dieselbe erste ersten zweite zweiten letzte letzten andere anderen beispiel beispiele genauer mehr
erklare erklar sag zeig dann danke bitte davon dazu damit dafur darin daran darauf это этот эта эти тот та те он она они его ее
их там тут такой первый второй последний другой пример примеры подробнее объясни расскажи тогда спасибо пожалуйста anything
something find information learn
""")
# Characters of Chinese and Japanese that point back or only carry the sentence.
POINTERS_UNSPACED: Final = frozenset(
    "这那它他她们个第一二三四五前后上下面刚才另外其他哪什么怎样如何为何吗呢吧啊呀嘛的地得了着过是在有没不"
    "也还就都再又和与或但而请问谢谢解释说明告诉例子详细讲给我你您会能可要想知道多少几谁"
)


# They ask for one thing of what was spoken of, which may have been said already.
_ONE_THING: Final = _folded("""
when where who whom whose quando onde quem cuando donde quien quienes quand wann wo wer wen wem wohin woher dove chi wanneer
waar wieviel combien quanto quanta cuanto cuanta hoeveel nar hvor hvornar когда где кто куда сколько متى أين كم
""")
_ONE_THING_UNSPACED: Final = re.compile(
    r"什么时候|什麼時候|几点|幾點|哪[里裡儿]|谁|誰|多[少久大长長远遠高重快]|いつ|どこ|だれ|いくら|언제|어디|누[가구]|얼마"
)
_MORE: Final = _folded("""
else more other others another further mais outro outra outros outras mas otro otra otros otras plus autre autres mehr noch
andere anderen weitere altro altri meer еще другой другие
""")

# They ask how things differ: seldom do documents tell it by these words.
_COMPARING: Final = {
    "en": "difference differences differ differs differing compare compares compared comparison versus vs",
    "pt": "diferença diferenças difere diferem comparar comparação comparado versus",
    "es": "diferencia diferencias difiere difieren comparar comparación comparado versus",
    "fr": "différence différences diffère diffèrent comparer comparaison comparé versus",
    "de": "Unterschied Unterschiede unterscheidet unterscheiden Vergleich verglichen vergleichen",
    "it": "differenza differenze differisce differiscono confrontare confronto",
    "nl": "verschil verschillen verschilt vergelijken vergelijking",
    "ru": "разница различие различия отличие отличия отличается отличаются сравнение сравнить",
    "zh": "区别 差别 差异 不同 區別 差別 差異 对比 比较",
    "ja": "違い 差異 比較",
}


@cache  # stems of ten languages: only who writes by rule wants them
def comparing() -> frozenset[str]:
    """With their stems, as they are searched for."""
    return frozenset(term for language, text in _COMPARING.items() for term in terms(text, language))


# They ask for a way to do something.
_HOW: Final = re.compile(
    r"\bhow (?:do|does|can|could|should|would|must|to|i|we|may|might|is|are)\b|\bsteps\b|\bc[oó]mo\b|\bpas(?:os|sos)\b|\bcomment\b|"
    r"\bwie (?!viele?\b|lange\b|oft\b|gro(?:ß|ss)|hoch\b|alt\b|schnell\b|weit\b|teuer\b)|\bcome\b|\bhoe (?!veel\b|lang\b|vaak\b)|"
    r"\bкак(?: мне| можно)?\b|如何|怎么|怎麼|怎样|怎樣|步骤|步驟|どうやって|どうすれば|方法|手順|어떻게|방법",
    re.IGNORECASE,
)

# In a heading they tell how something is told, not what: "in five steps".
HOW_TOLD: Final = _folded("""
step steps guide tutorial overview introduction instructions procedure quick quickly easy easily simple simply detail detailed
instead beginner beginners minute minutes one two three four five six seven eight nine ten
paso pasos guia resumen introduccion instrucciones rapido rapida facil detalle dos tres cuatro cinco seis siete minuto minutos
passo passos resumo introducao instrucoes facil detalhe dois tres quatro seis sete
etape etapes guide apercu instructions rapide facile detail deux trois quatre cinq minutes
schritt schritte schritten anleitung uberblick einfuhrung schnell einfach zwei drei vier funf sechs sieben minuten
""")

# What cannot be understood without something said before.
_BACK: Final = _folded("""
it its that this those these they them their there he she his her him one ones same other others another else both either
neither former latter isso isto aquilo ele ela eles elas esse essa este esta aquele aquela mesmo mesma outro outra outros outras
deles delas eso esto aquello ellos ellas ese esa otro otra otros otras mismo misma cela ca celui celle ceux celles il ils elle
elles autre autres meme das dies diese dieser dieses er sie ihn ihm andere anderen dort davon dazu damit dafur darin daran
darauf это этот эта эти тот та те он она они его ее их там тут
""")
_BACK_UNSPACED: Final = re.compile(
    r"[这\u9019那它他她其該该此]|呢[?？]?\s*$|それ|これ|あれ|その|この|あの|彼|はどう(?:です|でしょう)?か?[?？]?\s*$|그것|이것|그건|이건|저것"
)
_NAMES_BACK_UNSPACED: Final = re.compile(
    r"[这\u9019它他她其該该此]|那[个些里儿]|それ|これ|あれ|その|この|あの|彼|그것|이것|그건|이건|저것"
)
_GOES_ON_UNSPACED: Final = re.compile(r"呢[?？]?\s*$|はどう(?:です|でしょう)?か?[?？]?\s*$|는요[?？]?\s*$|은요[?？]?\s*$")
_CORE_UNSPACED: Final = re.compile(
    r"\W*(?:那么?|那麼|じゃあ?|では)?[，,、]?([\u3041-\u30ff\u3400-\u9fff々ー]{2,12}?)(?:呢|はどう(?:です|でしょう)?か?)\W*\Z"
)
_ELLIPTIC: Final = re.compile(
    r"\W*(?:(?:and|but|or|so|then|also|what about|how about|e|y|et|und|oder|а|и|e se|y si|et si)\b\W*)+", re.IGNORECASE
)


# No place is meant; "is it served there?" is about one.
_THERE_IS: Final = re.compile(
    r"\b(?:is|are|was|were|isn't|aren't|will|would|can|could|might|has|have)\s+there\b|"
    r"\bthere(?:'s|\s+(?:is|are|was|were|be|will|has|have|any)\b)",
    re.IGNORECASE,
)


def points_back(text: str) -> bool:
    """Whether it names something by what was said before, or leaves it out."""
    return _holds(_BACK_UNSPACED, text) or _ELLIPTIC.match(text) is not None or not _BACK.isdisjoint(_small_words(text))


def _holds(unspaced: re.Pattern[str], text: str) -> bool:
    """What is written without spaces is not written in ASCII, as most questions are."""
    return not text.isascii() and unspaced.search(text) is not None


def names_back(text: str) -> bool:
    """Whether a word of it stands for something named before: "its", "there", 它."""
    if "there" in text.lower():
        text = _THERE_IS.sub(" ", text)
    return _holds(_NAMES_BACK_UNSPACED, text) or not _BACK.isdisjoint(_small_words(text))


def _small_words(text: str) -> list[str]:
    """Without what is written in capitals within other text: who asks for IT does not mean it."""
    return words(text if text.isupper() else _CAPITALS.sub(" ", text))


def asks_how(text: str) -> bool:
    """Whether it wants to be told what to do."""
    return _HOW.search(text) is not None


def goes_on(text: str) -> bool:
    """Whether it only puts something new into the question before: "and in Discord?", "那 Discord 呢？"."""
    opening = _ELLIPTIC.match(text)
    return _holds(_GOES_ON_UNSPACED, text) or (opening is not None and not asks_in_words(text[opening.end() :]))


def unspaced_core(text: str) -> str:
    """What a follow-up of Chinese or Japanese puts into the question before: 山河公司 of 那山河公司呢？; "" of any other text."""
    found = None if text.isascii() else _CORE_UNSPACED.match(text)
    return found[1] if found and not names_back(found[1]) else ""


def only_asks_for_more(text: str) -> bool:
    """Whether it wants what was not said yet of the same: "why?", "tell me more", "还有吗？"; "by when?" may have been said."""
    if not only_goes_back(text):
        return False
    said = set(words(text))
    return not (_holds(_ONE_THING_UNSPACED, text) or said & _ONE_THING) or not said.isdisjoint(_MORE)


def only_goes_back(text: str) -> bool:
    """Whether it names nothing of its own."""
    return all(map(only_points, surely_told(text))) and all(map(only_points, content_words(text)))


def only_points(word: str) -> bool:
    """Whether a word of a follow-up only asks, or stands for something said before."""
    return word in POINTERS or word in _ASKING or POINTERS_UNSPACED.issuperset(word)


def is_question(text: str) -> bool:
    """By its mark, or by a word that asks among its first ones."""
    return _QUESTION_MARKS.search(text) is not None or asks_in_words(text)


def asks_in_words(text: str) -> bool:
    """By a word that asks, not by a mark alone."""
    first = words(text[:200])[:_EARLY]
    spaced = bool(first and (first[0] in _OPENING or any(word in _ASKING for word in first)))
    return spaced or _holds(_ASKING_UNSPACED, text)


def is_put_as_question(text: str) -> bool:
    """The same, judged strictly: nothing of weight follows its last mark; without one, its first words ask."""
    if _QUESTION_MARKS.search(text):
        return len(words(_QUESTION_MARKS.split(text)[-1])) <= _AFTER
    first, second = [*words(text[:200]), "", ""][:2]
    asks = first in _OPENING or first in _ASKING or (len(first) <= _PREPOSITION and second in _ASKING)
    return asks or _holds(_ASKING_UNSPACED, text)


def opens_like_an_answer(text: str) -> bool:
    """A yes or no, an excuse, a question back."""
    return _ANSWERING.match(text) is not None or _ASKING_BACK.search(text) is not None
