"""Bytes to text, in whatever common encoding they are."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from rag.errors import Unreadable
from rag.text import REPLACEMENT, well_formed

if TYPE_CHECKING:
    from collections.abc import Callable

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark starts with that one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 200_000
_EXPECTED = 0.6  # of the characters
_PLAUSIBLE = 0.2
_MUCH_MORE = 4
_FEW_CONTROLS = 1
_FEW_NULS = 0.001
_BINARY_STARTS = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"\x7fELF",
    b"\x1f\x8b",
    b"\xd0\xcf\x11\xe0",
    b"SQLite format 3",
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MULTIBYTE = ("gb18030", "cp932", "euc_jp", "cp949", "big5hkscs")
_SINGLE_BYTE = ("cp1252", "cp1251", "koi8_r", "cp1250", "cp1253", "cp1256")

# The most frequent characters of running text: a wrong decoding yields rare ones.
_HANZI = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如"
    "都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间"
    "由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名"
    "真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便"
    "空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让"
    "识候带导争运请您测试使用文件系统设置说明如何可以需要网络服务器数据安装错误密码登录用户公司员工假期申请世界"
    "這個們來說時會對過發後裡種經麼學現當沒動還進樣從實無與長機業將兩間問應戰向頭體見產給門東聲員論處義幾條氣題爾別變總電數報結務場計資許統區"
    "隊決馬書則聽達強難權設記類據邊張該規萬覺術領確傳師觀讓識帶導爭運請測試"
    "年月日時分本人大中国会社事者手上下出入見行生学先何今私話語前後間東西南北京都道府県市区町村新聞電車自動作業使用方法設定情報処理文書"
)


def decode(raw_name: str, content: bytes, declared: str = "") -> str:
    """The text, without byte order mark, with `\\n` line ends. Raises Unreadable for what is no text at all."""
    text = _decoded(raw_name, content, declared)
    return well_formed(text.removeprefix("\ufeff")).replace("\r\n", "\n").replace("\r", "\n")


def _decoded(name: str, content: bytes, declared: str) -> str:
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            return content[len(bom) :].decode(encoding, "replace")
    if not content:
        raise Unreadable(name, "it is empty")
    if content.startswith(_BINARY_STARTS):
        raise Unreadable(name, "it is a binary file, not text")
    return (
        _strictly(content, ("utf-8",)) or _nearly_utf8(content) or _strictly(content, _known(declared)) or _guessed(name, content)
    )


def _nearly_utf8(content: bytes) -> str:
    """UTF-8 with a few torn characters, as where a file was cut off: its whole ones are too many to be chance."""
    text = content.decode("utf-8", "replace")
    lost = text.count(REPLACEMENT)
    foreign = len(text) - len(text.encode("ascii", "ignore")) - lost
    return text if foreign > _MUCH_MORE * lost and not _binary(text[:_SAMPLE], "utf-8") else ""


def _known(declared: str) -> tuple[str, ...]:
    # browsers read these two as their supersets, and so do the files that declare them
    supersets = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
    try:
        name = codecs.lookup(declared.strip()).name if declared.strip() else ""
    except (LookupError, ValueError):
        return ()
    return (supersets.get(name, name),) if name else ()


def _strictly(content: bytes, encodings: tuple[str, ...]) -> str:
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except (UnicodeError, LookupError):
            continue
        if isinstance(text, str) and not _binary(text[:_SAMPLE], encoding):
            return text
    return ""


def _binary(sample: str, encoding: str) -> bool:
    """Bytes that are UTF-8 throughout are hardly ever anything else, whatever a program left among them."""
    allowed = 0.1 if encoding == "utf-8" else 0.002
    return len(_CONTROLS.findall(sample)) > max(_FEW_CONTROLS, allowed * len(sample))


def _guessed(name: str, content: bytes) -> str:
    sample = content[:_SAMPLE]
    encoding = _wide(sample, _is_plain) if 0 in sample else ""
    if sample.count(0) <= max(_FEW_CONTROLS, _FEW_NULS * len(sample)):
        encoding = encoding or _most_plausible(sample.replace(b"\0", b"")) or _wide(sample, _is_east_asian)
    if not encoding:
        raise Unreadable(name, "it is a binary file, not text")
    return content.decode(encoding, "replace")


def _wide(sample: bytes, is_expected: Callable[[str], bool]) -> str:
    """UTF-16 or UTF-32 without a mark: read that way, most characters are what one would expect."""
    for encoding, width in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        text = sample[: len(sample) // width * width].decode(encoding, "replace")
        worded = text.isascii() or any(blank in text for blank in " \n\u3000。")
        if text and worded and sum(map(is_expected, text)) > _EXPECTED * len(text):
            return encoding
    return ""


def _is_plain(character: str) -> bool:
    if character.isascii():
        return character.isprintable() or character in "\t\r\n"
    return "\u00a0" <= character <= "\u052f" or _is_east_asian(character)


def _is_east_asian(character: str) -> bool:
    return character in _HANZI or "\u3000" <= character <= "\u30ff" or "\uff01" <= character <= "\uff5e"


def _most_plausible(sample: bytes) -> str:
    scored = [(_score(sample, encoding), encoding) for encoding in (*_MULTIBYTE, *_SINGLE_BYTE)]
    score, encoding = max(scored, key=lambda pair: pair[0])
    return encoding if score > _PLAUSIBLE else ""


def _score(sample: bytes, encoding: str) -> float:
    """How likely these bytes are text in that encoding: at most 1, none at 0 and below."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    try:
        text = decoder.decode(sample)  # the sample may end within a character
    except UnicodeDecodeError:
        return 0.0
    if _binary(text, encoding):
        return 0.0
    foreign = [character for character in text if not character.isascii()]
    if not foreign:
        return 1.0
    return _by_script(encoding, text, foreign)


def _by_script(encoding: str, text: str, foreign: list[str]) -> float:
    if encoding in _SINGLE_BYTE:
        return _alphabetic(encoding, text, foreign)
    kana = sum("\u3040" <= character <= "\u30ff" for character in foreign) / len(foreign)
    hangul = sum("\uac00" <= character <= "\ud7a3" for character in foreign) / len(foreign)
    common = sum(
        character in _HANZI or "\u3000" <= character <= "\u303f" or "\uff01" <= character <= "\uff5e" for character in foreign
    )
    common_share = common / len(foreign)
    if encoding in {"cp932", "euc_jp"}:
        halfwidth = sum("\uff61" <= character <= "\uff9f" for character in foreign) / len(foreign)
        return (kana > 0.1) * min(1.0, kana + common_share + 0.2) - halfwidth  # noqa: PLR2004 - running Japanese has kana
    if encoding == "cp949":
        return hangul if hangul > 0.5 else 0.0  # noqa: PLR2004 - a share
    return common_share * (0.99 if encoding == "big5hkscs" else 1.0) - kana


# letters that belong to the words of languages written in this encoding; a wrong decoding yields signs and mixed scripts
_LETTERS = {
    "cp1252": re.compile(r"[À-ÖØ-öø-ÿŒœŠšŽžŸ]"),
    "cp1250": re.compile(r"[ÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖŘŮÚŰÜÝŢßáâăäĺćçčéęëěíîďđńňóôőöřůúűüýţŁłĄąŞşŻżŚśŠšŤťŹźŽžľĽ]"),
    "cp1251": re.compile(r"[А-яЁёІіЇїЄєҐґ]"),
    "koi8_r": re.compile(r"[А-яЁё]"),
    "cp1253": re.compile(r"[Ά-ώ]"),
    "cp1256": re.compile(r"[ء-ي٠-٩پچژگ]"),
}
_SIGNS = frozenset("«»„“”‚‘’…–—•°§©®€£¥¿¡ºª×·±²³½¼¾ \u00a0№،؛؟")


def _alphabetic(encoding: str, text: str, foreign: list[str]) -> float:
    letters = _LETTERS[encoding].findall(text)
    signs = sum(character in _SIGNS for character in foreign)
    share = (len(letters) + signs) / len(foreign)
    runs = sum(len(run) for run in re.findall(r"[^\x00-\x7f]{3,}", text)) / len(foreign)
    if encoding in {"cp1252", "cp1250"}:  # letters with marks stand alone among plain ones
        upper = len(re.findall(r"(?<=[a-zß-ÿ])[À-ÞŒŠŽ]", text)) / len(foreign)
        return (share - runs - upper) * (0.95 if encoding == "cp1252" else 0.9)
    lower = sum(letter.islower() for letter in letters) / len(letters) if letters and encoding != "cp1256" else 1.0
    spaced = min(1.0, 0.5 + 10 * text.count(" ") / len(text))
    return share * 0.9 * spaced * (0.6 + 0.4 * lower) if runs > 0.3 else 0.1 * share  # noqa: PLR2004 - a share
