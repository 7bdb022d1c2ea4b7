"""What a text mentions, by rules: texts of a line, whose mentions can be told by reading them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria._support.function_words import FUNCTION_WORDS
from memoria.errors import ConfigError, InvalidInputError
from memoria.remember.mentions import Extractor, Mention, MentionKind, mentions_in
from memoria.remember.rules import MAX_NAME_CHARS, RuleExtractor
from tests.for_each import for_each

RULES = RuleExtractor()
MEGABYTE = 1_000_000


def names(text: str, *kinds: MentionKind) -> set[str]:
    """Names of the mentions of a text, of these kinds or of all."""
    return {mention.name for mention in RULES.extract(text) if not kinds or mention.kind in kinds}


def test_the_rules_are_an_extractor() -> None:
    assert isinstance(RULES, Extractor)


@for_each(
    "text, phrases",
    [
        ("We met Sarah Miller in New York.", {"sarah miller", "new york"}),
        ("I read the Lord of the Rings again.", {"lord of the rings"}),
        ("Then we went to the Bank of America, Boston.", {"bank of america", "boston"}),
        ("This is Caroline's dog.", {"carolin"}),  # the stem, as for a word
        ("Running is fun. Painting, too.", set()),  # a capital at a beginning tells nothing
        ("I'm sure that I've said it, and I'll say it again.", set()),
        ("The Monday meeting. Thanks, Tom!", {"monday", "tom"}),
        ("They are in Paris! 😊 Painting there.", {"pari"}),
        ("New York City is big. New shoes are not.", {"new york city"}),
        ("I saw The Bourne Legacy with him.", {"bourne legacy"}),
        ("It stars Samuel L. Jackson, and Sean O'Hara too.", {"samuel l jackson", "sean o'hara"}),
        ("I told Sarah I love her.", {"sarah"}),
        (
            "It was directed by Ridley Scott, written by Callie Khouri and stars Geena Davis, "
            "Harvey Keitel, Michael Madsen, Brad Pitt.",
            {"ridley scott", "callie khouri", "geena davis", "harvey keitel", "michael madsen"}
            | {"brad pitt"},
        ),
    ],
)
def test_capitalised_words_are_phrases(text: str, phrases: set[str]) -> None:
    assert names(text, "phrase") == phrases


def test_a_name_is_the_same_topic_at_the_beginning_of_a_sentence() -> None:
    inside, begins = RULES.extract("ask Caroline"), RULES.extract("Caroline asked.")
    assert [(m.name, m.kind, m.weight) for m in inside] == [("carolin", "phrase", 1.0)]
    assert [(m.name, m.kind, m.weight) for m in begins] == [("carolin", "word", 0.5)]


@for_each(
    "identifier",
    [
        "snake_case",
        "CamelCase",
        "os.path.join",
        "src/app/main.py",
        "./run.sh",
        "/etc/hosts",
        "C:\\temp\\a.txt",
        "E0308",
        "ABC-123",
        "0x80070005",
        "#4711",
        "10.0.0.12",
        "7f3e2a1b9c",
        "a.b@example.org",
        "__init__",
    ],
)
def test_identifiers_are_found_with_punctuation_around_them(identifier: str) -> None:
    found = RULES.extract(f"Look at ({identifier}), please.")
    assert [(m.name, m.kind) for m in found] == [(identifier.lower(), "identifier")]


@pytest.mark.parametrize("text", ["and/or", "he/she", "12/05/2023", "3.14", "done.Then", "A-1"])
def test_what_only_looks_like_an_identifier_is_none(text: str) -> None:
    assert names(text, "identifier") == set()


@pytest.mark.parametrize(
    "quote", ['"Becoming Nicole"', "“Becoming Nicole”", "«Becoming Nicole»", "„Becoming Nicole“"]
)
def test_quotes_are_found_in_their_marks(quote: str) -> None:
    assert names(f"I liked {quote} a lot", "quote") == {"becoming nicole"}


def test_a_quote_without_content_is_none() -> None:
    assert names('She said "yes" and "so what"', "quote") == set()


def test_a_link_is_its_host_and_path() -> None:
    text = "See https://www.Example.org/Docs/?page=2#top, or http://example.org/Docs."
    assert names(text) == {"example.org/docs"}


def test_words_are_stemmed_and_function_words_left_out() -> None:
    assert names("he paints paintings while she would have been painting") == {"paint"}


def test_a_word_is_shown_in_the_shortest_of_its_forms_and_not_as_its_stem() -> None:
    shown = {
        mention.name: mention.shown for mention in RULES.extract("late deliveries, a delivery")
    }
    assert shown == {"deliveri": "delivery", "late": "late"}
    (name,) = RULES.extract("ask Caroline")
    assert (name.name, name.shown) == ("carolin", "caroline")


def test_more_mentions_than_wanted_leave_out_the_shortest_words() -> None:
    found = RuleExtractor(max_mentions=3).extract("tiny kitchens need sturdy cupboards, see ABC-12")
    assert [mention.name for mention in found] == ["abc-12", "cupboard", "kitchen"]


def test_a_kind_of_weight_zero_is_left_out() -> None:
    found = RuleExtractor(weights={"word": 0}).extract("we saw London in autumn")
    assert [mention.name for mention in found] == ["london"]


@pytest.mark.parametrize(
    ("text", "function_words"),
    [
        (
            "Der Zug nach Berlin fährt nicht, weil keine Lokomotive da ist, aber dann doch.",
            "german",
        ),
        ("Nous sommes dans cette ville depuis longtemps, mais elle est toujours belle.", "french"),
        ("Esta casa es donde vivimos cuando éramos niños, pero también ahora.", "spanish"),
        ("Questa casa è dove abbiamo sempre vissuto, perché siamo felici.", "italian"),
        ("Nós também estamos aqui porque você disse isso quando chegou.", "portuguese"),
        ("Wij hebben altijd gedacht dat jullie daar zouden wonen.", "dutch"),
        ("Мы только сейчас можем сказать, потому что всегда были здесь.", "russian"),
    ],
)
def test_function_words_of_other_languages_are_not_topics(text: str, function_words: str) -> None:
    assert 0 < len(names(text)) <= 6
    assert not names(text) & FUNCTION_WORDS[function_words]


def test_german_nouns_are_words_and_not_names() -> None:
    text = "Wir haben mit dem Zug den Bahnhof erreicht, und Angela Merkel war nicht da."
    assert names(text, "phrase") == {"angela merkel"}
    assert {"bahnhof", "erreicht"} <= names(text, "word")


def test_text_without_blanks_is_cut_at_changes_of_script_or_left_out() -> None:
    japanese = "昨日、東京駅で新しいコンピューターを買いました。"
    assert names(japanese) == {"昨日", "東京駅", "コンピューター"}
    assert names("昨日、東京駅で keyboard を買いました。") == {"昨日", "東京駅", "keyboard"}
    assert names("我昨天在北京买了一台新电脑。") == set()


def test_capitals_everywhere_tell_nothing() -> None:
    assert names("THE QUICK BROWN FOX JUMPS OVER SOME LAZY DOG TODAY", "phrase") == set()


def test_a_line_of_a_log_gives_identifiers_and_few_words() -> None:
    line = "2024-05-01T12:00:00.1Z ERROR [worker-3] org.pool.Reader: refused 10.0.0.1 id=7f3e2a1b9c"
    assert names(line, "identifier") == {"org.pool.reader", "10.0.0.1", "7f3e2a1b9c"}
    assert names("[worker-3] org.pool.Reader: refused", "word") == {"worker", "refus"}
    assert names(line, "word") == set()  # three identifiers join it well enough


def test_words_only_join_a_text_with_fewer_than_three_mentions() -> None:
    text = "Yesterday the gardener trimmed hedges{}."
    assert names(text.format("")) == {"garden", "trim", "hedg"}
    assert names(text.format(" with Ada Bell")) == {"ada bell", "garden", "trim"}
    named = names(text.format(", met Ada Bell, Bo Carr, Cy Dean and Di Ebert"))
    assert named == {"ada bell", "bo carr", "cy dean", "di ebert"}


def test_a_name_is_shown_as_it_stands_where_no_words_are_looked_for() -> None:
    found = RULES.extract("He took the Winters and foo.bar, E0308; winter came")
    assert [(each.name, each.shown) for each in found][-1] == ("winter", "winters")


@given(st.text())
def test_any_text_gives_at_most_so_many_names_each_once(text: str) -> None:
    found = [mention.name for mention in RULES.extract(text)]
    assert len(found) == len(set(found)) <= 8
    assert all(2 <= len(name) <= MAX_NAME_CHARS for name in found)


def test_settings_out_of_their_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="language must be one of english"):
        RuleExtractor(language="latin")
    with pytest.raises(ConfigError, match="max_mentions"):
        RuleExtractor(max_mentions=0)
    with pytest.raises(ConfigError, match="weights"):
        RuleExtractor(weights={"word": 2})
    with pytest.raises(ConfigError, match="weights must be of"):
        RuleExtractor(weights={"name": 1})  # type: ignore[dict-item]


def test_a_mention_that_can_not_be_stored_is_refused() -> None:
    for wrong in ({"name": "half \ud83d"}, {"shown": "half \ud83d"}, {"weight": 2.0}, {"name": 1}):
        with pytest.raises(InvalidInputError):
            Mention(**{"name": "tea", "kind": "word", "weight": 0.5, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("found", [None, 3, ["tea"], "tea"])
def test_what_an_extractor_finds_must_be_mentions(found: Any) -> None:
    class Mine:
        def extract(self, text: str) -> Any:  # noqa: ARG002
            return found

    with pytest.raises(InvalidInputError, match="an extractor must return Mentions"):
        mentions_in("tea", Mine())
