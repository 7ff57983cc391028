"""What says no more than that they heard, which many languages say alike."""

from __future__ import annotations

from functools import cache
from typing import Final

from rag.introductions import plain

_NODS: Final = """
ok, okay, okey, okey dokey, ok ok, oki, got it, ok got it, okay got it, ok cool, ok great, i see, ah i see, oh i see, ok i see,
understood, makes sense, great, perfect, cool, awesome, all right, alright, ok alright, sounds good, wow, lol,
alles klar, verstanden, super, prima, perfekt, gut, ah ok, ach so, achso, na gut,
entendi, entendido, perfeito, ótimo, beleza, tá bom, tudo bem, tudo certo, perfecto, genial, de acuerdo, está bien,
d'accord, parfait, compris, ça marche, très bien, va bene, perfetto, capito, ottimo, begrepen, prima dank, duidelijk,
понятно, ясно, хорошо, ок, отлично, понял, поняла, rozumiem, dobrze, tamam, anladım, تمام,
好的, 好, 好吧, 明白, 明白了, 知道了, 了解, 收到, 嗯, 嗯嗯, 行, 可以,
はい, 了解です, 了解しました, わかりました, 分かりました, なるほど, 네, 알겠습니다, 알겠어요, 넵
"""


def nods(text: str) -> bool:
    """Whether it is an "ok", and nothing else."""
    return plain(text) in _known() and not any(map(str.isdigit, text))


@cache
def _known() -> frozenset[str]:
    return frozenset(map(plain, _NODS.split(",")))
