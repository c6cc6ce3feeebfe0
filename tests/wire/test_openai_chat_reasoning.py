"""Chat Completions: reasoning as plain text, as OpenRouter's details, and between tags."""

from __future__ import annotations

from typing import Any

import pytest
from chat_bodies import STARTED, STOP, WIRE, deltas, read, response, text
from checking import check_parse

import plait
from plait.events import (
    ReasoningDelta,
    ReasoningDone,
    ReasoningPart,
    WebSearchDone,
    WebSearchStatus,
)
from plait.messages import AssistantMessage
from plait.wire.openai_chat.mapping import reasoning_detail

CLAUDE = "anthropic-claude-v1"
OPENAI = "openai-responses-v1"


def detail(type: str, **fields: Any) -> dict[str, Any]:
    """A delta with one entry of `reasoning_details`."""
    return {"reasoning_details": [{"type": f"reasoning.{type}", "index": 0, **fields}]}


def replayed(message: AssistantMessage) -> list[dict[str, Any] | None]:
    """The entries that the message's reasoning was made of."""
    return [reasoning_detail(part) for part in message.reasoning]


class TestPlainText:
    @pytest.mark.parametrize(
        ("delta", "field"),
        [
            ({"reasoning_content": "a", "content": None}, "reasoning_content"),
            ({"reasoning": "a", "content": ""}, "reasoning"),
            ({"reasoning": "a", "reasoning_content": "a"}, "reasoning_content"),
        ],
        ids=["reasoning_content", "reasoning", "both"],
    )
    def test_fields(self, delta: dict[str, Any], field: str) -> None:
        """Either field is read, the same text in both only once; the part remembers which."""
        body = deltas(delta, {"content": "b"})
        expected = [
            STARTED,
            ReasoningDelta("a", 0),
            ReasoningDone(ReasoningPart("text", "a", format=field), 0),
            *text("b", index=1),
            STOP,
        ]
        check_parse(WIRE, body, expected)

    def test_empty_text_does_not_close(self) -> None:
        """Empty content beside each piece of reasoning is no answer yet."""
        body = deltas({"reasoning": "a", "content": ""}, {"content": ""}, {"reasoning": "b", "content": ""})
        assert [ReasoningPart("text", "ab", format="reasoning")] == read(body).reasoning

    def test_reopens(self) -> None:
        """Reasoning after text is a new part, in its place."""
        body = deltas({"reasoning": "a"}, {"content": "x"}, {"reasoning": "b"}, {"content": "y"})
        message = read(body)
        assert [part.type for part in message.content] == ["reasoning", "text", "reasoning", "text"]
        assert [part.text for part in message.reasoning] == ["a", "b"]

    def test_only_reasoning(self) -> None:
        """A response without an answer has no text, and is complete."""
        message = read(deltas({"reasoning_content": "a"}))
        assert (message.text, message.reasoning_text, message.finish_reason) == ("", "a", "stop")


class TestDetails:
    def test_mirrored(self) -> None:
        """The plain text is a copy of the details' text: it is read once."""
        body = deltas(
            {"content": "", "reasoning": "a", **detail("text", text="a", format=CLAUDE)},
            {"content": "", "reasoning": "b", **detail("text", text="b", format=CLAUDE)},
            {"content": "", "reasoning": None, **detail("text", signature="S", format=CLAUDE)},
            {"content": "x", "reasoning_details": []},
        )
        part = ReasoningPart("text", "ab", signature="S", format=f"openrouter:{CLAUDE}#0")
        expected = [
            STARTED,
            ReasoningDelta("a", 0),
            ReasoningDelta("b", 0),
            ReasoningDone(part, 0),
            *text("x", index=1),
            STOP,
        ]
        check_parse(WIRE, body, expected)

    def test_late_signature(self) -> None:
        """A signature that comes after the answer has begun still belongs to its reasoning."""
        body = deltas(
            detail("text", text="a"), {"content": "x"}, detail("text", signature="S"), {"content": "y"}
        )
        message = read(body)
        assert [(part.text, part.signature) for part in message.reasoning] == [("a", "S")]
        assert message.text == "xy"
        check_parse(WIRE, body, plait.parser(WIRE).feed(body))

    def test_text_without_details(self) -> None:
        """Where the details hold only what is encrypted, the plain text is all there is to show."""
        message = read(deltas({"reasoning": "a", **detail("encrypted", data="E")}))
        assert message.reasoning_text == "a"
        assert [part.data for part in message.reasoning if part.data] == ["E"]

    def test_replay(self) -> None:
        """Every entry can be made again, in order, from the message's parts."""
        entries = [
            {"type": "reasoning.summary", "summary": "s", "format": OPENAI, "index": 0},
            {"type": "reasoning.encrypted", "data": "E1", "id": "rs_1", "format": OPENAI, "index": 0},
            {"type": "reasoning.encrypted", "data": "E2", "id": "rs_2", "format": OPENAI, "index": 0},
            {"type": "reasoning.text", "text": "t", "signature": "S", "format": CLAUDE, "index": 1},
            {"type": "reasoning.text", "signature": "S2", "format": "google-gemini-v1"},
            {"type": "reasoning.text", "text": "u"},
        ]
        streamed = read(deltas(*({"reasoning_details": [entry]} for entry in entries), {"content": "x"}))
        assert entries == replayed(streamed)
        whole = plait.read_response(WIRE, response({"content": "x", "reasoning_details": entries}))
        assert whole == streamed

    def test_pieces(self) -> None:
        """Pieces of one type and index are one entry; what a piece leaves out stays as it was."""
        body = deltas(
            detail("summary", summary="a", format=OPENAI),
            detail("summary", summary="b"),
            detail("encrypted", data="E1", id="rs", format=OPENAI),
            detail("encrypted", data="E2"),
        )
        assert replayed(read(body)) == [
            {"type": "reasoning.summary", "summary": "ab", "format": OPENAI, "index": 0},
            {"type": "reasoning.encrypted", "data": "E1E2", "id": "rs", "format": OPENAI, "index": 0},
        ]

    def test_two_signed_texts(self) -> None:
        """A signature covers exact bytes: text after it is another entry, even with the same index."""
        body = deltas(
            detail("text", text="a"),
            detail("text", signature="S"),
            detail("text", text="b"),
            detail("text", signature="T"),
        )
        assert [(part.text, part.signature) for part in read(body).reasoning] == [("a", "S"), ("b", "T")]

    @pytest.mark.parametrize(
        "entries",
        [[None], [{}], [{"type": "reasoning.text", "format": CLAUDE, "index": 0}], [7]],
        ids=["null", "empty", "neither text nor data", "number"],
    )
    def test_nothing_in_it(self, entries: list[Any]) -> None:
        """An entry without content never fails, and makes no reasoning."""
        message = read(deltas({"reasoning_details": entries}, {"content": "x"}))
        assert (message.reasoning, message.text) == ([], "x")

    def test_unknown_type(self) -> None:
        """An entry of another type is counted, and kept in its place for replay."""
        entry = {"type": "reasoning.dream", "image": [1, 2]}
        parser = plait.parser(WIRE)
        parser.feed(deltas({"reasoning_details": [entry]}, {"content": "x"}))
        assert dict(parser.unknown) == {"reasoning_detail:reasoning.dream": 1}
        assert [("openrouter", entry)] == [
            (part.format, part.data) for part in parser.message.content if part.type == "provider"
        ]

    def test_server_tool(self) -> None:
        """A search that the server runs: status while it goes on, what it found, and the entry for replay."""
        asked = detail(
            "server_tool_call", tool_name="web_search", tool_call_id="t", arguments='{"query":"q"}'
        )
        answered = detail(
            "server_tool_call", tool_call_id="t", result={"results": [{"url": "u", "title": "T"}]}
        )
        body = deltas(asked, answered, {"content": "x"})
        expected = [
            STARTED,
            WebSearchStatus("searching", "q", None, 0),
            WebSearchStatus("completed", "q", None, 0),
            text("x", index=1)[0],
            WebSearchDone("q", [{"title": "T", "url": "u"}], 0),
            text("x", index=1)[1],
            STOP,
        ]
        parser = check_parse(WIRE, body, expected)
        both = {**asked["reasoning_details"][0], **answered["reasoning_details"][0]}
        assert [both] == [part.data for part in parser.message.content if part.type == "provider"]


class TestThinking:
    def test_content_parts(self) -> None:
        """A `thinking` item of a content list is reasoning to show."""
        parts = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "a"}]},
            {"type": "text", "text": "x"},
        ]
        message = read(deltas({"content": parts}))
        assert [ReasoningPart("text", "a")] == message.reasoning
        assert message.text == "x"

    def test_tags_are_text(self) -> None:
        """Without the option, tags are what the model wrote."""
        check_parse(
            WIRE, deltas({"content": "<think>a</think>b"}), [STARTED, *text("<think>a</think>b"), STOP]
        )

    def test_tags(self) -> None:
        """With the option, what is between tags is reasoning that is never sent back."""
        body = deltas({"content": "x<th"}, {"content": "ink>a</thi"}, {"content": "nk>y <"})
        expected = [
            STARTED,
            text("x")[0],
            ReasoningDelta("a", 1),
            ReasoningDone(ReasoningPart("text", "a"), 1),
            *text("y ", "<", index=2)[:2],
            text("xy <", index=2)[1],
            STOP,
        ]
        check_parse(WIRE, body, expected, think_tags=True)

    @pytest.mark.parametrize("names", ["reasoning", ["think", "reasoning"]], ids=["one", "several"])
    def test_tag_names(self, names: Any) -> None:
        """Tags may have other names; a whole body is split the same way."""
        content = "Q <reasoning>z</reasoning> R"
        message = read(deltas({"content": content}), think_tags=names)
        assert (message.text, message.reasoning_text) == ("Q  R", "z")
        assert message == plait.read_response(WIRE, response({"content": content}), think_tags=names)
