"""Settings: where they come from, and how a wrong one names itself."""

import re
from pathlib import Path

import pytest

from config.settings import load
from rag.errors import BadSetting


def write(home: Path, text: str) -> Path:
    path = home / "footnote.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_any_setting_the_defaults_hold(home: Path) -> None:
    settings = load()

    assert settings.retrieval.k == 8
    assert settings.home == Path(".footnote")
    assert settings.database == f"sqlite:///{home / '.footnote' / 'footnote.db'}"


def test_a_file_in_the_current_folder_is_read(home: Path) -> None:
    write(home, '[retrieval]\nk = 3\n[bases.handbook]\nsources = ["a/", { path = "b/*.md", link = "https://x/{path}" }]')

    settings = load()

    assert settings.retrieval.k == 3
    assert settings.root == home
    assert [str(source) for source in settings.bases["handbook"].sources[:1]] == ["a/"]


def test_the_environment_wins_over_the_file_key_by_key(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, "[retrieval]\nk = 3\nalpha = 0.5")
    monkeypatch.setenv("FOOTNOTE_RETRIEVAL__K", "4")

    assert (load().retrieval.k, load().retrieval.alpha) == (4, 0.5)


def test_the_home_is_beside_the_file_that_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "elsewhere").mkdir()
    monkeypatch.setenv("FOOTNOTE_CONFIG", str(write(home / "elsewhere", "")))

    assert load().home == home / "elsewhere" / ".footnote"


def test_an_empty_variable_is_as_good_as_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FOOTNOTE_CONFIG", "DATABASE_URL", "FOOTNOTE_HOME"):
        monkeypatch.setenv(name, "")

    assert load().database == f"sqlite:///{home / '.footnote' / 'footnote.db'}"


@pytest.mark.parametrize(("written", "seconds"), [('"30m"', 1800), ('"6h"', 21600), ('"1.5 d"', 129600), ("7200", 7200)])
def test_how_often_a_base_is_indexed_is_written_as_people_do(home: Path, written: str, seconds: float) -> None:
    write(home, f'[bases.handbook]\nsources = ["a/"]\nreindex_every = {written}')

    assert load().bases["handbook"].reindex_every == seconds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[bases.h]\nreindex_every = "6 hours"', 'a time is written as "30m", "6h" or "1d"'),
        ("[bases.h]\nreindex_every = 5", "bases.h.reindex_every"),
        ("[retrieval]\nkk = 3", "retrieval.kk (FOOTNOTE_RETRIEVAL__KK) is not a setting. Did you mean k?"),
        ("[retreival]\nk = 3", "retreival (FOOTNOTE_RETREIVAL) is not a setting. Did you mean retrieval?"),
        ("[retrieval]\nk = 'many'", "retrieval.k (FOOTNOTE_RETRIEVAL__K) is 'many'"),
        ("[retrieval]\nk = 0", "retrieval.k (FOOTNOTE_RETRIEVAL__K) is 0: input should be greater than 0"),
        ("[answering]\nstrategy = 'guess'", "answering.strategy (FOOTNOTE_ANSWERING__STRATEGY) is 'guess'"),
        ("[[routes]]\nplatform = 'slack'", "routes.0.bases (FOOTNOTE_ROUTES__0__BASES) is missing."),
        ("[bases.a]\nsource = []", "bases.a.source (FOOTNOTE_BASES__A__SOURCE) is not a setting. Did you mean sources?"),
        ("[retrieval\nk = 3", "footnote.toml cannot be read"),
    ],
)
def test_a_bad_key_names_itself(home: Path, text: str, said: str) -> None:
    write(home, text)

    with pytest.raises(BadSetting) as error:
        load()

    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_every_bad_setting_is_told_at_once(home: Path) -> None:
    write(home, "[retrieval]\nk = 0\n[indexing]\nsize_max = -1")

    with pytest.raises(BadSetting) as error:
        load()

    assert {line.split(" ")[0] for line in str(error.value).splitlines()} == {"retrieval.k", "indexing.size_max"}


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("FOOTNOTE_RETREIVAL__K", "FOOTNOTE_RETREIVAL__K is not a setting. Did you mean FOOTNOTE_RETRIEVAL?"),
        ("FOOTNOTE_HOMES", "FOOTNOTE_HOMES is not a setting. Did you mean FOOTNOTE_HOME?"),
    ],
)
def test_an_unknown_variable_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, said: str) -> None:
    monkeypatch.setenv(variable, "1")

    with pytest.raises(BadSetting) as error:
        load()

    assert str(error.value) == said
    assert home.exists()


def test_a_file_that_is_named_and_missing_is_said_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_CONFIG", str(home / "gone.toml"))

    with pytest.raises(BadSetting, match=r"names .*gone.toml, and there is no such file"):
        load()


def test_the_database_password_is_not_in_what_is_printed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:sesame@localhost/x")

    assert "sesame" not in repr(load())
    assert load().database == "postgresql://me:sesame@localhost/x"
    assert home.exists()


def test_without_a_file_sources_are_relative_to_what_holds_the_home_wherever_the_command_is_given(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_HOME", str(home / "kept"))
    (home / "elsewhere").mkdir()
    here = load().root
    monkeypatch.chdir(home / "elsewhere")

    assert here == load().root == home


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        (
            "FOOTNOTE_ROUTES",
            "slack",
            "FOOTNOTE_ROUTES is not valid JSON. Write routes into footnote.toml, or a single key as FOOTNOTE_ROUTES__KEY.",
        ),
        (
            "FOOTNOTE_BASES__Z__SOURCES__0__PATH",
            "docs",
            "bases.z.sources (FOOTNOTE_BASES__Z__SOURCES) is a list: write it as JSON in that one variable, or into footnote.toml.",
        ),
    ],
)
def test_a_table_that_does_not_fit_into_a_variable_says_how_it_does(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(variable, value)

    with pytest.raises(BadSetting) as caught:
        load()

    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("https://x/{name}", "{name} is not known in a link; {path} and {line} are"),
        ("javascript:alert(1)", "a link starts with https:// or http://"),
    ],
)
def test_a_link_that_leads_nowhere_is_refused(home: Path, link: str, said: str) -> None:
    write(home, f'[bases.a]\nsources = [{{ path = "b/", link = "{link}" }}]')

    with pytest.raises(BadSetting, match=re.escape(said)) as caught:
        load()

    assert "bases.a.sources.0.link" in str(caught.value)


# --- ids ------------------------------------------------------------------------------------------------------------

DISCORD_ID = "an id of Discord has 15 to 21 digits"


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[discord]\nchannels = ['#general']", f"discord.channels.0 (FOOTNOTE_DISCORD__CHANNELS__0) is '#general': {DISCORD_ID}"),
        ("[discord]\nadmins = ['ana']", f"discord.admins.0 (FOOTNOTE_DISCORD__ADMINS__0) is 'ana': {DISCORD_ID}"),
        ("[discord]\nforums = ['help']", f"discord.forums.0 (FOOTNOTE_DISCORD__FORUMS__0) is 'help': {DISCORD_ID}"),
        (
            "[slack]\nchannels = ['general']",
            "slack.channels.0 (FOOTNOTE_SLACK__CHANNELS__0) is 'general': this id of Slack",
        ),
        ("[slack]\nadmins = ['@ana']", "slack.admins.0 (FOOTNOTE_SLACK__ADMINS__0) is '@ana': this id of Slack begins with U or W"),
        (
            "[slack]\nask_a_person = 'Ana'",
            "slack.ask_a_person (FOOTNOTE_SLACK__ASK_A_PERSON) is 'Ana': this id of Slack",
        ),
        ("[[routes]]\nplatform = 'discord'\nguild = 'Acme'\nbases = ['a']", f"is 'Acme': {DISCORD_ID}"),
        ("[[routes]]\nplatform = 'discord'\nchannel = 'C0456'\nbases = ['a']", f"is 'C0456': {DISCORD_ID}"),
        ("[[routes]]\nplatform = 'discord'\nrole = 'Staff'\nbases = ['a']", f"is 'Staff': {DISCORD_ID}"),
        ("[[routes]]\nplatform = 'slack'\nworkspace = 'Acme'\nbases = ['a']", "is 'Acme': this id of Slack begins with T or E"),
        (
            "[[routes]]\nplatform = 'slack'\nchannel = '#general'\nbases = ['a']",
            "is '#general': this id of Slack begins with C, G",
        ),
        ("[limits]\nquestion_characters = 7000", "is 7000: input should be less than or equal to 6000."),
    ],
)
def test_a_name_where_an_id_belongs_is_one_clear_sentence(home: Path, toml: str, said: str) -> None:
    write(home, toml)

    with pytest.raises(BadSetting) as raised:
        load()

    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_ids_of_both_platforms_are_taken(home: Path) -> None:
    write(
        home,
        "[slack]\nadmins = ['U0789', 'W01']\nchannels = ['C0456', 'G1', 'D1']\nask_a_person = 'S0HR'\n"
        "[discord]\nchannels = ['381870553235193857']\n"
        "[[routes]]\nplatform = 'slack'\nworkspace = 'T0123'\nrole = 'S0HR'\nbases = ['a']\n"
        "[[routes]]\nplatform = 'discord'\nguild = '197038439483310086'\nbases = ['a']\n",
    )

    assert load().slack.channels == ("C0456", "G1", "D1")
