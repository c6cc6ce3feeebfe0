"""Faults of reasoning: which field it is in, what marks it, and what must be kept to send it back."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic_documents import END, block, delta, finish, start, stop
from chat_bodies import chunk, deltas, stream
from checking import sse
from gemini_bodies import chunk as gemini_chunk
from gemini_bodies import of_parts
from gemini_bodies import stream as gemini_stream
from gemini_bodies import text as gemini_text
from responses_documents import added, done
from said import lines, piece, read, responses, said

import bedrock_frames as bedrock
from plait.events import ReasoningPart
from plait.wire.parser import Parser


def parts(parser: Parser) -> list[tuple[str, str | None, str | None, str | None]]:
    """Type, text, signature and data of each reasoning part."""
    return [(part.type, part.text, part.signature, part.data) for part in parser.message.reasoning]


@pytest.mark.parametrize(
    ("reasoning", "text", "wire", "body"),
    [
        pytest.param("a", "b", "openai-chat", deltas({"reasoning": "a"}, {"content": "b"}), id="reasoning"),
        pytest.param(
            "a",
            "b",
            "openai-chat",
            deltas({"reasoning_content": "a"}, {"content": "b"}),
            id="reasoning_content",
        ),
        pytest.param(
            "a",
            "b",
            "openai-chat",
            deltas({"reasoning": "a", "reasoning_content": "a"}, {"content": "b"}),
            id="both",
        ),
        pytest.param(
            "a",
            "b",
            "openai-chat",
            deltas({"reasoning": "a", "reasoning_content": None}, {"content": "b"}),
            id="one null",
        ),
        pytest.param(
            "a",
            "b",
            "openai-chat",
            deltas({"reasoning": "a", "reasoning_content": ""}, {"content": "b"}),
            id="one empty",
        ),
        pytest.param("a", "b", "openai-chat", deltas({"reasoning": "a", "content": "b"}), id="with the text"),
        pytest.param(
            "a",
            "b",
            "openai-chat",
            deltas(
                {
                    "reasoning": "a",
                    "reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}],
                },
                {"content": "b"},
            ),
            id="mirrored in details",
        ),
        pytest.param(
            "a",
            "b",
            "openai-chat",
            deltas(
                {
                    "reasoning": "a",
                    "reasoning_details": [{"type": "reasoning.text", "format": "x", "index": 0}],
                },
                {"content": "b"},
            ),
            id="details with neither text nor data",
        ),
        pytest.param(
            "hm",
            "",
            "openai-chat",
            deltas({"reasoning_content": "h"}, {"reasoning_content": "m"}),
            id="chat: only reasoning",
        ),
        pytest.param(
            "a",
            "b",
            "mistral-chat",
            deltas(
                {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}]},
                {"content": "b"},
            ),
            id="mistral",
        ),
        pytest.param(
            "",
            "Ans",
            "gemini",
            of_parts(gemini_text("Ans", thoughtSignature="QQ==")),
            id="gemini: a signature is no thought",
        ),
        pytest.param(
            "t",
            "Ans",
            "gemini",
            of_parts(gemini_text("t", thought=True), gemini_text("Ans", thought=False)),
            id="gemini: thought false",
        ),
        pytest.param(
            "hmhm",
            "",
            "ollama-chat",
            lines(
                {"message": {"thinking": "hm"}},
                {"message": {"thinking": "hm"}},
                {"message": {"content": ""}, "done": True, "done_reason": "length"},
            ),
            id="ollama: only thinking",
        ),
        pytest.param(
            "t",
            "",
            "bedrock-converse",
            bedrock.BEGIN
            + bedrock.delta(0, reasoningContent={"text": "t"})
            + bedrock.delta(0, reasoningContent={"signature": "s"})
            + bedrock.stop(0)
            + bedrock.end(),
            id="bedrock",
        ),
        pytest.param(
            "",
            "",
            "openai-responses",
            responses(
                added(0, {"type": "reasoning", "id": "rs", "summary": []}),
                done(0, {"type": "reasoning", "id": "rs", "summary": []}),
            ),
            id="responses: nothing to show",
        ),
    ],
)
def test_what_is_shown(reasoning: str, text: str, wire: str, body: bytes) -> None:
    """Reasoning is read from wherever it is, once; an answer may be all reasoning."""
    found = said(wire, body)
    assert (reasoning, text) == (found.get("reasoning", ""), found.get("text", ""))
    assert "error" not in found


@pytest.mark.parametrize(
    ("reasoning", "text", "pieces", "tags"),
    [
        ("plan", "Answer", ["<th", "ink>plan</thi", "nk>Answer"], True),
        ("q", "pr", ["p<think>q</think>r"], True),
        ("z", "Q  R", ["Q <reason", "ing>z</reasoning> R"], "reasoning"),
        ("", "x < y", ["x ", "< y"], True),
        ("", "x <", ["x <"], True),
        ("", "x <thin", ["x <thin"], True),
        ("open", "", ["<think>op", "en"], True),
        ("", "<think>a</think>b", ["<think>a</think>b"], False),
    ],
    ids=[
        "cut tags",
        "one piece",
        "longer name",
        "less than",
        "at the end",
        "half a tag",
        "never closed",
        "not asked for",
    ],
)
def test_tags(reasoning: str, text: str, pieces: list[str], tags: Any) -> None:
    """No markup leaks, no text is lost at the end, however the tags are cut."""
    found = said("openai-chat", deltas(*({"content": each} for each in pieces)), think_tags=tags)
    assert (reasoning, text) == (found.get("reasoning", ""), found.get("text", ""))


def converse(*frames: bytes) -> bytes:
    """A stream with these frames."""
    return bedrock.BEGIN + b"".join(frames) + bedrock.end()


SIGNED = bedrock.delta(0, reasoningContent={"signature": "s"}) + bedrock.stop(0)
THINKING = [
    block(0, "thinking", thinking=""),
    delta(0, "thinking_delta", thinking="t"),
    delta(0, "signature_delta", signature="s"),
    stop(0),
]


@pytest.mark.parametrize(
    ("expected", "wire", "body"),
    [
        pytest.param(
            [("text", "t", "s", None)],
            "bedrock-converse",
            converse(bedrock.delta(0, reasoningContent={"text": "t"}), SIGNED),
            id="bedrock: signature alone in its delta",
        ),
        pytest.param(
            [("text", "", "s", None)],
            "bedrock-converse",
            converse(SIGNED),
            id="bedrock: signature alone in its block",
        ),
        pytest.param(
            [("redacted", None, None, "RU5D")],
            "bedrock-converse",
            converse(bedrock.delta(0, reasoningContent={"redactedContent": "RU5D"}), bedrock.stop(0)),
            id="bedrock: redacted",
        ),
        pytest.param(
            [("text", "t", "s", None)],
            "anthropic-messages",
            sse(
                start(),
                *THINKING,
                block(1, "tool_use", id="c", name="f", input={}),
                stop(1),
                finish("tool_use"),
                END,
            ),
            id="anthropic: signed, then a call",
        ),
        pytest.param(
            [("redacted", None, None, "ENC"), ("text", "t", "s", None)],
            "anthropic-messages",
            sse(start(), block(9, "redacted_thinking", data="ENC"), stop(9), *THINKING, finish(), END),
            id="anthropic: redacted first",
        ),
        pytest.param(
            [("text", "", "s", None)],
            "anthropic-messages",
            sse(start(), THINKING[0], *THINKING[2:], finish(), END),
            id="anthropic: signature alone",
        ),
        pytest.param(
            [("encrypted", None, None, "E")],
            "openai-responses",
            responses(done(0, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"})),
            id="responses: only done",
        ),
        pytest.param(
            [("encrypted", None, None, "E")],
            "openai-responses",
            responses(output=[{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}]),
            id="responses: only at the end",
        ),
        pytest.param(
            [("text", "a", "S", None)],
            "openai-chat",
            deltas(
                {"reasoning_details": [{"type": "reasoning.text", "text": "a"}]},
                {"reasoning_details": [{"type": "reasoning.text", "signature": "S"}]},
            ),
            id="openrouter",
        ),
        pytest.param(
            [("encrypted", None, None, "E")],
            "openai-chat",
            deltas({"reasoning_details": [{"type": "reasoning.encrypted", "data": "E"}]}, {"content": "x"}),
            id="openrouter: encrypted",
        ),
    ],
)
def test_what_goes_back(expected: list[Any], wire: str, body: bytes) -> None:
    """Signatures and opaque data are kept, in order, also where no text came with them."""
    parser, events = read(wire, body)
    assert expected == parts(parser)
    assert len(expected) == len(
        [event for event in events if isinstance(getattr(event, "part", None), ReasoningPart)]
    )


def texts(body: bytes) -> list[tuple[str, str | None]]:
    """Text and signature of each text part of a Gemini stream."""
    content = read("gemini", body)[0].message.content
    return [(part.text, part.signature) for part in content if part.type == "text"]


def test_gemini_signature_on_an_empty_last_text() -> None:
    """It is kept with the answer, and makes no thought."""
    body = gemini_stream(
        gemini_chunk(gemini_text("Ans")), gemini_chunk(gemini_text("", thoughtSignature="S"), finish="STOP")
    )
    assert [("Ans", None), ("", "S")] == texts(body)
    assert "reasoning" not in said("gemini", body)


def test_gemini_signed_texts_stay_apart() -> None:
    """A signature covers its own part: neighbours are not joined to it, except to be shown."""
    body = of_parts(
        gemini_text("a", thoughtSignature="S1"), gemini_text("b"), gemini_text("c", thoughtSignature="S2")
    )
    assert [("a", "S1"), ("b", None), ("c", "S2")] == texts(body)
    assert "abc" == said("gemini", body)["text"]


def test_google_signature_in_chat_is_kept() -> None:
    """It stands beside the function of a call."""
    extra = {"google": {"thought_signature": "S"}}
    body = stream(
        chunk({"tool_calls": [piece("f", "{}", index=0, id="c", extra_content=extra)]}),
        chunk({}, "tool_calls"),
    )
    (call,) = read("openai-chat", body)[0].message.tool_calls
    assert {"extra_content": extra} == call.extra
