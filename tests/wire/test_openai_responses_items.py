"""Responses: which item an event belongs to, whatever a server makes of indexes and ids."""

from __future__ import annotations

import pytest
from responses_documents import (
    CALLED,
    STARTED,
    STOP,
    Document,
    added,
    arguments,
    call,
    check,
    created,
    done,
    ended,
    event,
    message,
    text,
)

from plait.events import (
    Event,
    FinishReasonDone,
    ReasoningDelta,
    ReasoningDone,
    ReasoningPart,
    TextDelta,
    TextDone,
    ToolCallDelta,
    ToolCallDone,
)
from plait.messages import ReasoningContent

CALL_ADDED = call("")
ONE_CALL: list[Event] = [
    STARTED,
    ToolCallDelta("fc", "f", "", 0),
    ToolCallDelta("fc", None, '{"n":', 0),
    ToolCallDelta("fc", None, "4}", 0),
    ToolCallDone("fc", "call", "f", '{"n":4}', True, 0),
    CALLED,
]


@pytest.mark.parametrize(
    "ids",
    [("fc", "fc", "fc"), ("B", "C", "D"), ("call", "call", "call"), ("fc", "B", "fc"), (None, None, None)],
    ids=["same", "rotating", "call_id", "once another", "none"],
)
def test_ids_that_change_from_event_to_event(ids: tuple[str | None, ...]) -> None:
    """Copilot gives each event of an item another id, mistral.rs the call_id: output_index decides."""
    first, second, third = ids
    check(
        [
            created(),
            added(0, CALL_ADDED),
            arguments('{"n":', id=first),
            arguments("4}", id=second),
            event("function_call_arguments.done", id=third, arguments='{"n":4}'),
            done(0, call('{"n":4}', id="E")),
            ended(output=[call('{"n":4}', id="F")]),
        ],
        ONE_CALL,
    )


def test_reasoning_whose_ids_rotate() -> None:
    """The id to keep is that of the finished item."""
    item: Document = {"type": "reasoning", "summary": []}
    parser = check(
        [
            created(),
            added(0, {**item, "id": "A"}),
            event("reasoning_summary_text.delta", id="B", summary_index=0, delta="Hm"),
            done(
                0,
                {
                    **item,
                    "id": "C",
                    "summary": [{"type": "summary_text", "text": "Hm"}],
                    "encrypted_content": "E",
                },
            ),
            text("Hi", 1, "X"),
            text("!", 1, "Y"),
            done(1, message("Hi!", id="Z")),
            ended(),
        ],
        [
            STARTED,
            ReasoningDelta("Hm", 0),
            ReasoningDone(ReasoningPart("summary", "Hm", format="openai-responses-v1"), 0),
            ReasoningDone(ReasoningPart("encrypted", None, "E", id="C", format="openai-responses-v1"), 0),
            TextDelta("Hi", 1),
            TextDelta("!", 1),
            TextDone("Hi!", 1),
            STOP,
        ],
    )
    assert isinstance(parser.message.content[0], ReasoningContent)
    assert parser.message.content[0].id == "C"


@pytest.mark.parametrize("index", [0, None], ids=["zero", "absent"])
def test_several_items_with_one_index(index: int | None) -> None:
    """Type and id tell items apart where the index does not, also while they are open at once."""
    check(
        [
            created(),
            added(index, {"type": "reasoning", "id": "rs", "summary": []}),
            event("reasoning_text.delta", index, "rs", content_index=0, delta="Hm"),
            added(index, {"type": "message", "id": "m", "content": []}),
            text("a", index, "m"),
            added(index, {"type": "message", "id": "n", "content": []}),
            text("b", index, "n"),
            text("A", index, "m"),
            done(
                index,
                {"type": "reasoning", "id": "rs", "content": [{"type": "reasoning_text", "text": "Hm"}]},
            ),
            done(index, message("b", id="n")),
            done(index, message("aA", id="m")),
            ended(),
        ],
        [
            STARTED,
            ReasoningDelta("Hm", 0),
            TextDelta("a", 1),
            TextDelta("b", 2),
            TextDelta("A", 1),
            ReasoningDone(ReasoningPart("text", "Hm", format="openai-responses-text-v1"), 0),
            TextDone("abA", 2),
            STOP,
        ],
    )


@pytest.mark.parametrize("index", [0, None], ids=["zero", "absent"])
@pytest.mark.parametrize("ids", [("m", "n"), (None, None)], ids=["two ids", "no ids"])
def test_items_one_after_the_other_with_one_index(
    index: int | None, ids: tuple[str | None, str | None]
) -> None:
    """A finished item is not opened again by another one's text or end."""
    first, second = (message(t) | {"id": id} for t, id in zip("ab", ids, strict=True))
    check(
        [created(), done(index, first), done(index, second), ended(output=[first, second])],
        [STARTED, TextDelta("a", 0), TextDelta("b", 1), TextDone("ab", 1), STOP],
    )


def test_done_for_an_item_that_nothing_announced() -> None:
    """Such an item is read whole."""
    check(
        [created(), text("Hi", 0, "m"), done(1, call('{"n":4}', id="new")), ended()],
        [
            STARTED,
            TextDelta("Hi", 0),
            ToolCallDelta("new", "f", "", 1),
            ToolCallDelta("new", None, '{"n":4}', 1),
            ToolCallDone("new", "call", "f", '{"n":4}', True, 1),
            TextDone("Hi", 0),
            CALLED,
        ],
    )


@pytest.mark.parametrize(
    "documents",
    [
        [added(0, CALL_ADDED), added(0, CALL_ADDED), arguments('{"n":'), arguments("4}")],
        [added(0, CALL_ADDED), arguments('{"n":'), arguments("4}"), done(0, call('{"n":4}'))],
        [added(5, CALL_ADDED), arguments('{"n":', 5), arguments("4}", 5)],
        [added(0, CALL_ADDED), arguments('{"n":', 5), arguments("4}", 5)],
    ],
    ids=["added twice", "done twice", "done at another index", "deltas at another index"],
)
def test_one_id_is_one_item(documents: list[Document | str]) -> None:
    """An item that is announced or finished twice, or elsewhere, under the id it has, is one item."""
    check([created(), *documents, done(0, call('{"n":4}')), ended()], ONE_CALL)


def test_a_resumed_stream_begins_in_the_middle_of_items() -> None:
    """Pieces of a call are kept back until the end of the item names it."""
    check(
        [
            {"type": "response.queued", "response": {"id": "r1", "model": "gpt", "output": []}},
            text("lo", 1, "m"),
            done(1, message("lo")),
            arguments('{"n":', 2, "fc"),
            arguments("4}", 2, "fc"),
            done(2, call('{"n":4}')),
            ended(),
        ],
        [
            STARTED,
            TextDelta("lo", 0),
            ToolCallDelta("fc", "f", "", 1),
            ToolCallDelta("fc", None, '{"n":', 1),
            ToolCallDelta("fc", None, "4}", 1),
            ToolCallDone("fc", "call", "f", '{"n":4}', True, 1),
            TextDone("lo", 0),
            CALLED,
        ],
    )


def test_a_call_that_is_never_named() -> None:
    """It cannot be run: it is shown as cut, and counted."""
    parser = check(
        [created(), arguments("{}", 0, "fc"), ended()],
        [
            STARTED,
            ToolCallDelta("call_r1_0", "", "", 0),
            ToolCallDelta("call_r1_0", None, "{}", 0),
            ToolCallDone("call_r1_0", "call_r1_0", "", "{}", False, 0),
            FinishReasonDone("tool_calls", "completed"),
        ],
    )
    assert parser.unknown == {"tool call without name": 1}


@pytest.mark.parametrize(
    ("names", "position"),
    [(("m", "n"), (0, 1)), (("x", "y"), (0, 1)), (("x", "y"), (3, 8))],
    ids=["same ids", "other ids", "other ids and positions"],
)
def test_the_terminal_event_repeats_what_streamed(names: tuple[str, str], position: tuple[int, int]) -> None:
    """Items of `output` are those that streamed: by id, else by position, else by order."""
    one, two = position
    check(
        [
            created(),
            text("a", one, "m"),
            done(one, message("a")),
            text("b", two, "n"),
            ended(output=[message("a", id=names[0]), message("bc", id=names[1])]),
        ],
        [STARTED, TextDelta("a", 0), TextDelta("b", 1), TextDelta("c", 1), TextDone("abc", 1), STOP],
    )


def test_the_terminal_event_has_more_than_streamed() -> None:
    """What did not stream is read from there; matching is by id before position."""
    check(
        [created(), text("b", 1, "n"), ended(output=[message("a", id="m"), message("b", id="n")])],
        [STARTED, TextDelta("b", 0), TextDelta("a", 1), TextDone("ba", 1), STOP],
    )


@pytest.mark.parametrize("output", [[], None], ids=["empty", "null"])
def test_the_terminal_event_without_output(output: list[Document] | None) -> None:
    """Codex ends with no output: what streamed stands."""
    end = ended()
    end["response"]["output"] = output
    check([created(), added(0, CALL_ADDED), arguments('{"n":'), arguments("4}"), end], ONE_CALL)


@pytest.mark.parametrize("item", [None, [], "x"], ids=["null", "array", "string"])
def test_items_that_are_no_objects(item: object) -> None:
    """A broken announcement is counted and skipped."""
    broken = {"type": "response.output_item.added", "output_index": 0, "item": item}
    parser = check(
        [created(), broken, text("Hi"), ended()], [STARTED, TextDelta("Hi", 0), TextDone("Hi", 0), STOP]
    )
    assert sum(parser.unknown.values()) == 1
