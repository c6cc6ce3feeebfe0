"""What a model says, as plain data: what an encoder turns into bytes."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from plait.events import FinishReason, TokenUsage


class Text(msgspec.Struct, frozen=True, tag="text"):
    """Answer text, in the pieces it is streamed in. Without characters it is nothing."""

    pieces: tuple[str, ...]

    @property
    def whole(self) -> str:
        """The pieces joined."""
        return "".join(self.pieces)


class Reasoning(msgspec.Struct, frozen=True, tag="reasoning"):
    """Reasoning that may be shown, in the pieces it is streamed in; without characters it is nothing.

    `signature` is what the provider wants back with it. openai-responses calls it encrypted content.
    """

    pieces: tuple[str, ...]
    signature: str | None = None

    @property
    def whole(self) -> str:
        """The pieces joined."""
        return "".join(self.pieces)


class ToolCall(msgspec.Struct, frozen=True, tag="tool-call"):
    """A call of the client's tool. The pieces joined are the arguments: the JSON text of an object.

    Without pieces the model gave no arguments, which means `{}`.
    """

    id: str
    name: str
    pieces: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """The pieces joined."""
        return "".join(self.pieces)


Part: TypeAlias = Text | Reasoning | ToolCall


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One response of a model.

    Attributes:
        parts: what it says, in order. The ids of calls are unique
        finish_reason: why it ends; each wire has words for some of the reasons only (see `Encoder`).
            A response that calls tools and ends in `stop` or `other` is one that ends in `tool_calls`
        token_usage: None where the server does not report it
        id: of the response
        model: that answers
        created: seconds since 1970-01-01 UTC, for wires that say it
    """

    parts: tuple[Part, ...]
    finish_reason: FinishReason = "stop"
    token_usage: TokenUsage | None = None
    id: str | None = "answer-1"
    model: str | None = "model-1"
    created: int = 0


Joins: TypeAlias = Literal["never", "unsigned", "until signed"]
"""Which parts of one kind, one after the other, are one part on a wire: none; those without a signature; or
reasoning up to the part, included, that has one."""

Order: TypeAlias = Literal["any", "calls last", "by kind"]
"""Which order of parts the non-streaming body of a wire can say: any; content and then calls; or one piece of
reasoning, one of text, and the calls."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a wire can say of an answer; the defaults are all of it.

    Attributes:
        id, model: whether the response's id and model have a place
        signatures: whether a signature of reasoning has one
        usage: the fields of `TokenUsage` that are counted
        joins: which parts are one on this wire
        order: the order of parts in the non-streaming body (a stream has any)
        whole_arguments: whether a stream has a call's arguments only as one object, not as pieces of text
        whole_signed: whether a stream has signed reasoning only in one piece
    """

    id: bool = True
    model: bool = True
    signatures: bool = True
    usage: frozenset[str] = frozenset(
        {"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"}
    )
    joins: Joins = "never"
    order: Order = "any"
    whole_arguments: bool = False
    whole_signed: bool = False


_OPEN = ("stop", "other")


def carried(answer: Answer, limits: Limits, *, streamed: bool) -> Answer:
    """What arrives of an answer, streamed or not: without what the wire has no place for.

    A non-streaming body has its parts in the wire's order, each in one piece, and arguments as an object.
    """
    usage = answer.token_usage
    if usage is not None:
        usage = msgspec.structs.replace(
            usage, **{name: None for name in usage.__struct_fields__ if name not in limits.usage}
        )
    calls = any(isinstance(part, ToolCall) for part in answer.parts)
    parts = [_carried_part(part, limits, streamed) for part in answer.parts]
    parts = [part for part in parts if isinstance(part, ToolCall) or part.whole]
    if not streamed:
        parts = _ordered(parts, limits.order)
    parts = _joined(parts, limits.joins)
    if not streamed:
        parts = [msgspec.structs.replace(part, pieces=(part.whole,)) for part in parts]
    return msgspec.structs.replace(
        answer,
        parts=tuple(parts),
        token_usage=usage,
        id=answer.id if limits.id else None,
        model=answer.model if limits.model else None,
        finish_reason="tool_calls" if calls and answer.finish_reason in _OPEN else answer.finish_reason,
    )


def arguments(call: ToolCall) -> Any:
    """A call's arguments as data.

    Raises:
        ValueError: they are not JSON
    """
    return msgspec.json.decode(call.whole) if call.whole else {}


def _carried_part(part: Part, limits: Limits, streamed: bool) -> Part:
    match part:
        case ToolCall() if limits.whole_arguments or not streamed:
            return ToolCall(part.id, part.name, (msgspec.json.encode(arguments(part)).decode(),))
        case Reasoning() if not limits.signatures:
            return Reasoning(part.pieces)
        case Reasoning() if part.signature is not None and limits.whole_signed:
            return Reasoning((part.whole,), part.signature)
    return part


def _ordered(parts: list[Part], order: Order) -> list[Part]:
    if order == "any":
        return parts
    ranks: dict[type[Part], int] = {Reasoning: 0, Text: 0 if order == "calls last" else 1, ToolCall: 2}
    return sorted(parts, key=lambda part: ranks[type(part)])


def _joined(parts: list[Part], joins: Joins) -> list[Part]:
    joined: list[Part] = []
    for part in parts:
        before = joined[-1] if joined else None
        if joins != "never" and isinstance(before, Text) and isinstance(part, Text):
            joined[-1] = Text(before.pieces + part.pieces)
        elif (
            joins != "never"
            and isinstance(before, Reasoning)
            and isinstance(part, Reasoning)
            and before.signature is None
            and (part.signature is None or joins == "until signed")
        ):
            joined[-1] = Reasoning(before.pieces + part.pieces, part.signature)
        else:
            joined.append(part)
    return joined
