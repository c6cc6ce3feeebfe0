"""Responses: answer text, refusals and citations."""

from __future__ import annotations

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

from plait.events import Citation, Event, FinishReasonDone, TextDelta, TextDone
from plait.messages import TextPart

HI: list[Event] = [STARTED, TextDelta("He", 0), TextDelta("llo", 0), TextDone("Hello", 0), STOP]
TEXT_DONE = event("output_text.done", content_index=0, text="Hello")


def test_the_usual_stream() -> None:
    """Text streams between announcements and repetitions, none of which says anything twice."""
    empty = {"type": "output_text", "text": "", "annotations": []}
    parser = check(
        [
            created(),
            {"type": "response.in_progress", "response": {"id": "r1", "model": "gpt", "output": []}},
            added(0, {"type": "message", "id": "m", "status": "in_progress", "content": []}),
            event("content_part.added", content_index=0, part=empty),
            text("He"),
            text("llo"),
            TEXT_DONE,
            event("content_part.done", content_index=0, part={**empty, "text": "Hello"}),
            done(0, message("Hello", phase="final_answer")),
            ended(output=[message("Hello", phase="final_answer")]),
        ],
        HI,
        names=True,
    )
    assert parser.message.content == [
        TextPart(text="Hello", extra={"id": "m", "phase": "final_answer"}, format="openai-responses")
    ]
    assert parser.unknown == {}


@pytest.mark.parametrize(
    "documents",
    [
        [text("He"), text("llo"), ended()],
        [text("He"), text("llo"), TEXT_DONE, ended()],
        [text("He", None), text("llo", None), ended()],
        [text("He", None, None), text("llo", None, None), done(None, message("Hello")), ended()],
        [text("He"), TEXT_DONE, ended(output=[message("Hello")])],
        [text("He"), done(0, message("Hello")), ended(output=[message("Hello")])],
        [text("He"), ended(output=[message("Hello", id="other")])],
        [text("He"), event("content_part.done", content_index=0, part={"text": "Hello"}), ended()],
    ],
    ids=[
        "deltas alone",
        "text done",
        "no output_index",
        "neither index nor id",
        "rest in text done",
        "rest in item done",
        "rest in the terminal event",
        "rest in part done",
    ],
)
def test_servers_that_leave_events_out(documents: list[Document | str]) -> None:
    """Items open with their first event, and whoever has the rest of a text says it, once."""
    check([created(), *documents], HI)


@pytest.mark.parametrize(
    "documents",
    [
        [TEXT_DONE, done(0, message("Hello")), ended(output=[message("Hello")])],
        [done(0, message("Hello")), ended(output=[message("Hello")])],
        [ended(output=[message("Hello")])],
        [done(0, {"type": "message", "id": "m", "content": "Hello"}), ended()],
    ],
    ids=["text done", "item done", "terminal event", "content is a string"],
)
def test_text_without_deltas(documents: list[Document | str]) -> None:
    """A text that never streamed is one delta."""
    check([created(), *documents], [STARTED, TextDelta("Hello", 0), TextDone("Hello", 0), STOP])


@pytest.mark.parametrize("whole", ["Hallo", "Hel", ""], ids=["other", "shorter", "empty"])
def test_deltas_stand_where_the_whole_text_contradicts_them(whole: str) -> None:
    """What was delivered cannot be taken back: the contradiction is counted."""
    done_event = event("output_text.done", content_index=0, text=whole)
    parser = check([created(), text("He"), text("llo"), done_event, ended()], HI)
    assert parser.unknown == {"text:done differs from deltas": 1}


def test_empty_deltas_and_empty_texts_say_nothing() -> None:
    """A message without a character has no text."""
    parser = check([created(), text(""), done(0, message("")), ended(output=[message("")])], [STARTED, STOP])
    assert parser.message.content == []


def test_parts_and_messages_are_parts_of_their_own() -> None:
    """Each content part of each message has its place; the answer is all text as it came."""
    parser = check(
        [
            created(),
            text("a", 0, "m", 0),
            text("b", 0, "m", 1),
            text("A", 0, "m", 0),
            done(0, message("aA", "b", phase="commentary")),
            text("c", 1, "n"),
            done(1, message("c", id="n")),
            ended(),
        ],
        [
            STARTED,
            TextDelta("a", 0),
            TextDelta("b", 1),
            TextDelta("A", 0),
            TextDelta("c", 2),
            TextDone("abAc", 2),
            STOP,
        ],
    )
    assert parser.message.content == [
        TextPart(text="aA", extra={"id": "m", "phase": "commentary"}, format="openai-responses"),
        TextPart(text="b", extra={"id": "m", "phase": "commentary"}, format="openai-responses"),
        TextPart(text="c", extra={"id": "n"}, format="openai-responses"),
    ]


def test_a_part_counted_from_one() -> None:
    """Bedrock streams the only part of a message as part 1, and lists it first."""
    parser = check(
        [created(), text("Hi", part=1), done(0, message("Hi")), ended()],
        [STARTED, TextDelta("Hi", 0), TextDone("Hi", 0), STOP],
    )
    assert parser.message.content == [TextPart(text="Hi", extra={"id": "m"}, format="openai-responses")]


REFUSED = FinishReasonDone("content_filter", "refusal")
REFUSAL: Document = {
    "type": "message",
    "id": "m",
    "content": [{"type": "refusal", "refusal": "I can't."}],
}


@pytest.mark.parametrize(
    "documents",
    [
        [event("refusal.delta", content_index=0, delta="I can't."), ended()],
        [event("refusal.done", content_index=0, refusal="I can't."), done(0, REFUSAL), ended()],
        [event("content_part.done", content_index=0, part=REFUSAL["content"][0]), ended()],
        [ended(output=[REFUSAL])],
    ],
    ids=["delta", "done", "part done", "terminal event"],
)
def test_refusal(documents: list[Document | str]) -> None:
    """A refusal is text that is marked as one, and the answer counts as filtered though it completed."""
    parser = check(
        [created(), *documents], [STARTED, TextDelta("I can't.", 0), TextDone("I can't.", 0), REFUSED]
    )
    (part,) = parser.message.content
    assert isinstance(part, TextPart)
    assert part.refusal is True


WEB: Document = {
    "type": "url_citation",
    "url": "https://a.example",
    "title": "A",
    "start_index": 1,
    "end_index": 3,
}


@pytest.mark.parametrize(
    ("annotation", "citation"),
    [
        (WEB, Citation("https://a.example", "A", None, 1, 3, 0)),
        ({"type": "url_citation", "url": "https://a.example"}, Citation("https://a.example", index=0)),
        (
            {"type": "file_citation", "file_id": "f", "filename": "a.txt", "index": 7},
            Citation(None, "a.txt", None, 7, None, 0),
        ),
        (
            {
                "type": "container_file_citation",
                "file_id": "f",
                "filename": "a.png",
                "start_index": 0,
                "end_index": 2,
            },
            Citation(None, "a.png", None, 0, 2, 0),
        ),
        ({"type": "file_path", "file_id": "f", "index": 4}, Citation(None, None, None, 4, None, 0)),
        ({"type": "novel", "url": 5, "start_index": "x"}, Citation(index=0)),
    ],
    ids=["web", "web without place", "file", "container file", "file path", "unknown"],
)
def test_citation(annotation: Document, citation: Citation) -> None:
    """An annotation comes as an event and on the whole part: it is one citation, kept for replay."""
    whole = message("Hi")
    whole["content"][0]["annotations"] = [annotation]
    parser = check(
        [
            created(),
            text("Hi"),
            event("output_text.annotation.added", content_index=0, annotation=annotation),
            event("content_part.done", content_index=0, part=whole["content"][0]),
            done(0, whole),
            ended(output=[whole]),
        ],
        [STARTED, TextDelta("Hi", 0), citation, TextDone("Hi", 0), STOP],
    )
    assert citations(parser.message.content[0]) == [("openai-responses-v1", annotation)]


def citations(part: object) -> list[tuple[str | None, Any]]:
    """Format and data of each citation of a text part."""
    assert isinstance(part, TextPart)
    return [(citation.format, citation.data) for citation in part.citations or ()]


def test_citations_only_on_the_whole_part() -> None:
    """Annotations that did not stream are read from the list; one that is no object is counted."""
    whole = message("Hi")
    whole["content"][0]["annotations"] = [WEB, "odd"]
    parser = check(
        [created(), text("Hi"), done(0, whole), ended()],
        [
            STARTED,
            TextDelta("Hi", 0),
            Citation("https://a.example", "A", None, 1, 3, 0),
            TextDone("Hi", 0),
            STOP,
        ],
    )
    assert parser.unknown == {"citation:not an object": 1}


def test_odd_content_is_counted() -> None:
    """Parts of unknown types, null deltas and parts that are null cost nothing but a count."""
    parser = check(
        [
            created(),
            event("output_text.delta", delta=None),
            {"type": "response.output_text.delta", "delta": None},
            event("content_part.done", content_index=0),
            done(
                0,
                {
                    "type": "message",
                    "content": [{"type": "smell"}, None, {"type": "output_text", "text": "Hi"}],
                },
            ),
            ended(),
        ],
        [STARTED, TextDelta("Hi", 0), TextDone("Hi", 0), STOP],
    )
    assert parser.unknown == {"part:smell": 1, "type:delta=null": 1, "type:item.content[]=null": 1}
