"""What is said besides answers, in the language of who asked where we have the words, else in English."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rag.languages import detect, tells

if TYPE_CHECKING:
    from rag.errors import FootnoteError


class Words(NamedTuple):
    failed: str
    too_old: str
    person_limit: str
    place_limit: str
    thread_limit: str
    budget: str
    too_long: str
    no_question: str
    outsider: str
    guest: str
    not_admin: str
    not_here: str
    shared: str
    invite: str
    looking: str
    again: str


_WORDS = {
    "en": Words(
        "Something went wrong on my side, so I could not answer. Please ask again in a moment.",
        "I was away when you asked this, and it has been a while. If you still need an answer, please ask again.",
        "You have asked a lot in a short time. Please give me a minute, then ask again.",
        "A lot is being asked here just now. Please give me a minute, then ask again.",
        "This thread has become long. Please begin a new one, and I will gladly go on there.",
        "I have answered as much as I may today. Please ask again tomorrow.",
        "That question is too long for me: please ask it in at most {most} characters.",
        "Ask me a question, and I will look it up in the documents.",
        "I answer only people of this workspace.",
        "I do not answer guests here.",
        "Only admins may do this.",
        "I am not to be asked here.",
        "People of other companies read along here, so I do not answer in this channel.",
        "Please invite me to this channel first; then I can answer here.",
        "Looking in the documents …",
        "You may have seen this already: I was interrupted while I said it.",
    ),
    "de": Words(
        "Bei mir ist etwas schiefgegangen, deshalb konnte ich nicht antworten. Bitte frag gleich noch einmal.",
        "Als du das gefragt hast, war ich nicht da, und das ist eine Weile her. Wenn du noch eine Antwort brauchst, frag bitte noch einmal.",  # noqa: E501
        "Du hast in kurzer Zeit viel gefragt. Bitte gib mir eine Minute und frag dann noch einmal.",
        "Hier wird gerade viel gefragt. Bitte gib mir eine Minute und frag dann noch einmal.",
        "Dieser Thread ist lang geworden. Bitte fang einen neuen an, dort mache ich gern weiter.",
        "Ich habe heute so viel beantwortet, wie ich darf. Bitte frag morgen noch einmal.",
        "Diese Frage ist zu lang für mich: bitte stell sie in höchstens {most} Zeichen.",
        "Stell mir eine Frage, und ich schlage in den Dokumenten nach.",
        "Ich antworte nur Leuten aus diesem Workspace.",
        "Gästen antworte ich hier nicht.",
        "Das dürfen nur Admins.",
        "Hier darf man mich nichts fragen.",
        "Hier lesen Leute anderer Firmen mit, deshalb antworte ich in diesem Kanal nicht.",
        "Bitte lade mich zuerst in diesen Kanal ein, dann kann ich hier antworten.",
        "Ich schaue in den Dokumenten nach …",
        "Vielleicht hast du das schon gesehen: ich wurde dabei unterbrochen.",
    ),
    "fr": Words(
        "Un problème est survenu de mon côté et je n'ai pas pu répondre. Merci de redemander dans un instant.",
        "J'étais absent quand vous avez posé cette question, et c'était il y a un moment. Si besoin, reposez-la.",
        "Vous avez posé beaucoup de questions en peu de temps. Laissez-moi une minute, puis redemandez.",
        "Beaucoup de questions sont posées ici en ce moment. Laissez-moi une minute, puis redemandez.",
        "Ce fil est devenu long. Commencez-en un nouveau, j'y continuerai volontiers.",
        "J'ai répondu autant que je le peux aujourd'hui. Merci de redemander demain.",
        "Cette question est trop longue pour moi : merci de la poser en {most} caractères au plus.",
        "Posez-moi une question, et je chercherai dans les documents.",
        "Je ne réponds qu'aux personnes de cet espace de travail.",
        "Je ne réponds pas aux invités ici.",
        "Seuls les administrateurs peuvent faire cela.",
        "On ne peut pas me poser de questions ici.",
        "Des personnes d'autres entreprises lisent ici, je ne réponds donc pas dans ce canal.",
        "Invitez-moi d'abord dans ce canal, je pourrai alors y répondre.",
        "Je cherche dans les documents …",
        "Vous avez peut-être déjà vu ceci : j'ai été interrompu en l'envoyant.",
    ),
    "es": Words(
        "Algo salió mal de mi lado y no pude responder. Vuelve a preguntar en un momento.",
        "No estaba cuando preguntaste esto, y ha pasado un rato. Si aún necesitas una respuesta, pregunta de nuevo.",
        "Has preguntado mucho en poco tiempo. Dame un minuto y vuelve a preguntar.",
        "Aquí se está preguntando mucho ahora mismo. Dame un minuto y vuelve a preguntar.",
        "Este hilo se ha vuelto largo. Empieza uno nuevo y seguiré allí con gusto.",
        "Hoy ya he respondido todo lo que puedo. Vuelve a preguntar mañana.",
        "Esa pregunta es demasiado larga para mí: hazla en {most} caracteres como máximo.",
        "Hazme una pregunta y la buscaré en los documentos.",
        "Solo respondo a personas de este espacio de trabajo.",
        "Aquí no respondo a invitados.",
        "Solo los administradores pueden hacer esto.",
        "Aquí no se me puede preguntar.",
        "Aquí leen personas de otras empresas, así que no respondo en este canal.",
        "Invítame primero a este canal y podré responder aquí.",
        "Buscando en los documentos …",
        "Quizá ya hayas visto esto: me interrumpieron mientras lo enviaba.",
    ),
    "pt": Words(
        "Algo deu errado do meu lado e não consegui responder. Pergunte de novo daqui a pouco.",
        "Eu não estava aqui quando você perguntou isso, e já faz um tempo. Se ainda precisar, pergunte de novo.",
        "Você perguntou muito em pouco tempo. Dê-me um minuto e pergunte de novo.",
        "Estão perguntando muito aqui agora. Dê-me um minuto e pergunte de novo.",
        "Esta conversa ficou longa. Comece uma nova, e continuarei lá com prazer.",
        "Já respondi tudo o que posso hoje. Pergunte de novo amanhã.",
        "Essa pergunta é longa demais para mim: faça-a em no máximo {most} caracteres.",
        "Faça-me uma pergunta, e vou procurar nos documentos.",
        "Só respondo a pessoas deste espaço de trabalho.",
        "Não respondo a convidados aqui.",
        "Só administradores podem fazer isso.",
        "Não posso responder aqui.",
        "Aqui leem pessoas de outras empresas, por isso não respondo neste canal.",
        "Convide-me primeiro para este canal; então poderei responder aqui.",
        "Procurando nos documentos …",
        "Talvez você já tenha visto isto: fui interrompido enquanto enviava.",
    ),
    "it": Words(
        "Qualcosa è andato storto da parte mia e non ho potuto rispondere. Riprova tra un momento.",
        "Non c'ero quando l'hai chiesto, ed è passato un po'. Se ti serve ancora una risposta, chiedi di nuovo.",
        "Hai chiesto molto in poco tempo. Dammi un minuto, poi chiedi di nuovo.",
        "Qui si chiede molto in questo momento. Dammi un minuto, poi chiedi di nuovo.",
        "Questa discussione è diventata lunga. Iniziane una nuova, continuerò volentieri lì.",
        "Oggi ho risposto a quanto potevo. Chiedi di nuovo domani.",
        "Questa domanda è troppo lunga per me: falla in al massimo {most} caratteri.",
        "Fammi una domanda e la cercherò nei documenti.",
        "Rispondo solo alle persone di questo spazio di lavoro.",
        "Qui non rispondo agli ospiti.",
        "Solo gli amministratori possono farlo.",
        "Qui non si può chiedermi nulla.",
        "Qui leggono persone di altre aziende, quindi non rispondo in questo canale.",
        "Invitami prima in questo canale, poi potrò rispondere qui.",
        "Cerco nei documenti …",
        "Forse l'hai già visto: sono stato interrotto mentre lo inviavo.",
    ),
    "zh": Words(
        "我这边出了点问题，没能回答。请稍后再问一次。",
        "你提问时我不在，已经过了一段时间。如果仍需要答案，请再问一次。",
        "你在短时间内问了很多问题。请等一分钟再问。",
        "这里现在问题很多。请等一分钟再问。",
        "这个讨论串已经很长了。请另开一个，我会在那里继续。",
        "我今天的回答已达上限。请明天再问。",
        "这个问题太长了：请控制在 {most} 个字符以内。",
        "请向我提问，我会在文档中查找。",
        "我只回答本工作区成员的问题。",
        "我在这里不回答访客的问题。",
        "只有管理员可以这样做。",
        "这里不能向我提问。",
        "这个频道有其他公司的人，所以我不在这里回答。",
        "请先邀请我加入这个频道，然后我就能在这里回答。",
        "正在查找文档……",
        "你可能已经看过这条回答：我发送时被中断了。",
    ),
    "ja": Words(
        "こちらで問題が発生し、お答えできませんでした。少し後でもう一度お尋ねください。",
        "お尋ねのとき不在で、しばらく時間が経ってしまいました。まだ必要でしたら、もう一度お尋ねください。",
        "短い時間にたくさんのご質問をいただきました。1分ほどおいてから、もう一度お尋ねください。",
        "ただいまここでは質問が集中しています。1分ほどおいてから、もう一度お尋ねください。",
        "このスレッドは長くなりました。新しいスレッドで続けましょう。",
        "本日お答えできる上限に達しました。明日もう一度お尋ねください。",
        "質問が長すぎます。{most}文字以内でお尋ねください。",
        "質問していただければ、文書を調べてお答えします。",
        "このワークスペースの方にのみお答えします。",
        "ここではゲストの方にはお答えしません。",
        "管理者のみが行えます。",
        "ここでは質問にお答えできません。",
        "ここは他社の方も見ているため、このチャンネルではお答えしません。",
        "まずこのチャンネルに招待してください。そうすればここでお答えできます。",
        "文書を調べています…",
        "すでにご覧になったかもしれません。送信中に中断されました。",
    ),
}


def words(text: str, language: str = "") -> Words:
    """In the language of what somebody said, where that tells it: two words seldom do. Else in the one that their platform says
    they use, else in English."""
    return in_language(detect(text) if tells(text) else language)


def in_language(language: str) -> Words:
    return _WORDS.get(language.lower().replace("_", "-").partition("-")[0], _WORDS["en"])


def apology(error: FootnoteError | None, asked: str, language: str = "") -> str:
    """Why there is no answer. What only our English tells apart is said in general words elsewhere."""
    said = words(asked, language)
    return error.user_message if error is not None and said is _WORDS["en"] else said.failed
