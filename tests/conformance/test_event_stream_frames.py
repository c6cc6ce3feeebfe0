"""Binary streams under the laws: their messages are found without the parser, and its faults are seen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bedrock_frames import BEGIN, chunk, delta, end, event, exception, start, stop
from plait import conformance
from plait.conformance.event_stream import messages, with_payload
from plait.conformance.frames import ending
from plait.wire import parser
from plait.wire.bedrock_converse.parser import BedrockTranslator

CONVERSE = (
    BEGIN + delta(0, text="Os{lo") + stop(0) + start(1, toolUse={"toolUseId": "t", "name": "f"}) + stop(1)
)
CONVERSE += end("tool_use")
ANTHROPIC = (
    chunk({"type": "message_start", "message": {"id": "m1", "model": "c"}})
    + chunk({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    + chunk({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}})
    + chunk({"type": "content_block_stop", "index": 0})
    + chunk({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}})
    + chunk({"type": "message_stop"})
)


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        pytest.param("bedrock-converse", CONVERSE, id="bedrock-converse"),
        pytest.param(
            "bedrock-converse", BEGIN + exception("throttlingException", {"message": "m"}), id="exception"
        ),
        pytest.param("anthropic-messages", ANTHROPIC, id="anthropic-messages"),
    ],
)
def test_laws_hold(wire: str, body: bytes) -> None:
    """A binary stream obeys every law, also the slow ones."""
    assert [] == conformance.check(wire, body, conformance.LAWS)


def test_ending() -> None:
    """Complete at the end of `messageStop`, over at that of `metadata`, and not complete inside a message."""
    found = ending("bedrock-converse", CONVERSE)
    last = list(messages(CONVERSE))
    assert (last[-2].end, last[-1].end) == (found.complete, found.over)
    assert [True, False, True] == [
        found.may_end(cut) for cut in (last[-2].end, last[-2].end + 1, last[-1].end)
    ]


def test_payload_replaced() -> None:
    """A message with another payload has right lengths and checksums."""
    assert event("x", "[1]") == with_payload(event("x", "[]"), b"[1]")


def _ends_too_early(translator: BedrockTranslator) -> None:
    translator.assembler.end()


def _nothing(_translator: BedrockTranslator) -> None:
    """Never complete."""


@pytest.mark.parametrize("end_of_body", [_ends_too_early, _nothing])
def test_faults_are_seen(
    monkeypatch: pytest.MonkeyPatch, end_of_body: Callable[[BedrockTranslator], None]
) -> None:
    """A parser that takes a cut stream for a whole one, or a whole one for a cut one, breaks law 6."""
    monkeypatch.setattr(BedrockTranslator, "end_of_body", end_of_body)
    assert parser("bedrock-converse").feed(CONVERSE)
    breaches = conformance.check("bedrock-converse", CONVERSE, ["incomplete"])
    assert {"incomplete"} == {breach.law for breach in breaches}
