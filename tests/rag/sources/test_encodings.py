import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.errors import Unreadable
from rag.sources.encodings import decode
from rag.sources.html import read as read_html
from rag.sources.reading import Raw, ReadLimits
from tests.rag.sources.short_texts import SAVED

CHINESE = "员工每年有二十天带薪假期。申请请提前两周提交。"
TRADITIONAL = "員工每年有二十天帶薪假期。請提前兩週申請。"
JAPANESE = "社員は年に二十日の有給休暇があります。二週間前に申請してください。"
KOREAN = "직원은 매년 이십 일의 유급 휴가를 받습니다. 이 주 전에 신청하세요."
GERMAN = "Größe und Maß müssen übereinstimmen; die Prüfung läuft täglich."
FRENCH = "L’été dernier, où étiez-vous ? À l’hôtel, près du château."
PORTUGUESE = "As férias são concedidas após a aprovação da chefia; não há exceções."
RUSSIAN = "Сотрудникам полагается двадцать дней отпуска в год."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *[(text, encoding) for text in (CHINESE, GERMAN, JAPANESE) for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32")],
        *[
            ("Plain English words, in some lines.\nAnd more.", encoding)
            for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
        ],
        (CHINESE, "gb18030"),
        (CHINESE, "utf-16-le"),
        ("Отпуск, двадцать дней", "utf-16-le"),
        (JAPANESE, "utf-16-be"),
        ("你好，世界", "gb18030"),
        ("测试文件", "gb18030"),
        ("README 使用说明 v1.2", "gb18030"),
        (TRADITIONAL, "big5"),
        (JAPANESE, "shift_jis"),
        ("こんにちは", "shift_jis"),
        ("設定ファイルの使い方", "cp932"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "euc_kr"),
        (GERMAN, "latin-1"),
        ("Straße", "latin-1"),
        ("für", "latin-1"),
        (FRENCH, "cp1252"),
        ("élève", "latin-1"),
        (PORTUGUESE, "latin-1"),
        ("não", "latin-1"),
        ("¿Dónde está el niño? Mañana.", "latin-1"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
    ],
)
def test_text_is_read_in_its_encoding(text: str, encoding: str) -> None:
    assert decode("a file", text.encode(encoding)) == text.replace("\r\n", "\n")


@pytest.mark.parametrize(("encoding", "texts"), SAVED)
def test_texts_of_a_few_characters_are_read_in_their_encoding(encoding: str, texts: list[str]) -> None:
    assert [decode("a file", text.encode(encoding)) for text in texts] == texts


@pytest.mark.parametrize(("encoding", "texts"), SAVED)
def test_long_texts_are_read_in_their_encoding_though_a_byte_of_them_is_broken(encoding: str, texts: list[str]) -> None:
    whole = "\n".join(texts)

    assert decode("a file", whole.encode(encoding)) == whole
    if encoding not in {"cp1251", "koi8_r", "latin-1"}:  # where any byte is a letter
        assert decode("a file", whole.encode(encoding) + b"\n\xff\n" + b"Rooms.").startswith(whole)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("ｺｰﾋｰ,120\nﾐﾙｸ,80", "shift_jis"),
        ("# 設定ファイル\nport=8080", "shift_jis"),
        ("# 配置文件\nport=8080 # 本机地址", "gb18030"),
        ("FRÜHSCHICHT", "cp1252"),
        ("à côté de l’hôtel", "cp1252"),
        ("Dovolená na zotavenou", "cp1250"),
        ("Urlop wypoczynkowy: dwadzieścia dni", "cp1250"),
        ("Κανόνες αποθήκης", "cp1253"),
        ("قواعد المستودع", "cp1256"),
    ],
)
def test_lists_code_and_other_languages_are_read_in_their_encoding(text: str, encoding: str) -> None:
    assert decode("a file", text.encode(encoding)) == text


@pytest.mark.parametrize("times", [1, 100])
@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Las montañas son pequeñas y el niño sueña mañana con piñas en otoño. ", "cp1252"),
        ("Ønsket om øl gør ikke små bønder større, men høje bjerge kræver både mod og sø. ", "cp1252"),
        ("Être prêt à fêter la forêt même pendant la tempête, c'est être bête. ", "cp1252"),
        ("Você vê três bebês que têm fôlego, porém não há exceções para ninguém. ", "cp1252"),
        ("Die Größe der Straße heißt Maß; süße Grüße aus Köln. ", "cp1252"),
        ("Zaměstnanci mají nárok na dvacet dní dovolené ročně. Žádost je třeba podat dva týdny předem. ", "cp1250"),
        ("Wniosek należy złożyć najpóźniej dwa tygodnie wcześniej. Następne spotkanie będzie we wtorek. ", "cp1250"),
        ("A dolgozóknak évente húsz nap jár. A kérelmet két héttel előbb kell benyújtani. Az időszak őszi. ", "cp1250"),
    ],
)
def test_languages_whose_encodings_differ_in_a_few_letters_are_told_apart(text: str, encoding: str, times: int) -> None:
    assert decode("a file", (text * times).encode(encoding)) == text * times


@pytest.mark.parametrize("short", ["退货".encode("gb18030"), "返品".encode("euc_jp"), "退貨".encode("big5"), b"\xb3\xd7"])
def test_two_characters_that_could_be_those_of_several_languages_are_refused(short: bytes) -> None:
    with pytest.raises(Unreadable, match="too short to tell which encoding it is in: save it as UTF-8"):
        decode("a file", short)


def test_the_language_that_a_page_declares_tells_its_encoding() -> None:
    page = '<html lang="ja"><body><h1>返品</h1></body></html>'.encode("euc_jp")

    assert read_html(Raw("a page", page), ReadLimits()).title == "返品"
    with pytest.raises(Unreadable, match="too short to tell"):
        read_html(Raw("a page", page.replace(b' lang="ja"', b"")), ReadLimits())


def test_the_letters_of_a_file_s_name_tell_its_encoding() -> None:
    assert decode("おしらせ/返品.txt", "返品".encode("euc_jp")) == "返品"
    assert decode("공지/반품.txt", "반품".encode("euc_kr")) == "반품"


@pytest.mark.parametrize("declared", ["gb2312", "GBK", "x-unknown", "", "utf-8"])
def test_a_wrong_declaration_does_no_harm(declared: str) -> None:
    assert decode("a file", CHINESE.encode("gb18030"), declared) == CHINESE
    assert decode("a file", CHINESE.encode(), declared) == CHINESE


def test_a_declaration_decides_where_the_bytes_do_not() -> None:
    assert decode("a file", b"caf\xe9 \xa4", "iso-8859-15") == "café €"


@pytest.mark.parametrize(
    "content",
    [
        bytes(range(256)) * 20,
        b"\x89PNG\r\n\x1a\n" + bytes(50),
        b"\x7fELF" + bytes(range(200)),
        b"PK\x03\x04" + bytes(60),
        b"\x00\x01\x02\xff" * 50,
    ],
)
def test_what_is_no_text_is_refused(content: bytes) -> None:
    with pytest.raises(Unreadable, match="binary"):
        decode("a file", content)


def test_utf8_that_was_cut_off_within_a_character_is_still_utf8() -> None:
    assert decode("a file", CHINESE.encode()[:-1]) == CHINESE[:-1] + "\ufffd"
    assert decode("a file", "Rockets 🚀 – and arrows →".encode() + b"\xff") == "Rockets 🚀 – and arrows →\ufffd"
    assert decode("a file", "é à ü ñ ö € and".encode() + b"\xff") == "é à ü ñ ö € and\ufffd"


def test_line_ends_and_marks_are_made_uniform() -> None:
    assert decode("a file", codecs.BOM_UTF8 + b"one\r\ntwo\rthree\n") == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"Rooms\0 are blue.", "Rooms are blue."),
        ("Café\0 crème, déjà vu.".encode("cp1252"), "Café crème, déjà vu."),
        ("一是不了在人有我他\0的".encode("gb18030"), "一是不了在人有我他的"),
        (b"\0\1a list that a program made\n" * 20, "\1a list that a program made\n" * 20),
    ],
)
def test_a_few_control_characters_do_not_make_a_text_binary(content: bytes, expected: str) -> None:
    assert decode("a file", content) == expected


def test_nul_and_lone_surrogates_do_not_come_through() -> None:
    text = decode("a file", b"a\0b " + b"text of some length, mostly well formed. " * 5)

    assert text.startswith("ab text")
    assert "\ud800" not in decode("a file", b"\xff\xfe" + b"\x00\xd8" + "text".encode("utf-16-le"))


def test_colours_that_a_program_wrote_are_no_text() -> None:
    assert (
        decode("a log", b"\x1b[1;31mfailed\x1b[0m: \x1b]8;;https://x.example\x07lamp\x1b]8;;\x07 \x1b[2Jout\n")
        == "failed: lamp out\n"
    )


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_text_that_can_be_stored_or_refused(content: bytes) -> None:
    try:
        text = decode("a file", content)
    except Unreadable:
        return
    assert "\0" not in text
    text.encode()
