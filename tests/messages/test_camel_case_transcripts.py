"""Transcripts that a TypeScript framework stored, and the same messages written in Python."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from plait.messages import (
    AssistantMessage,
    ImagePart,
    JsonOutput,
    Message,
    SystemMessage,
    ToolMessage,
    ToolResultPart,
    UserMessage,
    create_message_schema,
    is_message,
    parse_message,
    parse_messages,
)

EXAMPLES: dict[str, tuple[dict[str, Any], Message]] = {
    "system": (
        {"role": "system", "content": "Answer travel questions. Say when you do not know."},
        SystemMessage("Answer travel questions. Say when you do not know."),
    ),
    "user text": ({"role": "user", "content": "Is the museum open?"}, UserMessage("Is the museum open?")),
    "user image": (
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What does this sign say?"},
                {"type": "image", "image": {"type": "url", "url": "https://a.test/s.png"}, "detail": "high"},
            ],
        },
        UserMessage(
            ["What does this sign say?", ImagePart.from_url("https://a.test/s.png", detail="high")]
        ),
    ),
    "assistant": (
        {"role": "assistant", "id": "msg_1", "content": "It closes at six."},
        AssistantMessage("It closes at six.", id="msg_1"),
    ),
    "tool": (
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "tool_1",
                    "callId": "call_1",
                    "toolName": "opening_hours",
                    "output": {"type": "json", "value": {"opens": 9, "closesAt": 18}},
                }
            ],
        },
        ToolMessage(
            [
                ToolResultPart(
                    tool_call_id="tool_1",
                    call_id="call_1",
                    tool_name="opening_hours",
                    output=JsonOutput({"opens": 9, "closesAt": 18}),
                )
            ]
        ),
    ),
    "metadata": (
        {
            "role": "user",
            "content": "Sum this up.",
            "metadata": {"source": "api", "ticketId": "T-7", "labels": ["a", "b"]},
        },
        UserMessage(
            "Sum this up.", metadata={"source": "api", "ticketId": "T-7", "labels": ["a", "b"]}
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("stored", "message"), EXAMPLES.values(), ids=EXAMPLES)
def test_stored_and_written(stored: dict[str, Any], message: Message) -> None:
    """The stored form and the Python form are the same message, and camelCase comes out as it went in."""
    assert message == parse_message(stored)
    assert is_message(stored)
    content = stored["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    expected = stored if message.role == "system" else {**stored, "content": parts}
    assert expected == message.to_dict(camel=True)


def test_ticket_schema() -> None:
    """A schema of the application's own: metadata is typed, the standard contract stays as it is."""

    class Ticket(BaseModel):
        model_config = ConfigDict(extra="forbid")
        tenant_id: str = Field(alias="tenantId", min_length=1)
        ticket_id: str = Field(alias="ticketId", min_length=1)

    schema = create_message_schema(metadata_schema=Ticket)
    stored: dict[str, Any] = {
        "role": "user",
        "content": "Look at this.",
        "metadata": {"tenantId": "demo", "ticketId": "T-1"},
    }
    message = schema.parse(stored)
    assert message.metadata is not None
    assert "T-1" == message.metadata.ticket_id
    assert (True, "user", 1) == (
        is_message(stored),
        parse_message(stored).role,
        len(parse_messages([stored])),
    )
    assert stored["metadata"] == message.to_dict(camel=True)["metadata"]
    other = {**stored, "metadata": {"tenantId": "demo"}}
    assert is_message(other)
    assert not schema.safe_parse(other).success
