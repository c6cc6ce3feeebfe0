"""What is out of order in a conversation. Nothing is changed: sessions and requests do the repairing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from plait import json_text
from plait.events import Value
from plait.messages.content import TextPart, UserPart
from plait.messages.parts import AssistantPart, ReasoningContent, ToolCallPart
from plait.messages.results import ContentOutput, ToolResultPart
from plait.messages.roles import AssistantMessage, Message, SystemMessage, ToolMessage
from plait.messages.schema import parse_messages

ProblemKind: TypeAlias = Literal[
    "duplicate_call_id",
    "duplicate_result",
    "empty_content",
    "empty_id",
    "incomplete_call",
    "misplaced_result",
    "result_without_call",
    "tool_name_differs",
    "unanswered_call",
]


class Problem(Value, frozen=True):
    """One thing that is out of order.

    Attributes:
        index: position of the message among those that were checked
        kind: what it is, for programs
        message: the same in words
        part: position of the part in that message, where it is about one
        tool_call_id: the call that it is about
    """

    index: int
    kind: ProblemKind
    message: str
    part: int | None = None
    tool_call_id: str | None = None

    def __str__(self) -> str:
        where = "" if self.part is None else f".content[{self.part}]"
        return f"messages[{self.index}]{where}: {self.message}"


def check_transcript(messages: Iterable[Message]) -> list[Problem]:
    """What a provider would refuse in this history, whatever the provider, in the order of the messages.

    A result belongs directly after the assistant message that asked for it (other tool messages may stand
    between), once. Calls that are still open at the very end are `unanswered_call`s too.

    Raises:
        InvalidDataError: one of `messages` is no message
    """
    checking = _Checking(parse_messages(messages))
    checking.run()
    return sorted(checking.problems, key=lambda problem: (problem.index, problem.part or 0))


class _Call:
    __slots__ = ("answered", "index", "name", "part")

    def __init__(self, index: int, part: int, name: str) -> None:
        self.index = index
        self.part = part
        self.name = name
        self.answered = False


class _Checking:
    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self.problems: list[Problem] = []
        self.calls: dict[str, list[_Call]] = {}

    def add(
        self, index: int, kind: ProblemKind, message: str, part: int | None = None, id: str | None = None
    ) -> None:
        self.problems.append(Problem(index, kind, message, part, id))

    def run(self) -> None:
        for index, message in enumerate(self.messages):
            self.content(index, message)
            if isinstance(message, AssistantMessage):
                for at, part in enumerate(message.content):
                    if isinstance(part, ToolCallPart):
                        self.call(index, at, part)
        asker = None  # the message whose calls are answered here
        for index, message in enumerate(self.messages):
            if not isinstance(message, ToolMessage):
                asker = index
                continue
            for at, result in enumerate(message.content):
                self.result(index, at, result, asker)
        for id, calls in self.calls.items():
            for call in calls:
                if not call.answered:
                    text = f"tool call {id!r} ({call.name}) has no result"
                    self.add(call.index, "unanswered_call", text, call.part, id)

    def content(self, index: int, message: Message) -> None:
        if isinstance(message, SystemMessage):
            if not message.content.strip():
                self.add(index, "empty_content", "the text is empty")
            return
        if not message.content:
            self.add(index, "empty_content", f"the {message.role} message is empty")
        for at, part in enumerate(message.content):
            if _is_empty(part):
                self.add(index, "empty_content", f"the {part.type} part is empty", at)
            elif isinstance(part, ToolResultPart) and isinstance(part.output, ContentOutput):
                inside = part.output.value
                if not inside or any(map(_is_empty, inside)):
                    text = "the tool result's content is empty, or has an empty part"
                    self.add(index, "empty_content", text, at, part.tool_call_id)

    def call(self, index: int, at: int, part: ToolCallPart) -> None:
        id, name = part.tool_call_id, part.tool_name
        if not id.strip():
            self.add(index, "empty_id", f"a call of {name} has no id", at, id)
        earlier = self.calls.setdefault(id, [])
        if earlier:
            text = f"tool call id {id!r} is also that of a call in messages[{earlier[0].index}]"
            self.add(index, "duplicate_call_id", text, at, id)
        if not part.complete or not json_text.is_json(part.arguments):
            text = f"the arguments of tool call {id!r} ({name}) are not one whole JSON value"
            self.add(index, "incomplete_call", text, at, id)
        earlier.append(_Call(index, at, name))

    def result(self, index: int, at: int, part: ToolResultPart, asker: int | None) -> None:
        id = part.tool_call_id
        known = self.calls.get(id, [])
        here = [call for call in known if call.index == asker]
        call = next((call for call in here if not call.answered), None)
        if call is None and here:
            self.add(index, "duplicate_result", f"tool call {id!r} has its result already", at, id)
            return
        if call is None and known:
            call = next((call for call in known if not call.answered), None)
            if call is None:
                self.add(index, "duplicate_result", f"tool call {id!r} has its result already", at, id)
                return
            side = "before" if call.index > index else "not directly after"
            text = f"the result of tool call {id!r} stands {side} messages[{call.index}], which asks for it"
            self.add(index, "misplaced_result", text, at, id)
        if call is None:
            text = f"there is no tool call {id!r} for this result of {part.tool_name}"
            self.add(index, "result_without_call", text, at, id)
            return
        call.answered = True
        if call.name != part.tool_name:
            text = f"the result of tool call {id!r} names {part.tool_name}, the call {call.name}"
            self.add(index, "tool_name_differs", text, at, id)


def _is_empty(part: AssistantPart | UserPart | ToolResultPart) -> bool:
    if isinstance(part, TextPart):
        return not part.text.strip() and not (part.signature or part.extra)
    return isinstance(part, ReasoningContent) and not part.details
