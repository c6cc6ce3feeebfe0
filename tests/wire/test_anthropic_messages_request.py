"""Histories -> Anthropic's messages."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic_requests import FORMAT, WIRE, planned, tool_result, tool_use
from histories import assistant, call, results, text, user

from plait.errors import InvalidDataError

PNG = "iVBORw0KGgo="
PDF = "JVBERi0="


def thought(words: str | None, signature: str | None = None, format: str | None = FORMAT) -> dict[str, Any]:
    detail = {"type": "text", "text": words, "signature": signature, "format": format}
    return {"type": "reasoning", "details": [{k: v for k, v in detail.items() if v is not None}]}


# Roles


def test_a_question_is_the_smallest_body() -> None:
    """Nothing is sent that was not asked for, but the limit that must be there."""
    body, notes = planned([user("Hi")])
    expected = {"model": "claude-x", "max_tokens": 4096, "messages": [{"role": "user", "content": "Hi"}]}
    assert (body, notes) == (expected, [])


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        pytest.param(["Be brief."], "Be brief.", id="one is a string"),
        pytest.param(["A", "B"], [text("A"), text("B")], id="several are blocks"),
    ],
)
def test_leading_system_text_stands_beside_the_messages(system: list[str], expected: Any) -> None:
    """System messages are no messages here."""
    body, _ = planned([*({"role": "system", "content": words} for words in system), user("Hi")])
    assert (body["system"], body["messages"]) == (expected, [{"role": "user", "content": "Hi"}])


def test_late_system_text_is_the_users() -> None:
    """System text after the first turn is sent as user text, with a note, and merged with its neighbours."""
    body, notes = planned([user("Hi"), {"role": "system", "content": "Be brief."}, user("Well?")])
    expected = [{"role": "user", "content": [text("Hi"), text("Be brief."), text("Well?")]}]
    assert (body["messages"], notes) == (expected, [("moved", "messages[1]")])


def test_neighbours_of_one_role_become_one_message() -> None:
    """Two user messages, and two assistant messages, become one each."""
    body, _ = planned([user("A"), user("B"), assistant("C"), assistant("D"), user("E")])
    assert body["messages"] == [
        {"role": "user", "content": [text("A"), text("B")]},
        {"role": "assistant", "content": [text("C"), text("D")]},
        {"role": "user", "content": "E"},
    ]


def test_empty_text_is_left_out_and_the_call_is_kept() -> None:
    """The API refuses the empty text blocks that it itself writes."""
    body, _ = planned([user("Hi"), assistant("", call("c1")), results(c1="")])
    assert body["messages"][1:] == [
        {"role": "assistant", "content": [tool_use("c1")]},
        {"role": "user", "content": [tool_result("c1")]},
    ]


def test_an_answer_without_content_is_left_out() -> None:
    """An empty answer of the model is no message."""
    body, notes = planned([user("Hi"), {"role": "assistant", "content": []}, user("Well?")])
    expected = [{"role": "user", "content": [text("Hi"), text("Well?")]}]
    assert (body["messages"], notes) == (expected, [("dropped", "messages[1]")])


def test_white_space_at_the_end_of_a_begun_answer_goes() -> None:
    """The beginning of an answer must not end in white space."""
    body, notes = planned([user("Hi"), assistant("It is \n")])
    expected = {"role": "assistant", "content": "It is"}
    assert (body["messages"][-1], notes) == (expected, [("dropped", "messages[1].content[0]")])


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        pytest.param("claude-sonnet-4-5", [], id="taken"),
        pytest.param("claude-opus-4-6", [("will_be_refused", "messages[1].content[0]")], id="refused"),
    ],
)
def test_newer_models_do_not_continue_an_answer(model: str, expected: list[Any]) -> None:
    """A history that ends in the assistant's text is sent, with a note where it will be refused."""
    assert planned([user("Hi"), assistant("It is")], model=model)[1] == expected


def test_system_text_alone_is_no_conversation() -> None:
    """There must be something to answer; the error says what to do."""
    with pytest.raises(InvalidDataError, match="add one"):
        planned([{"role": "system", "content": "Be brief."}])


# Calls and results


def test_results_of_a_turn_stand_first_in_one_user_message_in_the_order_of_the_calls() -> None:
    """Two tool messages and the user's text become one message: results first."""
    body, _ = planned(
        [user("Hi"), assistant(call("c1"), call("c2")), results(c2="two"), results(c1="one"), user("Well?")]
    )
    assert body["messages"][1:] == [
        {"role": "assistant", "content": [tool_use("c1"), tool_use("c2")]},
        {"role": "user", "content": [tool_result("c1", "one"), tool_result("c2", "two"), text("Well?")]},
    ]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param("sunny", {"content": "sunny"}, id="text"),
        pytest.param("", {}, id="nothing"),
        pytest.param({"type": "json", "value": {"é": [1]}}, {"content": '{"é":[1]}'}, id="json"),
        pytest.param({"type": "content", "value": []}, {}, id="no parts"),
        pytest.param({"type": "content", "value": [text("a"), text("")]}, {"content": "a"}, id="one part"),
        pytest.param({"type": "error-text", "value": "no"}, {"content": "no", "is_error": True}, id="error"),
        pytest.param(
            {"type": "error-json", "value": {"code": 1}},
            {"content": '{"code":1}', "is_error": True},
            id="json error",
        ),
        pytest.param(
            {"type": "execution-denied", "value": "not now"},
            {"content": "The call was not allowed to run: not now", "is_error": True},
            id="denied",
        ),
        pytest.param(
            {"type": "error-text", "value": ""},
            {"content": "The tool failed.", "is_error": True},
            id="empty error",
        ),
    ],
)
def test_each_kind_of_output(output: Any, expected: dict[str, Any]) -> None:
    """All six kinds of output, and the empty ones; an error is marked, and never without content."""
    body, _ = planned([user("Hi"), assistant(call("c1")), results(c1=output)])
    assert body["messages"][-1]["content"] == [{"type": "tool_result", "tool_use_id": "c1", **expected}]


def test_images_and_files_stand_in_a_result() -> None:
    """Parts of a result are sent as they are."""
    parts = [
        text("Look:"),
        {"type": "image", "image": {"type": "data", "data": PNG, "media_type": "image/png"}},
        {"type": "file", "data": {"type": "data", "data": PDF}, "media_type": "application/pdf"},
    ]
    body, notes = planned(
        [user("Hi"), assistant(call("c1")), results(c1={"type": "content", "value": parts})]
    )
    expected = [
        text("Look:"),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}},
    ]
    assert (body["messages"][-1]["content"], notes) == ([tool_result("c1", expected)], [])


def test_foreign_ids_are_replaced_in_call_and_result() -> None:
    """An id with other letters is replaced, by the same one in both places; a long one of ours is not."""
    body, notes = planned(
        [user("Hi"), assistant(call("a.b|c"), call("x" * 600)), results(**{"a.b|c": "1", "x" * 600: "2"})]
    )
    ids = [each["id"] for each in body["messages"][1]["content"]]
    assert ids == [each["tool_use_id"] for each in body["messages"][2]["content"]]
    assert (ids[1], notes) == ("x" * 600, [("renamed", "messages[1].content[0].call_id")])
    assert ids[0].isalnum()


def test_an_id_that_comes_again_is_replaced() -> None:
    """Other providers number their calls anew in each turn; here ids are unique in the whole history."""
    body, notes = planned(
        [
            *(user("Hi"), assistant(call("0")), results(**{"0": "a"})),
            *(user("And?"), assistant(call("0")), results(**{"0": "b"})),
        ]
    )
    first, second = body["messages"][1]["content"][0]["id"], body["messages"][3]["content"][0]["id"]
    assert (first, body["messages"][4]["content"][0]["tool_use_id"]) == ("0", second)
    assert first != second
    assert notes == [("renamed", "messages[4].content[0].call_id")]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param('{"a": 1}', {"a": 1}, id="object"),
        pytest.param('{"cmd":"ls', {"raw": '{"cmd":"ls'}, id="cut"),
        pytest.param('{"n":NaN}', {"raw": '{"n":NaN}'}, id="NaN"),
        pytest.param('{"n":1e999}', {"raw": '{"n":1e999}'}, id="beyond a double"),
        pytest.param("[1]", {"value": [1]}, id="list"),
    ],
)
def test_input_is_always_an_object(arguments: str, expected: Any) -> None:
    """What is not a JSON object is wrapped in one."""
    body, _ = planned([user("Hi"), assistant(call("c1", arguments=arguments)), results(c1="x")])
    assert body["messages"][1]["content"][0]["input"] == expected


def test_what_came_with_a_call_goes_back_with_it() -> None:
    """`caller` is kept by this wire and sent back; what another wire kept is not."""
    caller = {"type": "direct"}
    body, _ = planned(
        [
            user("Hi"),
            assistant(
                call("c1", extra={"caller": caller}, format=WIRE), call("c2", extra={"x": 1}, format="other")
            ),
            results(c1="a", c2="b"),
        ]
    )
    assert body["messages"][1]["content"] == [{**tool_use("c1"), "caller": caller}, tool_use("c2")]


# Thinking


def test_signed_thinking_and_redacted_data_go_back_in_order() -> None:
    """Thinking between calls stays where it was, also when its text was not shown."""
    redacted = {
        "type": "reasoning",
        "details": [{"type": "redacted", "data": "UkVE", "format": FORMAT}],
    }
    body, notes = planned(
        [
            user("Hi"),
            assistant(thought("Hm. ", "S1"), redacted, "Now:", call("c1"), thought(None, "S2"), call("c2")),
            results(c1="a", c2="b"),
        ]
    )
    expected = [
        {"type": "thinking", "thinking": "Hm. ", "signature": "S1"},
        {"type": "redacted_thinking", "data": "UkVE"},
        text("Now:"),
        tool_use("c1"),
        {"type": "thinking", "thinking": "", "signature": "S2"},
        tool_use("c2"),
    ]
    assert (body["messages"][1]["content"], notes) == (expected, [])


@pytest.mark.parametrize(
    "reasoning",
    [
        pytest.param(thought("Hm."), id="without a signature"),
        pytest.param(thought("Hm.", ""), id="empty signature"),
        pytest.param(thought("Hm.", "zz", "other-v1"), id="of another provider"),
        pytest.param(thought("Hm.", "zz", None), id="for display only"),
    ],
)
def test_other_reasoning_is_dropped_with_a_note(reasoning: dict[str, Any]) -> None:
    """Only thinking that Claude signed is taken back."""
    body, notes = planned([user("Hi"), assistant(reasoning, "Yes"), user("Go on")])
    expected = {"role": "assistant", "content": "Yes"}
    assert (body["messages"][1], notes) == (expected, [("dropped", "messages[1].content[0].details[0]")])
