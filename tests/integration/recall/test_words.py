"""Search by words alone, without an embedder: names, versions, signs, accents; texts without words.

Each question is phrased as a user would ask it, and the recall must rank the right text first,
above similar texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import neo4j
import pytest

from memoria.graph.vocabulary import scope_key
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.types import Memory
from tests.integration.alone import run_statement

CODE = (
    "Call get_user_by_id to read one account.",
    "HttpRequestParser turns bytes into calls.",
    "We shipped v2.13.0-rc.1 on Monday.",
    "os.path.join glues folders.",
    "The cellar is wet.",
    "We shipped v3.1.4 on Sunday.",
)
LANGUAGES = (
    "The engine is written in C++ by Ann.",
    "The editor is written in C# by Bob.",
    "The kernel is written in C by Eve.",
    "The page is written in HTML by Joe.",
)
ACCENTS = (
    "We met at the café on the corner.",
    "Ask Müller about the keys.",
    "Ask Muller about the boat.",
    "Łódź ma piękną starówkę.",
    "İstanbul güzel, ılık bir akşam.",
    "Tôi ăn phở ở Hà Nội với đường.",
    "Πίνω καφέ στην Αθήνα.",
    "У нас дома стоит ёлка.",
    "Die Straße ist gesperrt.",
    "the cellar is wet",
    "Le fiance\u0301 de Zoe\u0308 est absent.",
)
FORMS = (
    "On a pris l'avion pour Nice.",
    "L’hôtel d’Amiens est complet.",
    "Siamo arrivati all'aeroporto di Bari.",
    "Ankara'da kar yağıyor.",
    "İstanbul'da yağmur var.",
    "Mr O'Brien called.",
    "Завод купил новый станок.",
    "Мы видели ёлку.",
)
OWNERS = (
    "Tom has a van.",
    "Tom's van is blue.",
    "The van is Tom’s.",
    "The bike of James is green.",
    "James' bike was stolen.",
    "James’s bike is red.",
    "O'Brien's pub is full.",
    "L'école d'Anna est fermée.",
    "Anna's at home.",
    "Vitamin S helps.",
    "Don said: you don't, he isn't.",
    "The dog's bone is here.",
    "The dog has a bone.",
)
OTHERS = (
    "東京で寿司を食べました。",
    "我们在北京吃烤鸭。",
    "ฉันชอบ กาแฟ มาก",
    "서울에서 김치를 먹었다.",
)


async def first(
    retriever: GraphRetriever, texts: Sequence[str], question: str, count: int = 1
) -> list[str]:
    """Write texts, ask, and return the texts of the best memories; they must also be seeds."""
    memories = [
        Memory(id=f"m{number}", kind="Event", text=text) for number, text in enumerate(texts)
    ]
    await retriever.writer().write(memories)
    seeds = await retriever.find_seeds(question)
    recall = await retriever.recall(question)
    best = [each.memory for each in recall.ranked[:count]]
    assert {memory.id for memory in best} <= {seed.id for seed in seeds.seeds}
    return [memory.text for memory in best]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("user id", 0),
        ("get_user_by_id", 0),
        ("getUserById", 0),
        ("request parser", 1),
        ("http_request_parser", 1),
        ("HttpRequestParser", 1),
        ("httprequestparser", 1),
        ("2.13.0", 2),
        ("v2.13.0", 2),
        ("v2.13.0-rc.1", 2),
        ("what did we ship with version 2.13.0?", 2),
        ("join", 3),
    ],
)
async def test_a_name_is_found_by_its_pieces_and_by_itself(
    retriever: GraphRetriever, question: str, place: int
) -> None:
    assert await first(retriever, CODE, question) == [CODE[place]]


@pytest.mark.parametrize(
    ("question", "place"), [("get_user_by_id", 0), ("HttpRequestParser", 1), ("join_path", 2)]
)
async def test_a_name_finds_prose_that_says_the_same(
    retriever: GraphRetriever, question: str, place: int
) -> None:
    texts = (
        "an id of the user",
        "a parser for a request by http",
        "the path that will join",
        "rain",
    )
    assert await first(retriever, texts, question) == [texts[place]]


async def test_the_name_itself_comes_before_its_pieces(retriever: GraphRetriever) -> None:
    texts = ("get the id of a user by name", "call get_user_by_id", "the user has an id")
    assert await first(retriever, texts, "getUserById") == [texts[1]]


@pytest.mark.parametrize(("name", "place"), [("C++", 0), ("C#", 1), ("C", 2), ("c++", 0), ("c", 2)])
@pytest.mark.parametrize("question", ["{}", "what is written in {}?"])
async def test_a_language_is_not_taken_for_another(
    retriever: GraphRetriever, question: str, name: str, place: int
) -> None:
    assert await first(retriever, LANGUAGES, question.format(name)) == [LANGUAGES[place]]


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("cafe", [0]),
        ("café", [0]),
        ("cafe\u0301", [0]),
        ("CAFÉ", [0]),
        ("Muller", [1, 2]),
        ("Müller", [1, 2]),
        ("lodz starowke", [3]),
        ("Łódź", [3]),
        ("istanbul ilik aksam", [4]),
        ("İSTANBUL", [4]),
        ("pho ha noi duong", [5]),
        ("phở", [5]),
        ("καφε", [6]),
        ("ΚΑΦΈ", [6]),
        ("елка", [7]),
        ("ёлка", [7]),
        ("strasse", [8]),
        ("Straße", [8]),
        ("fiance", [10]),
        ("fiancé zoë", [10]),
    ],
)
async def test_a_word_is_found_with_and_without_its_accents(
    retriever: GraphRetriever, question: str, places: list[int]
) -> None:
    found = await first(retriever, ACCENTS, question, len(places))
    assert sorted(found) == sorted(ACCENTS[place] for place in places)


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("avion", 0),
        ("l'avion", 0),
        ("hotel", 1),
        ("Amiens", 1),
        ("aeroporto", 2),
        ("Ankara", 3),
        ("Istanbul", 4),
        ("Brien", 5),
        ("станки", 6),
        ("станков", 6),
        ("елка", 7),
    ],
)
async def test_a_word_is_found_behind_an_apostrophe_and_a_russian_one_in_each_form(
    retriever: GraphRetriever, question: str, place: int
) -> None:
    assert await first(retriever, FORMS, question) == [FORMS[place]]


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("Where is Tom?", [0, 1, 2]),
        ("Where is Tom's van?", [0, 1, 2]),
        ("Where is Tom’s van?", [0, 1, 2]),
        ("the van of TOM", [0, 1, 2]),
        ("James", [3, 4, 5]),
        ("What is the colour of James' bike?", [3, 4, 5]),
        ("What is the colour of James’s bike?", [3, 4, 5]),
        ("O'Brien", [6]),
        ("Brien's pub", [6]),
        ("What's new with Anna?", [7, 8]),
        ("vitamin S", [9]),
        ("Don", [10]),
        ("the dog's bone", [11, 12]),
    ],
)
async def test_an_owner_is_found_with_and_without_the_ending(
    retriever: GraphRetriever, question: str, places: list[int]
) -> None:
    found = await first(retriever, OWNERS, question, 4)
    assert sorted(found) == sorted(OWNERS[place] for place in places)


@pytest.mark.parametrize(
    ("question", "place"),
    [("寿司", 0), ("東京", 0), ("烤鸭", 1), ("北京", 1), ("กาแฟ", 2), ("김치를", 3)],
)
async def test_languages_without_spaces_or_case_are_searched(
    retriever: GraphRetriever, question: str, place: int
) -> None:
    assert await first(retriever, OTHERS, question) == [OTHERS[place]]


@pytest.mark.parametrize("question", ["???", "…", "!!!", "___", "?! -- ...", "the", "to be"])
async def test_a_question_without_a_word_finds_nothing_and_says_so(
    retriever: GraphRetriever, question: str
) -> None:
    await retriever.writer().write([Memory(id="m", kind="Event", text="The cellar is wet.")])
    recall = await retriever.recall(question)
    assert recall.seeds.seeds == ()
    assert recall.ranked == ()
    assert recall.context.text == ""
    assert [note for note in recall.trace.degraded if "no word to search for" in note]


@pytest.mark.parametrize("question", ["cellar???", "What is wet?"])
async def test_a_question_with_a_word_is_not_said_to_have_none(
    retriever: GraphRetriever, question: str
) -> None:
    await retriever.writer().write([Memory(id="m", kind="Event", text="The cellar is wet.")])
    recall = await retriever.recall(question)
    assert [each.memory.id for each in recall.ranked] == ["m"]
    assert not [note for note in recall.trace.degraded if "no word to search for" in note]


async def test_pieces_are_kept_while_names_are_in_the_text(
    retriever: GraphRetriever, store: Store
) -> None:
    read = "MATCH (m:Memory {scope: $scope, id: 'm'}) RETURN m.search_words AS words"
    stored = []
    for text in ("call getUser", "call it"):
        await retriever.writer().write([Memory(id="m", kind="Event", text=text)])
        stored += [row["words"] for row in await run_statement(store, read, scope=retriever.scope)]
    assert stored == ["get user", None]


async def test_what_is_remembered_is_found_by_its_pieces(retriever: GraphRetriever) -> None:
    kept = await retriever.writer().remember("Call get_user_by_id to read one account.")
    assert [seed.id for seed in (await retriever.find_seeds("user id")).seeds] == [kept.id]


async def test_a_text_that_another_program_wrote_is_found_as_the_index_reads_it(
    retriever: GraphRetriever, driver: neo4j.AsyncDriver
) -> None:
    await driver.execute_query(
        "UNWIND $texts AS text CREATE (:Memory:Event {scope: $scope, scope_key: $key, id: text, "
        "text: text})",
        texts=["call getUser", "the café", "C++"],
        scope=retriever.scope,
        key=scope_key(retriever.scope),
    )
    found = {
        question: [seed.id for seed in (await retriever.find_seeds(question)).seeds]
        for question in ("getUser", "cafe", "C++", "user")
    }
    assert found == {"getUser": ["call getUser"], "cafe": ["the café"], "C++": ["C++"], "user": []}
