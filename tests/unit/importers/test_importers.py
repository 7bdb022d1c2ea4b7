"""Sessions of agents, other chats and other memories. All are made up."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memoria.errors import InvalidInputError
from memoria.importers import (
    READERS,
    detect_format,
    read_claude_code,
    read_codex,
    read_gemini,
    read_langgraph,
    read_letta,
    read_mbox,
    read_mem0,
    read_notes,
    read_whatsapp,
)
from memoria.importers.chats.html_text import text_of_html
from memoria.importers.chats.parsing import placed_lines
from memoria.types import Conversation, Document, Memory, Relation
from tests.for_each import for_each

Reader = Callable[..., Iterator[Any]]


def lines(path: Path, *values: Any, end: str = "\n") -> Path:
    """A file of JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, values)) + end, encoding="utf-8")
    return path


def counted(reader: Reader, path: Path, **options: Any) -> tuple[list[Any], Counter[str]]:
    """What a reader yields, and what it leaves out."""
    reasons: Counter[str] = Counter()
    found = reader(path, on_left_out=lambda reason: reasons.update([reason]), **options)
    return list(found), reasons


def said(conversation: Conversation) -> list[tuple[str, str]]:
    """Speaker or role, and text, of each message."""
    return [(message.speaker or message.role, message.text) for message in conversation.messages]


# --- sessions of coding agents --------------------------------------------------------------------


def turn(uuid: str, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A line of Claude Code."""
    at = "2026-03-02T09:00:00.000Z"
    message = {"role": role, "content": content}
    fields = {
        "type": role,
        "uuid": uuid,
        "sessionId": "s",
        "timestamp": at,
        "cwd": "/srv/shed",
    }
    return {**fields, "message": message, **more}


def text(words: str) -> dict[str, Any]:
    """A block of a message."""
    return {"type": "text", "text": words}


def test_a_session_of_claude_code_is_what_was_said(tmp_path: Path) -> None:
    tool = {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}
    folder = tmp_path / "projects"
    session = [
        {"type": "file-history-snapshot", "messageId": "x"},
        turn("u1", "user", "Why is the shed red?"),
        turn("a1", "assistant", [{"type": "thinking", "thinking": "?"}, tool]),
        turn("r1", "user", [{"type": "tool_result", "content": "barn.txt"}]),
        turn("a2", "assistant", [{"type": "text", "text": "It was painted."}]),
        turn("u2", "user", "<command-name>/clear</command-name>"),
        turn("u3", "user", "caveat", isMeta=True),
        turn("x1", "assistant", "of a helper", isSidechain=True),
        turn("e1", "assistant", "API Error: 500", isApiErrorMessage=True),
        turn("u5", "user", [text("<system-reminder>Be brief.</system-reminder>"), text("Since?")]),
        turn("u6", "user", "<ide-file>x.py</ide-file>\n<some-note>y</some-note>\nBy <b>whom</b>?"),
        turn("u7", "user", "<command-name>/mend</command-name>\n<command-args>it</command-args>"),
        turn("u8", "user", "<my-shed> is an element."),
        turn("u9", "user", [text("[Request interrupted by user for tool use]")]),
    ]
    path = lines(folder / "-home-ada-shed" / "s1.jsonl", *session, end='\n{"type": "us')
    path.write_text(path.read_text("utf-8").replace("}\n{", "}{", 1), "utf-8")  # a lost line break
    summary = {"type": "summary", "summary": "Paint of the shed", "leafUuid": "u4"}
    more = turn("u4", "user", "And the roof?")
    lines(folder / "-home-ada-shed" / "s2.jsonl", session[1], more, summary)
    found, reasons = counted(read_claude_code, folder)
    assert [(each.source, each.id, each.title, said(each)) for each in found] == [
        ("claude", "s1", "/srv/shed", [
            ("user", "Why is the shed red?"), ("assistant", "It was painted."),
            ("user", "Since?"), ("user", "By <b>whom</b>?"), ("user", "/mend it"),
            ("user", "<my-shed> is an element.")]),
        ("claude", "s2", "Paint of the shed", [("user", "And the roof?")]),
    ]  # fmt: skip
    assert [message.id for message in found[0].messages] == ["u1", "a2", "u5", "u6", "u7", "u8"]
    assert found[0].messages[0].created_at == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert reasons == {
        "thoughts": 1, "tool call": 1, "result of a tool": 1, "internal": 7,
        "message between agents": 1, "repeated": 1, "line that is broken off": 1,
    }  # fmt: skip
    assert detect_format(folder) == "claude-code"


def test_a_session_that_is_too_long_becomes_several_conversations(tmp_path: Path) -> None:
    long = "word " * 48_000
    turns = [turn(f"u{number}", "user", f"{number} {long}") for number in range(100)]
    path = lines(tmp_path / "s.jsonl", *turns)
    found = list(read_claude_code(path))
    assert [(each.id, len(each.messages)) for each in found] == [("s", 84), ("s/2", 16)]


@pytest.mark.parametrize("old", [True, False])
def test_a_session_of_codex_is_what_was_said(tmp_path: Path, old: bool) -> None:
    def item(kind: str, **payload: Any) -> dict[str, Any]:
        at = "2026-03-02T09:00:00Z"
        inner = {"type": kind, **payload}
        return inner if old else {"timestamp": at, "type": "response_item", "payload": inner}

    def message(role: str, text: str) -> dict[str, Any]:
        return item("message", role=role, content=[{"type": "input_text", "text": text}])

    first = {"id": "abc", "timestamp": "2026-03-02T09:00:00Z"}
    meta = first if old else {"type": "session_meta", "payload": {**first, "cwd": "/x"}}
    path = lines(
        tmp_path / "2026" / "03" / "02" / "rollout-abc.jsonl",
        meta,
        message("developer", "Be brief."),
        message("user", "<environment_context>x</environment_context>"),
        message("user", "Why is the shed red?"),
        item("reasoning", summary=[]),
        item("function_call", name="shell"),
        item("function_call_output", output="x"),
        message("assistant", "It was painted."),
    )
    (found,), reasons = counted(read_codex, tmp_path)
    assert said(found) == [("user", "Why is the shed red?"), ("assistant", "It was painted.")]
    assert found.id == ("rollout-abc" if old else "abc")
    place = path.read_bytes().index(json.dumps(message("user", "Why is the shed red?")).encode())
    assert found.messages[0].id == str(place)  # as a hook names it
    assert reasons == {"internal": 2, "thoughts": 1, "tool call": 1, "result of a tool": 1}
    if not old:
        assert detect_format(tmp_path) == "codex"


@pytest.mark.parametrize("size", [1, 3, 7, 1_000])
def test_lines_are_the_same_however_they_are_read(size: int) -> None:
    data = b"one\r\n\ntwo \xc3\xbc\nlast"
    at = 0

    def read(_: int) -> bytes:
        nonlocal at
        at += size
        return data[at - size : at]

    assert [(line.offset, line.raw, line.ended) for line in placed_lines(read, "x")] == [
        (0, b"one", True),
        (5, b"", True),
        (6, b"two \xc3\xbc", True),
        (13, b"last", False),
    ]


# --- Gemini, WhatsApp, mail -----------------------------------------------------------------------


def test_an_activity_of_gemini_is_a_question_and_its_answer(tmp_path: Path) -> None:
    def activity(time: str, title: str, html: str = "", **more: Any) -> dict[str, Any]:
        answer = {"safeHtmlItem": [{"html": html}]} if html else {}
        common = {"header": "Gemini Apps", "products": ["Gemini Apps"], "time": time}
        return {**common, "title": title, **answer, **more}

    newest_first = [
        activity("2026-03-02T09:05:00Z", "Prompted And peas?", "<p>In <b>April</b>.</p>"),
        activity("2026-03-02T09:00:00Z", "Prompted When do I sow beans?", "<ul><li>In May</ul>"),
        activity("2026-03-01T09:00:00Z", "Used an app"),
        {"header": "Search", "title": "Searched for beans", "time": "2026-03-01T08:00:00Z"},
        activity("2026-02-01T09:00:00Z", "Prompted Hi", imageFile="x.png"),
    ]
    path = tmp_path / "Takeout" / "My Activity" / "Gemini Apps" / "MyActivity.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(newest_first), encoding="utf-8")
    (march, february), reasons = counted(read_gemini, tmp_path)
    assert (march.id, said(march)) == (
        "2026-03",
        [
            ("user", "When do I sow beans?"),
            ("assistant", "- In May"),
            ("user", "And peas?"),
            ("assistant", "In April."),
        ],
    )
    assert said(february) == [("user", "Hi")]
    assert reasons == {"other activity": 2, "picture": 1}
    assert detect_format(tmp_path) == "gemini"
    assert list(read_gemini(path)) == [march, february]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("[12/05/2024, 14:03:22] Ida: a\n[13/05/2024, 09:00:00] Tom: b", "0512T1403 0513T0900"),
        ("5/12/24, 2:03\u202fPM - Ida: a\n5/13/24, 12:00\u202fAM - Tom: b", "0512T1403 0513T0000"),
        ("12.05.24, 14:03 - Ida: a\n13.05.24, 09:00 - Tom: b", "0512T1403 0513T0900"),
        ("[2024-05-12, 14:03:22] Ida: a\n[2024-05-13, 09:00:00] Tom: b", "0512T1403 0513T0900"),
        ("05/12/2024, 14:03 - Ida: a\n06/01/2024, 09:00 - Tom: b", "0512T1403 0601T0900"),
        ("05/06/2024, 14:03 - Ida: a\n06/06/2024, 09:00 - Tom: b", "0605T1403 0606T0900"),
        ("\ufeff\u200e[01/06/2024, 2:03:22 pm] ~ Ida: a\n[02/06/2024, 9:00:00 am] Tom: b",
         "0601T1403 0602T0900"),
        ("12/5/24, 2:03\u202fp.\xa0m. - Ida: a\n13/5/24, 12:00\u202fa.\xa0m. - Tom: b",
         "0512T1403 0513T0000"),
        ("12/05/2024 à 14:03 - Ida: a\n13/05/2024 à 09:00 - Tom: b", "0512T1403 0513T0900"),
        ("24-05-12, 14 h 03 - Ida: a\n24-05-13, 09 h 00 - Tom: b", "0512T1403 0513T0900"),
        ("12-05-24 14:03 - Ida: a\n14-05-24 09:00 - Tom: b", "0512T1403 0514T0900"),
        ("[12.5.2024 klo 14.03.22] Ida: a\n[13.5.2024 klo 9.00.00] Tom: b", "0512T1403 0513T0900"),
        ("12.05.2024 kl. 14.03 - Ida: a\n13.05.2024 kl. 09.00 - Tom: b", "0512T1403 0513T0900"),
        ("[2024. 5. 12. 오후 2:03:22] Ida: a\n[2024. 5. 13. 오전 9:00:00] Tom: b",
         "0512T1403 0513T0900"),
        ("2024/5/12 下午2:03 - Ida: a\n2024/5/13 上午12:00 - Tom: b", "0512T1403 0513T0000"),
        ("\u200f١٢\u200f/٥\u200f/٢٠٢٤، ٢:٠٣ م - Ida: a\n"
         "\u200f١٣\u200f/٥\u200f/٢٠٢٤، ٩:٠٠ ص - Tom: b",
         "0512T1403 0513T0900"),
        ("12. 5. 2024 14:03 - Ida: a\n13. 5. 2024 9:00 - Tom: b", "0512T1403 0513T0900"),
        ("12.05.24 г., 14:03 ч. - Ida: a\n13.05.24 г., 9:00 ч. - Tom: b", "0512T1403 0513T0900"),
        ("12/5/24, 2:03 μ.μ. - Ida: a\n13/5/24, 9:00 π.μ. - Tom: b", "0512T1403 0513T0900"),
        ("14:03, 12/05/2024 - Ida: a\n09:00, 13/05/2024 - Tom: b", "0512T1403 0513T0900"),
        ("12/5/2567 14:03 - Ida: a\n13/5/2567 09:00 - Tom: b", "0512T1403 0513T0900"),
    ],
)  # fmt: skip
def test_dates_of_whatsapp_are_read_in_the_order_that_the_chat_shows(
    tmp_path: Path, text: str, times: str
) -> None:
    path = tmp_path / "WhatsApp Chat with Ida.txt"
    path.write_text(text, encoding="utf-8")
    messages = [message for each in read_whatsapp(path) for message in each.messages]
    assert " ".join(f"{message.created_at:%m%dT%H%M}" for message in messages) == times
    assert {message.created_at.year for message in messages if message.created_at} == {2024}
    assert [(message.speaker, message.text) for message in messages] == [("Ida", "a"), ("Tom", "b")]


@for_each("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_that_was_saved_as_utf_16_is_read_as_one_in_utf_8(
    tmp_path: Path, encoding: str
) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"  # Python writes the mark only there
    chat = "13.02.2026, 09:01 - Jürgen: Öfen 🔥\n13.02.2026, 09:02 - Ida: ja\nzweite Zeile\n"
    path = tmp_path / "WhatsApp Chat mit Ida.txt"
    path.write_text(mark + chat, encoding=encoding, newline="\r\n")
    (conversation,) = read_whatsapp(path)
    assert said(conversation) == [("Jürgen", "Öfen 🔥"), ("Ida", "ja\nzweite Zeile")]
    packed = tmp_path / "chat.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("_chat.txt", path.read_bytes())
    assert [each.messages for each in read_whatsapp(packed)] == [conversation.messages]
    line = json.dumps({"id": "m1", "memory": "Likes Öfen"}, ensure_ascii=False)
    one, folder = tmp_path / "mem0.json", tmp_path / "folder"
    one.write_text(f"{mark}[{line}]", encoding=encoding)
    assert detect_format(one) == "mem0"
    assert [each.text for each in read_mem0(one) if isinstance(each, Memory)] == ["Likes Öfen"]
    folder.mkdir(exist_ok=True)
    turn = json.dumps([{"role": "user", "content": "Öfen 🔥"}], ensure_ascii=False)
    (folder / "a.json").write_text(mark + turn, encoding=encoding)
    assert detect_format(folder) == "openai"
    assert [said(each) for each in READERS["openai"](folder)] == [[("user", "Öfen 🔥")]]


def test_a_file_in_utf_16_that_is_cut_keeps_all_but_its_last_character(tmp_path: Path) -> None:
    path = tmp_path / "_chat.txt"
    path.write_bytes("13.02.2026, 09:01 - Ida: Öfen 🔥".encode("utf-16")[:-1])
    (conversation,) = read_whatsapp(path)
    assert said(conversation) == [("Ida", "Öfen �")]


def test_a_chat_of_whatsapp_keeps_lines_and_leaves_out_files_and_notices(tmp_path: Path) -> None:
    chat = (
        "[13/02/2026, 09:00:00] Plot 7: Messages and calls are end-to-end encrypted.\n"
        "[13/02/2026, 09:00:01] \u200eTom joined using this group's invite link\n"
        "[13/02/2026, 09:01:00] Ida: Two lines:\nthe second: one\n"
        "[13/02/2026, 09:02:00] Ida: \u200eimage omitted\n"
        "[13/02/2026, 09:02:00] Tom: <attached: 0001-PHOTO.jpg>\n"
        "[13/02/2026, 09:03:00] Tom: ok\n[13/02/2026, 09:03:00] Tom: ok\n"
        "[13/02/2026, 09:04:00] Tom: right:\n"
        "13.02.2026, 09:04 - Ida: copied \u200e<Diese Nachricht wurde bearbeitet.>\n"
        "[13/02/2026, 09:05:00] Ida: \u200ekuva jätetty pois\n"
        "[13/02/2026, 09:05:01] Ida: Se eliminó este mensaje.\n"
        "[13/02/2026, 09:05:02] Ida: Our oven \u200e<attached: 0002-PHOTO.jpg>\n"
        "[13/02/2026, 09:05:03] Ida: \u200ePOLL:\nBread or rolls?\n"
        "[13/02/2026, 09:05:04] Ida: IMG-20260213-WA0001.jpg (ficheiro anexado)\n"
        "[01/03/2026, 09:00:00] Ida: March\n[32/03/2026, 09:00:00] Ida: never\n"
    )
    path = tmp_path / "WhatsApp Chat - Plot 7.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_chat.txt", chat)
    errors: list[InvalidInputError] = []
    (february, march), reasons = counted(read_whatsapp, path, on_invalid=errors.append)
    assert (february.id, february.title) == ("Plot 7/2026-02", "Plot 7")
    assert said(february)[1:] == [
        ("Ida", "Two lines:\nthe second: one"), ("Tom", "ok"), ("Tom", "ok"),
        ("Tom", "right:\n13.02.2026, 09:04 - Ida: copied"),
        ("Ida", "Our oven"), ("Ida", "POLL:\nBread or rolls?")]  # fmt: skip
    assert len({message.id for message in february.messages}) == 7
    assert said(march) == [("Ida", "March")]
    assert reasons == {"file": 4, "notice": 2, "deleted": 1}
    assert len(errors) == 1
    assert "_chat.txt:18: this date does not exist" in str(errors[0])
    assert detect_format(path) == "whatsapp"


MAILBOX = """\
From a@x Mon Mar  2 09:00:00 2026
Message-ID: <1@x>
From: =?utf-8?q?J=C3=BCrgen?= <j@x.example>
Date: Mon, 2 Mar 2026 10:00:00 +0100
Subject: The oven
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

It is br=FCchig.
>From the left side.

From b@x Mon Mar  2 10:00:00 2026
Message-ID: <2@x>
In-Reply-To: <1@x>
From: ida@x.example
Date: Mon, 2 Mar 2026 11:00:00 +0000
Subject: Re: The oven
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=B

--B
Content-Type: text/html

<p>I know a <b>mason</b>.</p>
--B
Content-Type: image/png
Content-Disposition: attachment; filename=o.png

xx
--B--

From c@x Mon Mar  2 08:00:00 2026
Message-ID: <0@x>
From: Tom <t@x.example>
Subject: Alone
Date: never

On Monday you wrote:
> It is cold
Yes.

From d@x Mon Mar  2 08:00:00 2026
From: S <s@x.example>
Subject: Win!
X-Gmail-Labels: Spam,Unread

Win.
"""


def test_mails_of_a_thread_are_a_conversation(tmp_path: Path) -> None:
    path = tmp_path / "all.mbox"
    path.write_text(MAILBOX, encoding="ascii")
    (oven, alone), reasons = counted(read_mbox, tmp_path)
    assert (oven.title, said(oven)) == (
        "The oven",
        [("Jürgen", "It is brüchig.\nFrom the left side."), ("ida@x.example", "I know a mason.")],
    )
    assert oven.messages[0].created_at == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert oven.messages[0].metadata == {"subject": "The oven", "from": "j@x.example"}
    assert (said(alone), alone.messages[0].created_at) == ([("Tom", "Yes.")], None)
    assert reasons == {"attachment": 1, "quoted text": 1, "spam or trash": 1}
    assert path.read_text(encoding="ascii") == MAILBOX
    assert (detect_format(path), detect_format(tmp_path)) == ("mbox", "mbox")
    for wrong in ("missing.mbox", "wrong.mbox"):
        (tmp_path / "wrong.mbox").write_text("Dear", encoding="ascii")
        with pytest.raises(InvalidInputError, match="mailbox"):
            list(read_mbox(tmp_path / wrong))


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("charset", "sent"),
    [
        ("", "Grüße, 5 €".encode()),
        ("", "Grüße, 5 €".encode("cp1252")),
        ("us-ascii", "Grüße, 5 €".encode()),
        ("iso-8859-1", "Grüße, 5 €".encode("cp1252")),
        ("x-unknown", "Grüße, 5 €".encode()),
        ("iso-8859-15", "Grüße, 5 €".encode("iso-8859-15")),
    ],
)
def test_a_mail_is_read_in_the_encoding_that_fits_and_whole(
    charset: str, sent: bytes, end: bytes, tmp_path: Path
) -> None:
    said_charset = f"Content-Type: text/plain; charset={charset}\n".encode() if charset else b""
    mail = (
        b"From - Mon Mar 02 09:00:00 2026\n"
        b"From: J\xc3\xbcrgen <j@x.example>\nSubject: Gr\xfc\xdfe\n"
        + said_charset + b"\n" + sent + b"\n\nFrom here on, at 10:30,\nthe rest.\n"
        b"\nFrom\nFrom now: yes\nNote: none\n>From her\n"
    )  # fmt: skip
    path = tmp_path / "all.mbox"
    path.write_bytes((mail + b"\n" + MAILBOX.encode()).replace(b"\n", end))
    first = next(each for each in read_mbox(path) if each.title == "Grüße")
    rest = "From here on, at 10:30,\nthe rest.\n\nFrom\nFrom now: yes\nNote: none\nFrom her"
    assert said(first) == [("Jürgen", f"Grüße, 5 €\n\n{rest}")]


def test_the_end_of_a_mail_with_very_many_parts_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "all.mbox"
    head = "From d@x Mon Mar  2 08:00:00 2026\nFrom: s@x.example\n"
    links = "See https://lists.example/message/abc and multipart/mixed.\n" * 300
    part = "--b\nContent-Type: message/rfc822\n\nSubject: s\n\nText.\n"
    parts = f'Content-Type: multipart/digest; boundary="b"\n\n{part * 101}--b--\n'
    path.write_text(f"{head}\n{links}\n{head}{parts}")
    ((found,), reasons) = counted(read_mbox, tmp_path)
    assert "".join(each.text for each in found.messages).count("/message/") == 300
    assert reasons["end of a mail with very many lines or parts"] == 1


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p title='a > b'>Hi, 1 < 2 &amp; 3</p>", "Hi, 1 < 2 & 3"),
        ("<head><title>No</title></head><body>Yes<!-- no --> and<br/>no", "Yes and\nno"),
        ("Yes<script>if (a<b) { '<p>no</p>' }</script> <a title=it's>and</a> yes", "Yes and yes"),
        ("Yes<script>no", "Yes"),
        ("Yes<!-- no", "Yes"),
        ("Yes<STYLE>p{}</STYLE> &#33; &#" + "1" * 5_000 + ";", "Yes ! \ufffd"),
        ("<!DOCTYPE html><?xml no?><ul><li>Peas<li>Beans</ul>", "- Peas\n- Beans"),
        ("1 < 2, a<b and <", "1 < 2, a<b and <"),
    ],
)
def test_html_becomes_the_text_that_it_shows(html: str, text: str) -> None:
    assert text_of_html(html) == text


def test_damaged_html_is_read_once() -> None:
    """The parser of Python takes hours for each of these."""
    for piece in ("<a ", "<!--", "<a b='", "<![CDATA[", "</", "<!x ", "<a'", " <b>"):
        assert len(text_of_html(piece * 300_000)) <= len(piece) * 300_000
    for start in ("<", "</", '<a b="'):
        assert text_of_html(f"{start}{'a' * 300_000}").startswith(start)
    assert text_of_html(f"x{' <b>' * 300_000}x") == "x x"


def test_a_mail_with_an_endless_sender_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "all.mbox"
    endless = MAILBOX.replace("From: Tom <t@x.example>", "From: " + "(" * 5_000)
    path.write_text(endless, encoding="ascii")
    wrong: list[InvalidInputError] = []
    assert [each.title for each in read_mbox(path, on_invalid=wrong.append)] == ["The oven"]
    (error,) = wrong
    assert str(error).endswith(": nested too deep")
    assert f"{path}: mail 3" in str(error)
    with pytest.raises(InvalidInputError, match="mail 3: nested too deep"):
        list(read_mbox(path))


# --- what other memories hold ---------------------------------------------------------------------


def test_memories_of_mem0_keep_text_times_and_what_they_are_about(tmp_path: Path) -> None:
    memory = {
        "id": "m1", "memory": "Likes tea", "user_id": "ada", "categories": ["food"],
        "metadata": {"place": "kitchen"}, "created_at": "2026-03-02T09:00:00-07:00",
    }  # fmt: skip
    relation = {"source": "ada", "relationship": "likes", "target": "tea"}
    point = {"id": 3, "payload": {"data": "Bakes", "user_id": "ada", "created_at": 1772442000000}}
    other = {"id": 4, "memory": "Sows", "categories": "food, garden", "metadata": None}
    results = {"results": [memory, {"id": "m2", "memory": ""}, other], "relations": [relation]}
    path = lines(tmp_path / "x.json", results, point)
    (found, sows, ada, tea, edge, bakes), reasons = counted(read_mem0, path)
    assert (bakes.id, bakes.text, bakes.metadata) == ("mem0:3", "Bakes", {"user_id": "ada"})
    assert bakes.created_at == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert (sows.id, sows.tags, sows.category) == ("mem0:4", ("food", "garden"), "food")
    assert (found.id, found.text, found.tags, found.category) == (
        "mem0:m1", "Likes tea", ("food",), "food")  # fmt: skip
    assert found.metadata == {"place": "kitchen", "user_id": "ada"}
    assert found.created_at.hour == 9
    assert isinstance(edge, Relation)
    assert (ada.id, tea.id, edge.relation) == (edge.source, edge.target, "likes")
    assert reasons == {"empty": 1}
    assert detect_format(path) == "mem0"


def test_the_local_store_of_mem0_has_revisions(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE history (id TEXT, memory_id TEXT, old_memory TEXT, new_memory TEXT, "
            "event TEXT, created_at TEXT, updated_at TEXT, is_deleted INTEGER)"
        )
        rows = [
            ("m1", "Likes tea", "ADD", "2026-03-01", None, 0),
            ("m1", "Likes mint tea", "UPDATE", "2026-03-01", "2026-03-05", 0),
            ("m2", "Gone", "ADD", "2026-03-01", None, 0),
            ("m2", None, "DELETE", "2026-03-01", "2026-03-02", 1),
            ("m3", "Has a cat", "UPDATE", "2026-03-01", "2026-03-04", 0),
        ]
        for number, (memory, new, event, made, changed, deleted) in enumerate(rows):
            old = "Has a dog" if memory == "m3" else None  # when it was added is not known
            row = (str(number), memory, old, new, event, made, changed, deleted)
            database.execute("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    database.close()
    found, reasons = counted(read_mem0, path)
    assert [(each.id, each.text, each.valid_until) for each in found] == [
        ("mem0:m1@1", "Likes tea", datetime(2026, 3, 5, tzinfo=UTC)),
        ("mem0:m1", "Likes mint tea", None),
        ("mem0:m3@1", "Has a dog", datetime(2026, 3, 4, tzinfo=UTC)),
        ("mem0:m3", "Has a cat", None),
    ]
    assert reasons == {"deleted": 1}
    assert detect_format(path) == "mem0"


def test_an_agent_of_letta_has_messages_blocks_files_and_passages(tmp_path: Path) -> None:
    def call(name: str, arguments: Any) -> dict[str, Any]:
        return {"function": {"name": name, "arguments": json.dumps(arguments)}}

    packed = {"type": "user_message", "message": "Hello", "time": "x"}
    messages = [
        {"id": "0", "role": "system", "content": [{"type": "text", "text": "You are"}]},
        {"id": "1", "role": "user", "content": [{"type": "text", "text": json.dumps(packed)}]},
        {"id": "2", "role": "assistant", "content": [{"type": "text", "text": "thought"}],
         "tool_calls": [call("send_message", {"message": "Hi!"})],
         "created_at": "2026-03-02T09:00:00+00:00"},
        {"id": "3", "role": "tool", "content": [{"type": "text", "text": "{}"}]},
        {"id": "4", "role": "user", "content": json.dumps({"type": "heartbeat"})},
        {"id": "5", "role": "assistant", "content": "plain",
         "tool_calls": [call("archival_memory_search", {})]},
    ]  # fmt: skip
    agent_file = {
        "agents": [{"id": "agent-0", "name": "Ada's", "messages": messages}],
        "blocks": [{"id": "block-0", "label": "human", "value": "Name: Ada"}],
        "files": [{"id": "f", "file_name": "soil.md", "content": "Loam."}],
    }
    path = lines(tmp_path / "agent.af", agent_file)
    (talk, human, soil), reasons = counted(read_letta, path)
    assert (talk.id, said(talk)) == ("agent-0", [("user", "Hello"), ("assistant", "Hi!")])
    documents = [(each.id, each.title, each.sections[0].text) for each in (human, soil)]
    assert documents == [("block/block-0", "human", "Name: Ada"), ("file/f", "soil.md", "Loam.")]
    assert reasons == {"internal": 2, "result of a tool": 1, "tool call": 1, "thoughts": 2}
    assert detect_format(path) == "letta"
    # Without a tool for speaking, an agent says the text next to a call.
    (talk,), reasons = counted(
        read_letta,
        lines(tmp_path / "new.af", {"agents": [{"messages": [messages[-1]]}], "blocks": [{}]}),
    )
    assert (said(talk), reasons) == ([("assistant", "plain")], {"tool call": 1, "empty": 1})
    passage = {"id": "passage-1", "text": "The oven is old.", "tags": ["oven"],
               "metadata": {"page": 3}, "file_name": "o.pdf"}  # fmt: skip
    answer = {"passage": {"content": "It is of brick.", "timestamp": "2026-03-02T09:00:00Z"}}
    for given in ([passage, answer], {"passages": [passage, answer]}):
        (memory, brick), _ = counted(read_letta, lines(tmp_path / "p.json", given))
        assert (memory.id, memory.tags) == ("letta:passage-1", ("oven",))
        assert memory.metadata == {"page": 3, "file_name": "o.pdf"}
        assert (brick.text, brick.created_at.day) == ("It is of brick.", 2)
    with pytest.raises(InvalidInputError, match=r"element 1: this is neither an agent file"):
        list(read_letta(lines(tmp_path / "p.json", [{"name": "x"}])))


def test_items_of_a_langgraph_store_are_memories(tmp_path: Path) -> None:
    values: list[tuple[Any, str]] = [
        ({"kind": "Memory", "content": {"content": "Likes tea"}}, "Likes tea"),
        ({"text": "Has an oven"}, "Has an oven"),
        ({"name": "Ada", "age": 7, "none": None}, "name: Ada\nage: 7"),
        ("bare", "bare"),
        (["rye", {"salt": 2}], 'rye\n{"salt": 2}'),
        ({"content": ["Bakes", {"type": "text", "text": "bread"}]}, "Bakes\n\nbread"),
        ({"data": "Owns a mill", "source": "chat", "tags": ["mill"]}, "Owns a mill"),
    ]
    items = [
        {"namespace": ["memories", "ada"], "key": f"k{n}", "value": value,
         "created_at": "2026-03-02T09:00:00+00:00", "updated_at": "2026-03-03T09:00:00+00:00"}
        for n, (value, _) in enumerate(values)
    ]  # fmt: skip
    path = lines(tmp_path / "x.jsonl", *items, {**items[0], "key": "e", "value": {}})
    found, reasons = counted(read_langgraph, path)
    assert [each.text for each in found] == [text for _, text in values]
    assert (found[0].id, found[0].category) == ("langgraph:memories/ada/k0", "Memory")
    assert [each.metadata.get("value") for each in (found[0], found[-1])] == [
        None, {"source": "chat", "tags": ["mill"]}]  # fmt: skip
    assert found[0].created_at == datetime(2026, 3, 3, 9, tzinfo=UTC)
    assert reasons == {"empty": 1}
    raw = {"prefix": "memories.ada", **{k: v for k, v in items[0].items() if k != "namespace"}}
    exported = lines(tmp_path / "y.jsonl", raw)  # of a PostgresStore
    assert (detect_format(path), detect_format(exported)) == ("langgraph", "langgraph")
    assert list(read_langgraph(exported)) == found[:1]
    stored = tmp_path / "store.db"
    with sqlite3.connect(stored) as database:
        database.execute("CREATE TABLE store (prefix TEXT, key TEXT, value TEXT, "
                         "created_at TEXT, updated_at TEXT)")  # fmt: skip
        for item in items:
            row = ("memories.ada", item["key"], json.dumps(item["value"]))
            times = (item["created_at"], item["updated_at"])
            database.execute("INSERT INTO store VALUES (?, ?, ?, ?, ?)", (*row, *times))
    database.close()
    assert list(read_langgraph(stored)) == found
    assert detect_format(stored) == "langgraph"


def test_a_database_is_read_only_and_a_broken_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE other (a)")
        database.execute(
            "CREATE VIEW history AS "
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT i AS memory_id, 'x' AS new_memory, '' AS event, '' AS created_at, "
            "'' AS updated_at, 0 AS is_deleted FROM n WHERE i < 0"
        )
    database.close()
    before = path.read_bytes()
    with pytest.raises(InvalidInputError, match="no table history"):  # it has a view
        list(read_mem0(path))
    with pytest.raises(InvalidInputError, match="no table store"):
        list(read_langgraph(path))
    points = tmp_path / "storage.sqlite"
    with sqlite3.connect(points) as database:
        database.execute("CREATE TABLE points (a)")
    database.close()
    with pytest.raises(InvalidInputError, match=r"can't read: it has tables \['points'\]"):
        detect_format(points)
    assert path.read_bytes() == before


def test_a_table_with_computed_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as database:
        columns = "prefix, key, created_at, updated_at, value AS (printf('%.*c', 3000000, 'x'))"
        database.execute(f"CREATE TABLE store ({columns})")
        database.executemany("INSERT INTO store VALUES (?, 'k', 0, 0)", [("a",)] * 9)
    database.close()
    with pytest.raises(InvalidInputError, match="store has computed columns"):
        list(read_langgraph(path))


def test_of_a_memory_with_very_many_texts_none_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with sqlite3.connect(path) as database:
        columns = "memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted"
        database.execute(f"CREATE TABLE history ({columns})")
        rows = [("a", f"Text {number}.") for number in range(10_001)]
        rows.append(("b", "The oven is new."))
        database.executemany("INSERT INTO history VALUES (?, '', ?, 'ADD', 0, 0, 0)", rows)
    database.close()
    wrong: list[InvalidInputError] = []
    (found,) = read_mem0(path, on_invalid=wrong.append)
    assert (found.id, found.text) == ("mem0:b", "The oven is new.")  # type: ignore[union-attr]
    assert [str(each) for each in wrong] == [
        f"{path}: memory a: it has more than 10,000 earlier texts"
    ]


def test_a_vault_of_basic_memory_and_a_bundle_of_memanto_are_notes(tmp_path: Path) -> None:
    basic = (
        "---\ntitle: Ada Berg\ntype: note\npermalink: people/ada-berg\ntags: [person]\n---\n"
        "# Ada Berg\n\n## Observations\n- [job] Mends ovens #oven (since 1998)\n\n"
        "## Relations\n- works_for [[Stone Works]]\n- knows [[memory://people/tom]]\n"
        "- see [soil](memory://soil) and [none](memory://none)\n"
    )

    def entry(number: int, title: str, text: str) -> str:
        return (
            f"---\ntype: fact\ntitle: {title}\ntags:\n- kitchen\ntimestamp: '2026-03-0{number}'\n"
            f"x_memanto:\n  id: m{number}\n  confidence: 0.8\n---\n\n{text}\n"
        )

    files = {
        "people/Ada Berg.md": basic,
        "works.md": "---\ntitle: Stone Works\n---\n",
        "s.md": "---\ntitle: Soil\npermalink: soil\n---\n",
        "t.md": "---\ntitle: Tom\npermalink: people/tom\n---\n",
        "memories/fact/fact.md": "\n<!-- okf-entry -->\n".join(
            [
                entry(1, "Tea", "Ada likes tea."),
                entry(2, "Oven", "See [Ada](/people/Ada%20Berg.md)"),
            ]
        ),
        "memories/index.md": "---\ntype: index\ntitle: memories\n---\n- [fact](fact/fact.md)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found, reasons = counted(read_notes, tmp_path)
    notes = {note.id: note for note in found}
    links = {link for section in notes["people/Ada Berg.md"].sections for link in section.links}
    assert links == {"works.md", "t.md", "s.md"}
    assert "oven" in notes["people/Ada Berg.md"].tags
    tea, oven = (notes[f"memories/fact/fact.md{end}"] for end in ("", "#2"))
    assert (tea.title, oven.title, tea.tags) == ("Tea", "Oven", ("kitchen",))
    assert oven.created_at == datetime(2026, 3, 2, tzinfo=UTC)
    assert oven.metadata["x_memanto"] == {"id": "m2", "confidence": 0.8}
    assert oven.sections[0].links == ("people/Ada Berg.md",)
    assert reasons == {"page of contents": 1, "link to no note": 1}


# --- all of them ----------------------------------------------------------------------------------


@for_each("name", sorted(READERS))
@for_each("content", [b"", b"\xff\xfe", b"{}", b"[[[]]]", b"null", b'{"a":' * 9_000])
def test_any_reader_reads_or_refuses_any_file(name: str, content: bytes, tmp_path: Path) -> None:
    folder = tmp_path / f"{name}-{zlib.crc32(content)}"
    folder.mkdir()
    path = folder / "x.json"
    path.write_bytes(content)
    errors: list[InvalidInputError] = []
    try:
        found = list(READERS[name](path, on_invalid=errors.append))
    except InvalidInputError as exc:
        errors.append(exc)
        found = []
    assert all(isinstance(each, Conversation | Document | Memory | Relation) for each in found)
    assert all(str(path) in str(error) for error in errors)


@pytest.mark.parametrize("name", sorted(READERS))
def test_no_reader_waits_for_a_pipe_or_leaves_its_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    for file in ("a.jsonl", "_chat.txt", "MyActivity.json", "conversations.json", "a.mbox"):
        os.mkfifo(folder / file)
        (tmp_path / file).write_text('{"role": "user", "content": "secret"}', encoding="utf-8")
        (folder / f"link-{file}").symlink_to(tmp_path / file)
    with pytest.raises(InvalidInputError):
        list(READERS[name](folder))
