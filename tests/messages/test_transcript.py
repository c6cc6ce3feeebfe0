"""`check_transcript`: what is out of order, by message, and nothing is changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from plait import InvalidDataError
from plait.messages import (
    AssistantMessage,
    ContentOutput,
    Message,
    Problem,
    ReasoningContent,
    SystemMessage,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
    check_transcript,
)


def call(id: str, name: str = "f", **fields: Any) -> ToolCallPart:
    return ToolCallPart(tool_call_id=id, tool_name=name, **fields)


def asks(*ids: str) -> AssistantMessage:
    return AssistantMessage([call(id) for id in ids])


def answers(*ids: str) -> ToolMessage:
    return ToolMessage([call(id).result("ok") for id in ids])


USER = UserMessage("Hi")
DONE = AssistantMessage("Done.")


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [SystemMessage("Be brief."), USER, DONE],
        [USER, asks("a", "b"), answers("a", "b"), DONE],
        [USER, asks("a", "b"), answers("b", "a"), DONE],
        [USER, asks("a", "b"), answers("a"), answers("b"), DONE],
        [USER, asks("a"), answers("a"), asks("b"), answers("b"), DONE],
        [USER, AssistantMessage([TextPart("", signature="s"), "Hi"])],
    ],
    ids=["empty", "plain", "calls", "other order", "two messages", "two turns", "signed text"],
)
def test_in_order(messages: list[Message]) -> None:
    """A history that every provider takes has no problems."""
    assert [] == check_transcript(messages)


@pytest.mark.parametrize(
    ("expected", "messages"),
    [
        ([(1, "unanswered_call", 0)], [USER, asks("a")]),
        ([(1, "unanswered_call", 1)], [USER, asks("a", "b"), answers("a"), DONE]),
        ([(1, "result_without_call", 0)], [USER, answers("a"), DONE]),
        ([(3, "misplaced_result", 0)], [USER, asks("a"), USER, answers("a"), DONE]),
        ([(1, "misplaced_result", 0)], [USER, answers("a"), asks("a"), DONE]),
        ([(2, "duplicate_result", 1)], [USER, asks("a"), answers("a", "a"), DONE]),
        ([(4, "duplicate_result", 0)], [USER, asks("a"), answers("a"), DONE, answers("a")]),
        ([(1, "duplicate_call_id", 1), (1, "unanswered_call", 1)], [USER, asks("a", "a"), answers("a")]),
        ([(3, "duplicate_call_id", 0)], [USER, asks("a"), answers("a"), asks("a"), answers("a")]),
        ([(1, "empty_id", 0)], [USER, asks(""), answers("")]),
        ([(1, "incomplete_call", 0)],
         [USER, AssistantMessage([call("a", arguments="{", complete=False)]), answers("a")]),
        ([(1, "incomplete_call", 0)], [USER, AssistantMessage([call("a", arguments="oops")]), answers("a")]),
        ([(2, "tool_name_differs", 0)],
         [USER, asks("a"), ToolMessage([ToolResultPart(tool_call_id="a", tool_name="g", output="x")])]),
        ([(0, "empty_content", None)], [SystemMessage(" ")]),
        ([(0, "empty_content", None)], [UserMessage([])]),
        ([(0, "empty_content", 0)], [UserMessage("")]),
        ([(1, "empty_content", None)], [USER, AssistantMessage([])]),
        ([(1, "empty_content", 0)], [USER, AssistantMessage([ReasoningContent(), "x"])]),
        ([(2, "empty_content", 0)], [USER, asks("a"), ToolMessage([call("a").result(ContentOutput([]))])]),
    ],
    ids=["open at the end", "one open", "no call", "not directly after", "before", "twice", "again later",
         "id twice", "id again", "no id", "cut call", "not JSON", "name", "system", "no parts", "no text",
         "no answer", "no reasoning", "no output"],
)  # fmt: skip
def test_problems(expected: list[tuple[int, str, int | None]], messages: list[Message]) -> None:
    """Each problem says where it is and what kind it is; the messages stay as they are."""
    before = copy.deepcopy(messages)
    problems = check_transcript(messages)
    assert expected == [(problem.index, problem.kind, problem.part) for problem in problems]
    assert before == messages


def test_words() -> None:
    """A problem is a frozen value, told in words with its place."""
    (problem,) = check_transcript([USER, asks("a"), USER, answers("a")])
    text = "the result of tool call 'a' stands not directly after messages[1], which asks for it"
    assert Problem(3, "misplaced_result", text, 0, "a") == problem
    assert f"messages[3].content[0]: {text}" == str(problem)
    assert problem == Problem.from_dict(problem.to_dict())
    with pytest.raises(AttributeError):
        problem.index = 0  # type: ignore[misc]


def test_what_is_no_message() -> None:
    """Stored dicts are read; what is no message is an error that names its index."""
    assert [] == check_transcript([{"role": "user", "content": "x"}])  # type: ignore[list-item]
    with pytest.raises(InvalidDataError, match=r"^messages\[1\]: expected a message"):
        check_transcript([USER, 3])  # type: ignore[list-item]
