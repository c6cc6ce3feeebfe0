"""Requests of Ollama's chat API: messages and options as it takes them."""

from __future__ import annotations

from typing import Any

import pytest
from chat_requests import PNG, assistant, call, file, image, notes, reasoning, result, system, text, user

import plait
from plait.errors import InvalidDataError
from request_oracles import check_ollama

WIRE = "ollama-chat"
THOUGHT = "ollama-thinking"
PARAMETERS = {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]}
LOOK = {"name": "look", "description": "Looks.", "parameters": PARAMETERS}
SENT = {"type": "function", "function": LOOK}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
CALLED = {"type": "function", "function": {"name": "look", "arguments": {"at": 1}}}


def ollama(*messages: Any, **options: Any) -> dict[str, Any]:
    """The body of a request, checked by the SDK's types."""
    body = plait.build_request(WIRE, list(messages), **options)
    check_ollama(body)
    return body


def written(*messages: Any, **options: Any) -> Any:
    return ollama(*messages, **options)["messages"]


def asked(**options: Any) -> dict[str, Any]:
    """What options add to a body."""
    body = ollama(user("hi"), **options)
    return {name: value for name, value in body.items() if name not in ("messages", "stream")}


def noted(**options: Any) -> list[tuple[str, str]]:
    return notes(WIRE, [user("hi")], **options)


@pytest.mark.parametrize(
    ("expected", "content"),
    [
        pytest.param({"content": "hi"}, "hi", id="one text"),
        pytest.param({"content": "a\nb"}, [text("a"), text("b")], id="two texts are one"),
        pytest.param({"content": "", "images": [PNG]}, [image()], id="image alone"),
        pytest.param({"content": "see", "images": [PNG]}, [text("see"), image()], id="image is bare base64"),
        pytest.param({"content": "", "images": [PNG]}, [file(PNG, "image/png")], id="image as a file"),
        pytest.param({"content": "a.csv:\na,b"}, [file("YSxi", "text/csv", filename="a.csv")], id="text"),
    ],
)
def test_user_content(expected: Any, content: Any) -> None:
    """Content is one text; images stand beside it, without their media type."""
    assert [{"role": "user", **expected}] == written({"role": "user", "content": content})


@pytest.mark.parametrize(
    ("part", "why"),
    [
        pytest.param(image("https://example.com/a.png"), r"resolve\(\)", id="image by URL"),
        pytest.param(file("JVBERg==", "application/pdf"), "images as data; leave it out", id="PDF"),
        pytest.param(file("AAAA", "audio/wav"), "does not take audio/wav", id="sound"),
    ],
)
def test_refused_content(part: Any, why: str) -> None:
    """What Ollama does not take is an error that names the part and says what to do."""
    with pytest.raises(InvalidDataError, match=rf"messages\[0\]\.content\[1\]: .*{why}"):
        written(user(text("see"), part))


@pytest.mark.parametrize(
    ("expected", "content"),
    [
        pytest.param([], [text("see"), image()], id="nothing"),
        pytest.param([("moved", "messages[0]")], [text("a"), image(), text("b")], id="image between texts"),
        pytest.param([("dropped", "messages[0].content[0].detail")], [image(detail="low")], id="detail"),
        pytest.param([("demoted", "messages[0].content[0]")], [file("YQ==", "text/plain")], id="text file"),
    ],
)
def test_notes_on_content(expected: Any, content: Any) -> None:
    """What is not sent as it stood is told."""
    assert expected == notes(WIRE, [{"role": "user", "content": content}])


def test_roles_stay_in_order() -> None:
    """Roles need not alternate, and system text may stand anywhere."""
    expected = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "system", "content": "now long"},
        {"role": "user", "content": "c"},
    ]
    assert expected == written(system("be brief"), user("a"), user("b"), system("now long"), user("c"))


def test_calls_and_results() -> None:
    """Arguments are an object; each result names its tool, and its call's id where one came."""
    expected = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "Let me look.", "tool_calls": [CALLED, {"id": "call_9", **CALLED}]},
        {"role": "tool", "tool_name": "look", "content": "one"},
        {"role": "tool", "tool_name": "look", "tool_call_id": "call_9", "content": "two"},
    ]
    asked_for = assistant("Let me ", "look.", call("a"), call("b", call_id="call_9"))
    assert expected == written(user("go"), asked_for, result("one", "a"), result("two", "b"))


def test_calls_without_text() -> None:
    """The content is still a text: the server reads nothing else."""
    assert {"role": "assistant", "content": "", "tool_calls": [CALLED]} == written(
        user("go"), assistant(call()), result()
    )[1]


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        pytest.param({}, "{}", id="none"),
        pytest.param({"value": [1]}, "[1]", id="not an object"),
        pytest.param({"raw": '{"at": '}, '{"at": ', id="cut"),
        pytest.param({"at": 12345678901234567890}, '{"at": 12345678901234567890}', id="great number"),
    ],
)
def test_arguments(expected: Any, arguments: str) -> None:
    """Arguments are always an object."""
    made = written(user("go"), assistant(call(arguments=arguments)), result())
    assert expected == made[1]["tool_calls"][0]["function"]["arguments"]


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        pytest.param("done", "done", id="text"),
        pytest.param("", "", id="empty text"),
        pytest.param('{"a":1}', {"type": "json", "value": {"a": 1}}, id="JSON"),
        pytest.param("a\nb", {"type": "content", "value": [text("a"), text("b")]}, id="texts"),
        pytest.param("", {"type": "content", "value": []}, id="no content"),
        pytest.param("Error: boom", {"type": "error-text", "value": "boom"}, id="failure"),
        pytest.param("error 5", {"type": "error-text", "value": "error 5"}, id="failure that says so"),
        pytest.param('{"error":{"code":5}}', {"type": "error-json", "value": {"code": 5}}, id="JSON failure"),
        pytest.param(
            "The call was not allowed to run: no",
            {"type": "execution-denied", "value": "no"},
            id="denied",
        ),
    ],
)
def test_results(expected: str, output: Any) -> None:
    """A result is one text; a failure says so itself."""
    assert expected == written(user("go"), assistant(call()), result(output))[2]["content"]


def test_image_of_a_result_follows() -> None:
    """An image in a result is sent as the user's, for many models look only there."""
    output = {"type": "content", "value": [text("seen"), image()]}
    made = written(user("go"), assistant(call()), result(output))
    assert [
        {"role": "tool", "tool_name": "look", "content": "seen"},
        {"role": "user", "content": "Result of tool call call_1 (look):", "images": [PNG]},
    ] == made[2:]


def test_thinking_goes_back() -> None:
    """What came as `thinking` goes back in that field; what others thought does not."""
    history = [user("a"), assistant(reasoning("hm", THOUGHT), reasoning("um", "deepseek"), "b"), user("c")]
    assert {"role": "assistant", "content": "b", "thinking": "hm"} == written(*history)[1]
    assert [("dropped", "messages[1].content[1].details[0]")] == notes(WIRE, history)


def test_what_an_answer_cannot_hold_is_told() -> None:
    """An image of an answer is left out, with a note; an answer of nothing else is left out as a whole."""
    history = [user("a"), assistant(image()), user("b")]
    assert [user("a"), user("b")] == written(*history)
    assert [("dropped", "messages[1].content[0]"), ("dropped", "messages[1]")] == notes(WIRE, history)


def test_nothing_to_send() -> None:
    """No messages would only load the model."""
    with pytest.raises(InvalidDataError, match="nothing of them can be sent"):
        written(user(""), repair=True)


def test_read_and_sent_back() -> None:
    """An answer that is read goes back with its thinking, its text, and its calls in order."""
    stream = (
        b'{"model":"m","message":{"role":"assistant","content":"","thinking":"Two "},"done":false}\n'
        b'{"model":"m","message":{"role":"assistant","content":"","thinking":"calls."},"done":false}\n'
        b'{"model":"m","message":{"role":"assistant","content":"Wait."},"done":false}\n'
        b'{"model":"m","message":{"role":"assistant","content":"","tool_calls":['
        b'{"id":"call_7","function":{"index":0,"name":"look.at","arguments":{"y":3,"x":2}}},'
        b'{"function":{"index":1,"name":"look.at","arguments":{}}}]},"done":false}\n'
        b'{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n'
    )
    parser = plait.parser(WIRE)
    parser.feed(stream)
    parser.close()
    answers = plait.ToolMessage([one.result("ok") for one in parser.message.tool_calls])
    function = {"name": "look.at", "arguments": {"y": 3, "x": 2}}
    expected = [
        {
            "role": "assistant",
            "content": "Wait.",
            "thinking": "Two calls.",
            "tool_calls": [
                {"id": "call_7", "type": "function", "function": function},
                {"type": "function", "function": {"name": "look.at", "arguments": {}}},
            ],
        },
        {"role": "tool", "tool_name": "look.at", "tool_call_id": "call_7", "content": "ok"},
        {"role": "tool", "tool_name": "look.at", "content": "ok"},
    ]
    assert expected == written(user("go"), parser.message, answers)[1:]


@pytest.mark.parametrize("stream", [False, True])
def test_stream_is_always_said(stream: bool) -> None:
    """Without it Ollama streams."""
    assert stream is ollama(user("hi"), stream=stream)["stream"]


def test_nothing_unasked() -> None:
    """A plain chat has no field that was not asked for: `tools` makes models without tools fail."""
    assert {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": False,
    } == ollama(user("hi"), model="m")


def test_plain_options() -> None:
    """Sampling and limits stand in `options`, beside what only Ollama knows."""
    expected = {
        "options": {
            "num_predict": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 40, "presence_penalty": 0.1,
            "frequency_penalty": 0.2, "stop": ["x"], "seed": 7, "num_ctx": 8192,
        },
        "keep_alive": "5m",
    }  # fmt: skip
    assert expected == asked(
        max_output_tokens=9, temperature=0.5, top_p=0.9, top_k=40, presence_penalty=0.1,
        frequency_penalty=0.2, stop="x", seed=7, extra={"options": {"num_ctx": 8192}, "keep_alive": "5m"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        pytest.param({"tools": [SENT]}, {}, id="free"),
        pytest.param({"tools": [SENT]}, {"tool_choice": "auto"}, id="auto"),
        pytest.param({"tools": [SENT]}, {"tool_choice": "required"}, id="required is not there"),
        pytest.param({}, {"tool_choice": "none"}, id="none sends none"),
    ],
)
def test_tools(expected: Any, options: Any) -> None:
    """Tools are functions; there is no choice between them."""
    assert expected == asked(tools=[LOOK], **options)


def test_named_tool_is_sent_alone() -> None:
    """A tool that is named is the only one sent, which is all that can be done."""
    assert {"tools": [SENT]} == asked(tools=[{"name": "find"}, LOOK], tool_choice="look")
    assert [("demoted", "tool_choice")] == noted(tools=[{"name": "find"}, LOOK], tool_choice="look")
    with pytest.raises(InvalidDataError, match="no tool is named 'see'"):
        asked(tools=[LOOK], tool_choice="see")


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        pytest.param({"format": "json"}, {"output": "json"}, id="any JSON"),
        pytest.param({"format": SCHEMA}, {"output": SCHEMA}, id="schema"),
        pytest.param({"think": True}, {"reasoning": True}, id="thinking"),
        pytest.param({"think": True}, {"reasoning": {"budget_tokens": 99}}, id="budget"),
        pytest.param({"think": False}, {"reasoning": False}, id="no thinking"),
        pytest.param({"think": False}, {"reasoning": "none"}, id="no effort"),
        pytest.param({"think": "low"}, {"reasoning": "low"}, id="effort"),
        pytest.param({"think": "high"}, {"reasoning": "max"}, id="more effort than there is"),
        pytest.param(
            {"model": "gpt-oss:20b", "think": "low"},
            {"reasoning": False, "model": "gpt-oss:20b"},
            id="model that always thinks",
        ),
    ],
)
def test_output_and_thinking(expected: Any, options: Any) -> None:
    """The answer's form is `format`; how much is thought is `think`."""
    assert expected == asked(**options)


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        pytest.param(
            [("dropped", "tool_choice")], {"tools": [LOOK], "tool_choice": "required"}, id="required"
        ),
        pytest.param([("dropped", "tools")], {"tools": [LOOK], "tool_choice": "none"}, id="none"),
        pytest.param([("dropped", "tool_choice")], {"tool_choice": "none"}, id="choice without tools"),
        pytest.param([("dropped", "tools[0].strict")], {"tools": [{**LOOK, "strict": True}]}, id="strict"),
        pytest.param(
            [("dropped", "parallel_tool_calls")],
            {"tools": [LOOK], "parallel_tool_calls": False},
            id="parallel",
        ),
        pytest.param([("demoted", "tools")], {"tools": [LOOK], "output": "json"}, id="tools beside a form"),
        pytest.param(
            [("dropped", "output.description"), ("dropped", "output.strict")],
            {"output": {"json_schema": SCHEMA, "description": "d", "strict": False}},
            id="what a schema is beside",
        ),
        pytest.param([("clamped", "reasoning.effort")], {"reasoning": "minimal"}, id="effort"),
        pytest.param(
            [("dropped", "reasoning.summary"), ("dropped", "reasoning.budget_tokens")],
            {"reasoning": {"budget_tokens": 9, "summary": "auto"}},
            id="budget",
        ),
        pytest.param(
            [("clamped", "reasoning")], {"reasoning": False, "model": "gpt-oss"}, id="always thinks"
        ),
        pytest.param([("dropped", "web_search")], {"web_search": True}, id="search"),
        pytest.param([("dropped", "prompt_cache")], {"prompt_cache": True}, id="cache"),
        pytest.param([], {"stream": True, "include_usage": True}, id="usage is always there"),
        pytest.param(
            [("dropped", "metadata"), ("dropped", "user"), ("dropped", "verbosity")],
            {"user": "u", "metadata": {"a": "b"}, "verbosity": "low"},
            id="labels",
        ),
    ],
)
def test_notes_on_options(expected: Any, options: Any) -> None:
    """What has no place is told."""
    assert expected == noted(**options)
