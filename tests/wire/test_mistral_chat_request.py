"""Requests to Mistral: messages and options as its SDK's types have them."""

from __future__ import annotations

from typing import Any

import pytest
from chat_requests import (
    PNG,
    assistant,
    call,
    file,
    image,
    mistral,
    notes,
    reasoning,
    result,
    system,
    text,
    user,
)

import plait
from plait.errors import InvalidDataError

FORMAT = "mistral-chat-v1"


def written(*messages: Any, **options: Any) -> Any:
    return mistral(list(messages), **options)["messages"]


@pytest.mark.parametrize(
    ("expected", "content"),
    [
        pytest.param("hi", "hi", id="text"),
        pytest.param(
            [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            ],
            [text("see"), image("https://example.com/a.png")],
            id="image",
        ),
        pytest.param(
            [
                {
                    "type": "document_url",
                    "document_url": "data:application/pdf;base64,JVBERg==",
                    "document_name": "a.pdf",
                }
            ],
            [file("JVBERg==", "application/pdf", filename="a.pdf")],
            id="document",
        ),
        pytest.param(
            [{"type": "document_url", "document_url": "https://example.com/a.pdf"}],
            [file("https://example.com/a.pdf", "application/pdf")],
            id="document by URL",
        ),
        pytest.param(
            [{"type": "input_audio", "input_audio": "SUQz"}], [file("SUQz", "audio/mpeg")], id="sound"
        ),
        pytest.param("a,b", [file("YSxi", "text/csv")], id="text file"),
    ],
)
def test_user_content(expected: Any, content: Any) -> None:
    """Each kind of part has its own content part."""
    assert [{"role": "user", "content": expected}] == written({"role": "user", "content": content})


def test_video_is_refused() -> None:
    """What Mistral does not take is an error that names the part."""
    with pytest.raises(
        InvalidDataError, match=r"messages\[0\]\.content\[0\]: .*video/mp4.* takes text, images"
    ):
        written(user([file("AAAA", "video/mp4")]))


def test_ids_are_nine_letters_and_digits() -> None:
    """Other ids are replaced, alike for the call and its result; Mistral's own stay."""
    messages = [
        user("go"),
        assistant(call("call_1"), call("abcdEF123")),
        result(id="call_1"),
        result(id="abcdEF123"),
    ]
    made = written(*messages)
    first, second = (one["id"] for one in made[1]["tool_calls"])
    assert second == "abcdEF123"
    assert [first, second] == [made[2]["tool_call_id"], made[3]["tool_call_id"]]
    assert len(first) == 9
    assert first.isalnum()
    assert [("renamed", "messages[1].content[0].call_id")] == notes("mistral-chat", messages)


def test_ids_of_models_served_with_vllm() -> None:
    """Some of Mistral's models make ids of another form: these go back as they came."""
    made = written(user("go"), assistant(call("chatcmpl-tool-0a1b")), result(id="chatcmpl-tool-0a1b"))
    assert made[1]["tool_calls"][0]["id"] == made[2]["tool_call_id"] == "chatcmpl-tool-0a1b"


def test_assistant_turn() -> None:
    """Text alone is a bare string; calls stand beside it."""
    made = written(user("go"), assistant("a", "b", call("abcdEF123")), result("done", "abcdEF123"))
    assert made[1:] == [
        {
            "role": "assistant",
            "content": "ab",
            "tool_calls": [
                {
                    "id": "abcdEF123",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"at":  1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "abcdEF123", "name": "look", "content": "done"},
    ]


def test_thinking_goes_back() -> None:
    """Own thinking stands as parts before the text, with its signature; another's is left out with a note."""
    messages = [
        user("go"),
        assistant(reasoning("hm", FORMAT, signature="s"), reasoning("no", "reasoning_content"), "ok"),
        user("and"),
    ]
    assert written(*messages)[1]["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "signature": "s"},
        {"type": "text", "text": "ok"},
    ]
    assert [("dropped", "messages[1].content[1].details[0]")] == notes("mistral-chat", messages)


def test_answer_goes_back_as_it_came() -> None:
    """References stay where they were, in the text and in the thinking, and so do other parts."""
    content = [
        {
            "type": "thinking",
            "thinking": [{"type": "text", "text": "hm"}, {"type": "reference", "reference_ids": [1]}],
        },
        {"type": "text", "text": "one"},
        {"type": "reference", "reference_ids": [2]},
        {"type": "text", "text": "two"},
        {"type": "document_url", "document_url": "https://example.com/a.pdf"},
    ]
    body = {"choices": [{"index": 0, "message": {"content": content}, "finish_reason": "stop"}]}
    read = plait.read_response("mistral-chat", body)
    assert written(user("go"), read, user("and"))[1]["content"] == content


def test_roles_alternate() -> None:
    """Turns of one role in a row are one; late system text is the user's."""
    made = written(system("s"), user("a"), user("b"), assistant("c"), assistant("d"), user("e"), system("f"))
    assert made == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": "cd"},
        {"role": "user", "content": [{"type": "text", "text": "e"}, {"type": "text", "text": "f"}]},
    ]


def test_user_after_tool() -> None:
    """A user message may not follow a tool's: an assistant's stands between them, with a note."""
    messages = [user("go"), assistant(call("abcdEF123")), result(id="abcdEF123"), user("and")]
    assert written(*messages)[3:] == [
        {"role": "assistant", "content": "OK"},
        {"role": "user", "content": "and"},
    ]
    assert [("added", "messages[3]")] == notes("mistral-chat", messages)


def test_beginning_of_an_answer() -> None:
    """A last message of the assistant's is marked as the beginning of the answer: else it is refused."""
    assert {"role": "assistant", "content": "Once", "prefix": True} == written(user("go"), assistant("Once"))[
        1
    ]


def test_images_in_results() -> None:
    """Results hold images themselves; a failure says that it is one."""
    output = {"type": "content", "value": [text("see"), image()]}
    made = written(user("go"), assistant(call("abcdEF123")), result(output, "abcdEF123"))
    assert made[2]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    ]
    failed = result({"type": "error-text", "value": "boom"}, "abcdEF123")
    assert written(user("go"), assistant(call("abcdEF123")), failed)[2]["content"] == "Error: boom"


def test_options() -> None:
    """Every option under Mistral's name for it."""
    body = mistral(
        [user("go")], model="m", max_output_tokens=9, temperature=0.1, top_p=0.5, top_k=4, stop="x",
        presence_penalty=0.1, frequency_penalty=0.2, seed=3, metadata={"a": "b"}, service_tier="auto",
        reasoning="high", prompt_cache={"key": "k"}, tools=[{"name": "look"}], tool_choice="required",
        parallel_tool_calls=False,
        output={"name": "City", "json_schema": {"type": "object"}, "strict": True}, stream=True,
    )  # fmt: skip
    body.pop("messages")
    assert body == {
        "model": "m",
        "max_tokens": 9,
        "temperature": 0.1,
        "top_p": 0.5,
        "top_k": 4,
        "stop": ["x"],
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "random_seed": 3,
        "metadata": {"a": "b"},
        "service_tier": "auto",
        "tools": [
            {
                "type": "function",
                "function": {"name": "look", "parameters": {"type": "object", "properties": {}}},
            }
        ],
        "tool_choice": "any",
        "parallel_tool_calls": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "City", "schema": {"type": "object"}, "strict": True},
        },
        "reasoning_effort": "high",
        "prompt_cache_key": "k",
        "stream": True,
    }


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        pytest.param([], {"stream": True, "include_usage": True}, id="usage is always there"),
        pytest.param([("dropped", "user")], {"user": "u"}, id="user"),
        pytest.param([("dropped", "web_search")], {"web_search": True}, id="search"),
        pytest.param([("clamped", "reasoning.effort")], {"reasoning": "low"}, id="effort is on or off"),
        pytest.param(
            [("dropped", "reasoning.budget_tokens")], {"reasoning": {"budget_tokens": 9}}, id="budget"
        ),
        pytest.param([("dropped", "prompt_cache.ttl")], {"prompt_cache": {"ttl": "1h"}}, id="ttl"),
        pytest.param([("dropped", "tool_choice")], {"tool_choice": "auto"}, id="no tools"),
        pytest.param(
            [("demoted", "tools[0]")], {"tools": [{"name": "a", "kind": "custom"}]}, id="custom tool"
        ),
    ],
)
def test_notes(expected: Any, options: Any) -> None:
    """Nothing is lost without a note."""
    assert expected == notes("mistral-chat", [user("go")], **options)


@pytest.mark.parametrize(
    ("expected", "reasoning"), [("none", False), ("none", "none"), ("high", True), ("high", "max")]
)
def test_reasoning_effort(expected: str, reasoning: Any) -> None:
    """Thinking is on or off."""
    assert expected == mistral([user("go")], reasoning=reasoning)["reasoning_effort"]


def test_any_json() -> None:
    """Any JSON, without a schema."""
    assert {"type": "json_object"} == mistral([user("as JSON")], output="json")["response_format"]


def test_choice_of_no_tool() -> None:
    """A choice of a tool that is not among the tools is an error; one that is, is named."""
    body = mistral([user("go")], tools=[{"name": "look"}], tool_choice="look")
    assert body["tool_choice"] == {"type": "function", "function": {"name": "look"}}
    with pytest.raises(InvalidDataError, match="tool_choice: no tool is named 'hear'"):
        mistral([user("go")], tools=[{"name": "look"}], tool_choice="hear")
