"""Responses: reasoning items."""

from __future__ import annotations

import json
from typing import Any

import pytest
from responses_documents import (
    STARTED,
    STOP,
    Document,
    added,
    check,
    created,
    done,
    ended,
    event,
    message,
    text,
)

import plait
from plait.events import Event, ReasoningDelta, ReasoningDone, ReasoningPart, TextDelta, TextDone
from plait.messages import ReasoningContent

V1 = "openai-responses-v1"
TEXT_V1 = "openai-responses-text-v1"


def item(**more: Any) -> Document:
    """A reasoning item."""
    return {"type": "reasoning", "id": "rs", "summary": [], **more}


def summary(*texts: str) -> list[Document]:
    """The summaries of a reasoning item."""
    return [{"type": "summary_text", "text": text} for text in texts]


def content(*texts: str) -> list[Document]:
    """The texts of a reasoning item."""
    return [{"type": "reasoning_text", "text": text} for text in texts]


def delta(text: str, part: int = 0) -> Document:
    """A piece of a summary."""
    return event("reasoning_summary_text.delta", id="rs", summary_index=part, delta=text)


def raw(text: str, part: int = 0) -> Document:
    """A piece of the reasoning itself."""
    return event("reasoning_text.delta", id="rs", content_index=part, delta=text)


def shown(part: ReasoningPart, index: int = 0) -> ReasoningDone:
    """The event that closes a part."""
    return ReasoningDone(part, index)


def test_summaries_and_encrypted_state() -> None:
    """Each summary is a part; the encrypted state is that of the finished item, not of the announced one."""
    whole = item(summary=summary("One", "Two"), encrypted_content="DONE")
    parser = check(
        [
            created(),
            added(0, item(encrypted_content="ADDED")),
            event("reasoning_summary_part.added", id="rs", summary_index=0, part=summary("")[0]),
            delta("On"),
            delta("e"),
            event("reasoning_summary_text.done", id="rs", summary_index=0, text="One"),
            event("reasoning_summary_part.done", id="rs", summary_index=0, part=summary("One")[0]),
            event("reasoning_summary_part.added", id="rs", summary_index=1, part=summary("")[0]),
            delta("Two", 1),
            event("reasoning_summary_text.done", id="rs", summary_index=1, text="Two"),
            done(0, whole),
            ended(output=[{**whole, "encrypted_content": "COMPLETED"}]),
        ],
        [
            STARTED,
            ReasoningDelta("On", 0),
            ReasoningDelta("e", 0),
            shown(ReasoningPart("summary", "One", format=V1)),
            ReasoningDelta("Two", 0),
            shown(ReasoningPart("summary", "Two", format=V1)),
            shown(ReasoningPart("encrypted", None, "DONE", id="rs", format=V1)),
            STOP,
        ],
    )
    (part,) = parser.message.content
    assert isinstance(part, ReasoningContent)
    assert part.id == "rs"
    assert parser.unknown == {}


WHOLE: list[Event] = [
    STARTED,
    ReasoningDelta("Hm", 0),
    shown(ReasoningPart("summary", "Hm", format=V1)),
    STOP,
]


@pytest.mark.parametrize(
    "documents",
    [
        [done(0, item(summary=summary("Hm"))), ended()],
        [added(0, item()), done(0, item(summary=summary("Hm"))), ended()],
        [event("reasoning_summary_text.done", id="rs", summary_index=0, text="Hm"), ended()],
        [event("reasoning_summary_part.done", id="rs", summary_index=0, part=summary("Hm")[0]), ended()],
        [ended(output=[item(summary=summary("Hm"))])],
        [delta("Hm"), ended()],
        [done(0, item(summary="Hm")), ended()],
    ],
    ids=["item done", "added and done", "text done", "part done", "terminal event", "delta alone", "string"],
)
def test_servers_that_leave_events_out(documents: list[Document | str]) -> None:
    """Reasoning that did not stream is one delta; reasoning that nothing closed is closed at the end."""
    check([created(), *documents], WHOLE)


def test_reasoning_in_the_clear() -> None:
    """Open models' reasoning has a format of its own; the answer may stream while its item is open."""
    check(
        [
            created(),
            added(0, item()),
            raw("H"),
            raw("m"),
            added(1, message()),
            text("Hi", 1),
            done(1, message("Hi")),
            event("reasoning_text.done", id="rs", content_index=0, text="Hm"),
            event("content_part.done", id="rs", content_index=0, part=content("Hm")[0]),
            done(0, item(content=content("Hm"))),
            ended(),
        ],
        [
            STARTED,
            ReasoningDelta("H", 0),
            ReasoningDelta("m", 0),
            TextDelta("Hi", 1),
            shown(ReasoningPart("text", "Hm", format=TEXT_V1)),
            TextDone("Hi", 1),
            STOP,
        ],
    )


def test_the_place_of_reasoning_is_that_of_its_announcement() -> None:
    """Encrypted state that comes after the text it led to still stands before it."""
    parser = check(
        [
            created(),
            added(0, item()),
            text("Hi", 1),
            done(1, message("Hi")),
            done(0, item(encrypted_content="E")),
            ended(),
        ],
        [
            STARTED,
            TextDelta("Hi", 1),
            shown(ReasoningPart("encrypted", None, "E", id="rs", format=V1)),
            TextDone("Hi", 1),
            STOP,
        ],
    )
    assert [part.type for part in parser.message.content] == ["reasoning", "text"]


@pytest.mark.parametrize("nothing", ["", None], ids=["empty", "null"])
def test_an_item_without_anything_keeps_its_id(nothing: str | None) -> None:
    """Empty encrypted state counts as absent: sent back, it would be refused."""
    parser = check(
        [created(), added(0, item()), done(0, item(encrypted_content=nothing)), ended()], [STARTED, STOP]
    )
    assert parser.message.content == [ReasoningContent(id="rs", details=[])]


@pytest.mark.parametrize("early", [True, False], ids=["announced", "at the end"])
def test_openrouters_format_and_signature(early: bool) -> None:
    """An item names its own format; its signature stands with its last text."""
    named = {"format": "anthropic-claude-v1", "signature": "SIG"}
    check(
        [
            created(),
            added(0, item(format="anthropic-claude-v1") if early else item()),
            raw("Hm"),
            event("reasoning_text.done", id="rs", content_index=0, text="Hm"),
            done(0, item(content=content("Hm"), encrypted_content="E", **named)),
            ended(),
        ],
        [
            STARTED,
            ReasoningDelta("Hm", 0),
            shown(ReasoningPart("text", "Hm", signature="SIG", format="anthropic-claude-v1")),
            shown(ReasoningPart("encrypted", None, "E", id="rs", format="anthropic-claude-v1")),
            STOP,
        ],
    )


def test_a_signature_without_text() -> None:
    """It is a part of its own."""
    check(
        [created(), done(0, item(signature="SIG")), ended()],
        [STARTED, shown(ReasoningPart("text", None, None, "SIG", format=V1)), STOP],
    )


def test_deltas_stand_where_the_whole_contradicts_them() -> None:
    """As for text: counted, and what was delivered stays."""
    parser = check([created(), delta("Hm"), done(0, item(summary=summary("Ah"))), ended()], WHOLE)
    assert parser.unknown == {"reasoning:done differs from deltas": 1}


def test_content_counted_from_one() -> None:
    """A text that streamed as part 1 is the first of the list all the same."""
    check(
        [created(), raw("Hm", 1), done(0, item(content=content("Hm"))), ended()],
        [STARTED, ReasoningDelta("Hm", 0), shown(ReasoningPart("text", "Hm", format=TEXT_V1)), STOP],
    )


def test_stream_and_body_keep_what_is_sent_back() -> None:
    """Id, summaries, content and encrypted state are the same of a stream and of a body."""
    whole = item(summary=summary("One", ""), content=content("Hm"), encrypted_content="E")
    documents = [created(), added(0, item()), delta("One"), delta("", 1), raw("H"), done(0, whole), ended()]
    streamed = check(
        documents,
        [
            STARTED,
            ReasoningDelta("One", 0),
            shown(ReasoningPart("summary", "One", format=V1)),
            shown(ReasoningPart("summary", "", format=V1)),
            ReasoningDelta("H", 0),
            ReasoningDelta("m", 0),
            shown(ReasoningPart("text", "Hm", format=TEXT_V1)),
            shown(ReasoningPart("encrypted", None, "E", id="rs", format=V1)),
            STOP,
        ],
    ).message
    body = json.dumps(ended(output=[whole])["response"])
    assert plait.read_response("openai-responses", body) == streamed
