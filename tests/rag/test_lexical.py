import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.languages import detect_after
from rag.lexical import (
    content_words,
    detect,
    is_foreign,
    is_stop,
    question_terms,
    question_words,
    script,
    terms,
    words,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "cafe"),
        ("STRASSE", "Straße"),
        ("ＦＵＬＬ width", "full Width"),
        ("Ёлка", "елка"),
        ("1,000", "1000"),
        ("naïve", "NAIVE"),
    ],
)
def test_spellings_that_mean_the_same_word_share_a_term(one: str, other: str) -> None:
    assert set(words(one)) & set(words(other))


def test_a_name_in_one_piece_is_one_word_of_a_question_though_passages_are_found_by_its_parts() -> None:
    assert question_terms("port of PostgreSQL", ["en"]) == ["port", "postgresql"]
    assert {"postgre", "sql", "postgresql"} <= set(terms("PostgreSQL", "en"))
    assert {"max", "connections"} <= set(question_terms("max_connections", ["en"]))


def test_wifi_finds_wi_fi_and_the_other_way_round() -> None:
    assert ("wifi", "wi-fi") in question_words("Where is the WiFi?", ["en"])
    assert ("wi-fi", "wifi") in question_words("Where is the Wi-Fi?", ["en"])
    assert ("wifi", "wi-fi") in question_words("where is the wifi?", ["en"])
    assert "e-mail" in question_words("who gets an email?", ["en"])[-1]
    assert len(question_words("the wi-fi", ["en"])) == 1
    assert ("call",) in question_words("who is on-call?", ["en"])
    assert {"wi-fi"} == set(terms("Wi-Fi", "en")) & {"wifi", "wi-fi"}
    assert "wi-fi" not in question_terms("Where is the WiFi?", ["en"])


def test_letters_that_only_look_accented_stay_different() -> None:
    assert words("й") != words("и")
    assert words("हिन्दी") == ["हिन्दी"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("call chat.postMessage now", ["chat.postmessage", "chat", "postmessage", "post", "message"]),
        ("use --allow-removals", ["allow-removals", "allow", "removals"]),
        ("set max_connections", ["max_connections", "max", "connections"]),
        ("Python 3.11", ["3.11", "3", "11"]),
        ("in C++ or C#", ["c++", "c#"]),
    ],
)
def test_an_identifier_is_kept_whole_and_in_its_parts(text: str, wanted: list[str]) -> None:
    assert set(wanted) <= set(words(text))


@pytest.mark.parametrize(
    ("clause", "word"),
    [
        ("黑豹队的防守丢了多少分", "防守"),
        ("データベースの接続方法を説明します", "接続"),
        ("데이터베이스를설치하는방법", "설치"),
        ("ฉันกินข้าวที่บ้าน", "บ้าน"),
        ("ຂ້ອຍກິນເຂົ້າຢູ່ເຮືອນ", "ກິນ"),
        ("ខ្ញុំញ៉ាំបាយនៅផ្ទះ", "បាយ"),
    ],
)
def test_a_word_inside_a_clause_without_spaces_is_found(clause: str, word: str) -> None:
    assert set(words(word)) <= set(words(clause))
    assert len(words(clause)) > 1


def test_a_character_that_stands_alone_is_a_word() -> None:
    assert words("x 水 y") == ["x", "水", "y"]


def test_script_changes_end_a_word() -> None:
    assert words("NFL足球PostgreSQL数据库")[0] == "nfl"


def test_stems_stand_beside_the_words() -> None:
    indexed = terms("the connections were refused", "en")
    assert {"connections", "refused"} < set(indexed)
    assert set(question_terms("refuse a connection", ["en"])) & set(indexed)


def test_a_question_finds_its_inflected_words_in_the_languages_of_the_base() -> None:
    indexed = set(terms("Die Datenbanken werden gesichert", "de"))
    assert set(question_terms("Wie wird eine Datenbank gesichert?", ["en", "de"])) & indexed >= {"datenbank", "gesichert"}


def test_stop_words_are_not_searched_for() -> None:
    assert question_terms("What is the timeout of a connection?", ["en"])[:1] == ["timeout"]
    assert "什么" not in question_terms("什么是防守", ["zh"])


def test_a_question_of_stop_words_alone_is_still_searched_for() -> None:
    assert question_terms("Who are you?", ["en"]) == ["who", "are", "you"]
    assert question_terms("什么", ["zh"]) == ["什么"]


def test_content_words_are_distinct_and_in_order() -> None:
    assert content_words("The cache and the index of the cache", "en") == ["cache", "index"]
    assert is_stop("The", "en")
    assert not is_stop("cache", "en")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The server writes its log to a file, which is rotated every day and kept for a week."),
        ("de", "Der Server schreibt sein Protokoll in eine Datei, die jeden Tag gewechselt und eine Woche aufbewahrt wird."),
        ("fr", "Le serveur écrit son journal dans un fichier qui est renouvelé chaque jour et gardé une semaine."),
        ("es", "El servidor escribe su registro en un archivo que se renueva cada día y se guarda una semana."),
        ("pt", "O servidor escreve o seu registo num ficheiro que é renovado todos os dias e guardado uma semana."),
        ("it", "Il server scrive il suo registro in un file che viene rinnovato ogni giorno e conservato una settimana."),
        ("nl", "De server schrijft zijn logboek naar een bestand dat elke dag wordt vervangen en een week wordt bewaard."),
        ("ru", "Сервер пишет журнал в файл, который сменяется каждый день и хранится неделю."),
        ("uk", "Сервер пише журнал у файл, який змінюється щодня і зберігається тиждень."),
        ("zh", "服务器把日志写入一个文件，该文件每天轮换并保存一周。"),
        ("ja", "サーバーはログをファイルに書き込み、毎日切り替えて一週間保存します。"),
        ("ko", "서버는 로그를 파일에 기록하며 매일 교체하고 일주일 동안 보관합니다."),
        ("pl", "Serwer zapisuje dziennik do pliku, który jest zmieniany codziennie i przechowywany przez tydzień."),
        ("tr", "Sunucu günlüğünü her gün değiştirilen ve bir hafta saklanan bir dosyaya yazar."),
        ("sv", "Servern skriver sin logg till en fil som byts varje dag och sparas i en vecka."),
        ("da", "Serveren skriver sin log til en fil, som skiftes hver dag og gemmes i en uge."),
        ("no", "Tjeneren skriver loggen sin til en fil som byttes hver dag og tas vare på i en uke."),
        ("fi", "Palvelin kirjoittaa lokinsa tiedostoon, joka vaihdetaan joka päivä ja säilytetään viikon."),
        ("ar", "يكتب الخادم سجله في ملف يتم تغييره كل يوم ويحفظ لمدة أسبوع."),
        ("th", "เซิร์ฟเวอร์เขียนบันทึกลงในไฟล์ทุกวัน"),
        ("", "12345 !!! ---"),
        (
            "en",
            "Depots of the company: Bremen, C. Krause; Jena, D. Lang; Ulm, L. Vogel; Gera, N. Busch; Trier, S. Schulz; J. Wolf",
        ),
    ],
)
def test_the_language_of_a_passage_is_told(language: str, text: str) -> None:
    assert detect(text) == language


def test_a_vowel_by_itself_is_a_small_word_of_some_language_unless_it_names_something() -> None:
    assert question_terms("e no Slack?", ["en"])[0] == "slack"
    assert "e" in question_terms("the gate of terminal E", ["en"])
    assert question_terms("e", ["en"]) == ["e"]


def test_two_words_are_foreign_where_they_tell_their_language() -> None:
    assert is_foreign("¿Cuánto cuesta?", ["en"])
    assert is_foreign("Quanto custa?", ["en"])
    assert not is_foreign("Bridge total?", ["es"])
    assert not is_foreign("Slack", ["en"])


def test_what_a_price_is_asked_for_with_tells_two_languages_apart() -> None:
    assert (detect("Quanto custa?"), detect("Quanto costa?")) == ("pt", "it")


def test_a_language_is_chosen_among_those_asked_about() -> None:
    assert detect("Hvordan installeres pakken?", ["no", "en"]) == "no"
    assert detect("Как установить пакет?", ["en", "de"]) == ""


@pytest.mark.parametrize(
    ("text", "name"),
    [("hello", "latin"), ("Привет мир", "cyrillic"), ("NFL 橄榄球联盟的比赛", "han"), ("こんにちは", "kana"), ("123", "")],
)
def test_the_dominant_script_is_told(text: str, name: str) -> None:
    assert script(text) == name


@given(st.text(max_size=200))
@settings(max_examples=150)
def test_any_text_gives_terms_that_can_be_joined_by_spaces(text: str) -> None:
    found = terms(text, "en")
    assert " ".join(found).split() == found
    assert detect(text) == "" or len(detect(text)) == 2


@given(st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=60))
@settings(max_examples=50)
def test_a_run_of_chinese_never_becomes_one_term(text: str) -> None:
    assert max(map(len, words(text))) <= 2


GERMAN = "Das Paket wird mit dem Werkzeug eingerichtet, das im nächsten Abschnitt beschrieben ist. " * 4
ENGLISH = "The package is installed with the tool that the next section of this handbook describes. " * 4


def test_each_part_of_a_mixed_document_keeps_its_language() -> None:
    found = [""]
    for text in (GERMAN, ENGLISH, ENGLISH, GERMAN):
        found.append(detect_after(text, found[-1]))
    assert found[1:] == ["de", "en", "en", "de"]


def test_a_passage_that_goes_on_in_the_language_before_it_is_in_that_one_whatever_it_quotes() -> None:
    quoting = GERMAN[:240] + ENGLISH
    assert detect(quoting) == "en"
    assert detect_after(quoting, "de") == "de"
    assert detect_after("", "de") == ""


@pytest.mark.parametrize(
    "text", ["C++ and c#, 1,000.5 max_connections caf\u00e9", "Stra\u00dfe \u2019n\u2019 x-y 3.11", "a\u0301b \u4e2d\u6587 x.y"]
)
def test_tokens_are_the_same_with_and_without_a_character_of_another_script_beside_them(text: str) -> None:
    assert terms(f"{text} \uac00\ub098", "en") == [*terms(text, "en"), "\uac00\ub098"]
    assert terms(f"{text} \u00e9", "en") == [*terms(text, "en"), "e"]


@pytest.mark.parametrize(
    ("question", "languages", "foreign"),
    [
        ("¿Cuánto cuesta el carné de la biblioteca?", ("en",), True),
        ("¿Cuánto cuesta el carné de la biblioteca?", ("en", "es"), False),
        ("图书证多少钱？", ("en",), True),
        ("How much is a library card?", ("zh", "ja"), True),
        ("How much is a library card?", (), False),
        ("hello", ("en",), False),
        ("notice period", ("en",), False),
        ("1234 5678 90", ("en",), False),
    ],
)
def test_a_question_is_foreign_where_it_clearly_is_in_no_language_of_the_base(
    question: str, languages: tuple[str, ...], *, foreign: bool
) -> None:
    assert is_foreign(question, languages) is foreign
