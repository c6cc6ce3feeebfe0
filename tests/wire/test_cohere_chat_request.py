"""Requests of Cohere's chat API: messages and options as it takes them."""

from __future__ import annotations

from typing import Any

import pytest
from chat_requests import PNG, assistant, call, file, image, notes, reasoning, result, system, text, user

import plait
from plait.errors import InvalidDataError
from request_oracles import check_cohere

WIRE = "cohere-chat"
THOUGHT, PLAN = "cohere-chat-v2", "cohere-tool-plan"
PARAMETERS = {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]}
LOOK = {"name": "look", "description": "Looks.", "parameters": PARAMETERS}
SENT = {"type": "function", "function": LOOK}
FIND = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
CALLED = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at":  1}'}}


def cohere(*messages: Any, **options: Any) -> dict[str, Any]:
    """The body of a request, checked by the SDK's types."""
    body = plait.build_request(WIRE, list(messages), **options)
    check_cohere(body)
    return body


def written(*messages: Any, **options: Any) -> Any:
    return cohere(*messages, **options)["messages"]


def asked(**options: Any) -> dict[str, Any]:
    """What options add to a body."""
    return {name: value for name, value in cohere(user("hi"), **options).items() if name != "messages"}


def noted(**options: Any) -> list[tuple[str, str]]:
    return notes(WIRE, [user("hi")], **options)


@pytest.mark.parametrize(
    ("expected", "content"),
    [
        pytest.param("hi", "hi", id="one text is a bare string"),
        pytest.param(
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            [text("a"), text("b")],
            id="two texts",
        ),
        pytest.param(
            [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}],
            [image(detail="low")],
            id="image",
        ),
        pytest.param(
            [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}],
            [image("https://example.com/a.png")],
            id="image by URL",
        ),
        pytest.param(
            [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}],
            [file(PNG, "image/png")],
            id="image as a file",
        ),
        pytest.param("a.csv:\na,b", [file("YSxi", "text/csv", filename="a.csv")], id="text file is text"),
    ],
)
def test_user_content(expected: Any, content: Any) -> None:
    """Each kind of part has its own content part."""
    assert [{"role": "user", "content": expected}] == written({"role": "user", "content": content})


@pytest.mark.parametrize(
    ("part", "why"),
    [
        pytest.param(file("JVBERg==", "application/pdf"), "text and images; leave it out", id="PDF"),
        pytest.param(file("AAAA", "audio/wav"), "does not take audio/wav", id="sound"),
        pytest.param(file("https://example.com/a.txt", "text/plain"), r"resolve\(\)", id="text by URL"),
    ],
)
def test_refused_content(part: Any, why: str) -> None:
    """What Cohere does not take is an error that names the part and says what to do."""
    with pytest.raises(InvalidDataError, match=rf"messages\[0\]\.content\[1\]: .*{why}"):
        written(user(text("see"), part))


def test_text_file_is_noted() -> None:
    """A text file that is sent as text is told."""
    assert [("demoted", "messages[0].content[0]")] == notes(WIRE, [user([file("YQ==", "text/plain")])])


def test_roles_stay_in_order() -> None:
    """Roles need not alternate, and system text may stand anywhere."""
    history = [system("be brief"), user("a"), user("b"), system("now long"), user("c")]
    assert history == written(*history)


def test_calls_and_results() -> None:
    """Arguments stay the text they were; each result is a message of its own, in the order of the calls."""
    expected = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Let me "}, {"type": "text", "text": "look."}],
            "tool_calls": [CALLED, {**CALLED, "id": "call_9"}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "one"},
        {"role": "tool", "tool_call_id": "call_9", "content": "two"},
    ]
    asked_for = assistant("Let me ", "look.", call(), call("b", call_id="call_9"))
    answers = {"role": "tool", "content": [*result("two", "b")["content"], *result("one")["content"]]}
    assert expected == written(user("go"), asked_for, answers)


def test_calls_without_text() -> None:
    """Content that would be empty is left out."""
    made = written(user("go"), assistant("", call()), result())
    assert {"role": "assistant", "tool_calls": [CALLED]} == made[1]


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        pytest.param("done", "done", id="text"),
        pytest.param("", "", id="empty text"),
        pytest.param('{"a":1}', {"type": "json", "value": {"a": 1}}, id="JSON"),
        pytest.param(
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            {"type": "content", "value": [text("a"), text("b")]},
            id="texts",
        ),
        pytest.param("", {"type": "content", "value": []}, id="no content"),
        pytest.param('{"error":"boom"}', {"type": "error-text", "value": "boom"}, id="failure"),
        pytest.param('{"error":{"code":5}}', {"type": "error-json", "value": {"code": 5}}, id="JSON failure"),
        pytest.param(
            "The call was not allowed to run: no",
            {"type": "execution-denied", "value": "no"},
            id="denied",
        ),
    ],
)
def test_results(expected: Any, output: Any) -> None:
    """A result is text; a failure says so itself."""
    assert expected == written(user("go"), assistant(call()), result(output))[2]["content"]


def test_image_of_a_result_follows() -> None:
    """An image in a result is sent as the user's: results hold only text."""
    output = {"type": "content", "value": [image()]}
    made = written(user("go"), assistant(call()), result(output))
    assert [
        {"role": "tool", "tool_call_id": "call_1", "content": "The result is in the next message."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Result of tool call call_1 (look):"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            ],
        },
    ] == made[2:]


def test_thinking_and_plan_go_back() -> None:
    """Thinking goes back where it stood, a plan in its own field; what others thought does not."""
    history = [
        user("a"),
        assistant(reasoning("hm", THOUGHT), reasoning("um", "deepseek"), reasoning("go", PLAN), "b", call()),
        result(),
    ]
    expected = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "b"}],
        "tool_plan": "go",
        "tool_calls": [CALLED],
    }
    assert expected == written(*history)[1]
    assert [("dropped", "messages[1].content[1].details[0]")] == notes(WIRE, history)


def test_citations_stay_here() -> None:
    """An answer goes back without its citations, and that is told."""
    cited = text("b", citations=[{"start": 0, "end": 1, "format": THOUGHT, "data": {"text": "b"}}])
    history = [user("a"), assistant(cited), user("c")]
    assert {"role": "assistant", "content": "b"} == written(*history)[1]
    assert [("dropped", "messages[1].content[0].citations")] == notes(WIRE, history)


def test_a_plan_alone_is_no_message() -> None:
    """A turn of only a plan has nothing to send, and that is told."""
    history = [user("a"), assistant(reasoning("go", PLAN)), user("b")]
    assert [user("a"), user("b")] == written(*history)
    assert [("dropped", "messages[1]")] == notes(WIRE, history)


def test_an_answer_cannot_be_begun() -> None:
    """A last message of the assistant's is sent, and what becomes of it is told."""
    history = [user("a"), assistant("b")]
    assert {"role": "assistant", "content": "b"} == written(*history)[-1]
    assert [("will_be_refused", "messages[-1]")] == notes(WIRE, history)


def test_nothing_to_send() -> None:
    """A request needs a message."""
    with pytest.raises(InvalidDataError, match="nothing of them can be sent"):
        written(user(""), repair=True)


def test_plain_options() -> None:
    """Sampling and limits go under Cohere's names; what only Cohere knows is put in as it is."""
    expected = {
        "model": "m", "max_tokens": 9, "temperature": 0.5, "p": 0.9, "k": 40, "presence_penalty": 0.1,
        "frequency_penalty": 0.2, "stop_sequences": ["x"], "seed": 7, "stream": True, "safety_mode": "STRICT",
    }  # fmt: skip
    assert expected == asked(
        model="m", max_output_tokens=9, temperature=0.5, top_p=0.9, top_k=40, presence_penalty=0.1,
        frequency_penalty=0.2, stop="x", seed=7, stream=True, extra={"safety_mode": "STRICT"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "options", "what"),
    [
        pytest.param({"p": 0.99}, {"top_p": 1}, "top_p", id="p too high"),
        pytest.param({"p": 0.01}, {"top_p": 0}, "top_p", id="p too low"),
        pytest.param({"k": 500}, {"top_k": 501}, "top_k", id="k"),
        pytest.param({"presence_penalty": 0}, {"presence_penalty": -1}, "presence_penalty", id="presence"),
        pytest.param({"frequency_penalty": 1}, {"frequency_penalty": 2}, "frequency_penalty", id="frequency"),
        pytest.param({"stop_sequences": list("abcde")}, {"stop": list("abcdef")}, "stop", id="stop"),
    ],
)
def test_limits(expected: Any, options: Any, what: str) -> None:
    """What is beyond a limit is cut to it, and that is told."""
    assert expected == asked(**options)
    assert [("clamped", what)] == noted(**options)


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        pytest.param({}, {}, id="free"),
        pytest.param({}, {"tool_choice": "auto"}, id="auto is nothing"),
        pytest.param({"tool_choice": "REQUIRED"}, {"tool_choice": "required"}, id="required"),
        pytest.param({"tool_choice": "NONE"}, {"tool_choice": "none"}, id="none"),
    ],
)
def test_tool_choice(expected: Any, options: Any) -> None:
    """The choice is REQUIRED, NONE, or not there."""
    assert {"tools": [FIND, SENT], **expected} == asked(tools=[{"name": "find"}, LOOK], **options)


def test_named_tool_is_sent_alone() -> None:
    """A tool that is named is the only one sent, and one must be called."""
    options = {"tools": [{"name": "find"}, LOOK], "tool_choice": "look"}
    assert {"tools": [SENT], "tool_choice": "REQUIRED"} == asked(**options)
    assert [("demoted", "tool_choice")] == noted(**options)
    with pytest.raises(InvalidDataError, match="no tool is named 'see'"):
        asked(tools=[LOOK], tool_choice="see")


@pytest.mark.parametrize(
    ("expected", "told", "strict"),
    [
        pytest.param({"strict_tools": True}, [], (True, True), id="all"),
        pytest.param({}, [("dropped", "tools.strict")], (True, None), id="some"),
        pytest.param({}, [], (False, None), id="none"),
    ],
)
def test_strict_tools(expected: Any, told: Any, strict: tuple[bool | None, bool | None]) -> None:
    """Strictness is for all tools or for none."""
    tools = [{**LOOK, "name": name, "strict": one} for name, one in zip("ab", strict, strict=True)]
    made = asked(tools=tools)
    assert expected == {name: value for name, value in made.items() if name != "tools"}
    assert told == noted(tools=tools)


@pytest.mark.parametrize(
    ("expected", "told", "schema"),
    [
        pytest.param(SCHEMA, [], SCHEMA, id="as it is"),
        pytest.param(
            {**SCHEMA, "properties": {"a": {"type": "string"}, "minimum": {"type": "array"}}},
            [("dropped", "output.properties.a.format"), ("dropped", "output.properties.minimum.maxItems")],
            {
                **SCHEMA,
                "properties": {
                    "a": {"type": "string", "format": "email"},
                    "minimum": {"type": "array", "maxItems": 2},
                },
            },
            id="limits are left out",
        ),
        pytest.param(
            {**SCHEMA, "properties": {"a": {"type": "string", "format": "date", "enum": ["minimum"]}}},
            [],
            {**SCHEMA, "properties": {"a": {"type": "string", "format": "date", "enum": ["minimum"]}}},
            id="known format",
        ),
        pytest.param(
            {**SCHEMA, "required": ["a"]},
            [("added", "output.required")],
            {name: value for name, value in SCHEMA.items() if name != "required"},
            id="something is required",
        ),
        pytest.param(
            {"type": "object"}, [("will_be_refused", "output")], {"type": "object"}, id="nothing to require"
        ),
        pytest.param({"type": "string"}, [("will_be_refused", "output")], {"type": "string"}, id="no object"),
        pytest.param(
            {**SCHEMA, "not": {"required": ["b"]}},
            [("will_be_refused", "output.not")],
            {**SCHEMA, "not": {"required": ["b"]}},
            id="what cannot be said",
        ),
    ],
)
def test_schema(expected: Any, told: Any, schema: Any) -> None:
    """A schema goes with the JSON mode, without what Cohere does not know."""
    made = asked(output=schema)
    assert {"response_format": {"type": "json_object", "json_schema": expected}} == made
    assert told == noted(output=schema)


def test_json_mode_wants_words() -> None:
    """Where no message asks for JSON the model might write on without end: it is told."""
    body = cohere(user("hi"), output="json")
    words = "Answer with JSON alone."
    assert [system(words), user("hi")] == body["messages"]
    assert {"type": "json_object"} == body["response_format"]
    assert [("added", "output")] == noted(output="json")
    assert [user("as JSON")] == written(user("as JSON"), output="json")


@pytest.mark.parametrize("options", [{"tools": [LOOK]}, {"extra": {"documents": ["a"]}}], ids=str)
def test_json_beside_tools_is_asked_in_words(options: Any) -> None:
    """`response_format` is refused beside tools and documents."""
    body = cohere(system("Be brief."), user("hi"), output=SCHEMA, **options)
    assert "response_format" not in body
    assert body["messages"][0]["content"].startswith("Be brief.\n\nAnswer with JSON alone that keeps to")
    assert [("demoted", "output"), ("added", "output")] == noted(output=SCHEMA, **options)


@pytest.mark.parametrize(
    ("expected", "told", "wanted"),
    [
        pytest.param({"type": "enabled"}, [], True, id="on"),
        pytest.param({"type": "disabled"}, [], False, id="off"),
        pytest.param({"type": "disabled"}, [], "none", id="no effort"),
        pytest.param({"type": "disabled"}, [], {"budget_tokens": 0}, id="no budget"),
        pytest.param({"type": "enabled", "token_budget": 99}, [], {"budget_tokens": 99}, id="budget"),
        pytest.param({"type": "enabled"}, [("demoted", "reasoning.effort")], "high", id="effort"),
        pytest.param(
            {"type": "enabled"},
            [("dropped", "reasoning.summary")],
            {"enabled": True, "summary": "auto"},
            id="summary",
        ),
    ],
)
def test_thinking(expected: Any, told: Any, wanted: Any) -> None:
    """Thinking is on, off, or has a budget."""
    assert {"thinking": expected} == asked(reasoning=wanted)
    assert told == noted(reasoning=wanted)


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        pytest.param([("dropped", "tool_choice")], {"tool_choice": "required"}, id="choice without tools"),
        pytest.param(
            [("will_be_refused", "tool_choice")],
            {"tools": [LOOK], "tool_choice": "none", "model": "command-r-plus-08-2024"},
            id="model that takes no choice",
        ),
        pytest.param(
            [], {"tools": [LOOK], "tool_choice": "none", "model": "command-r7b-12-2024"}, id="model that does"
        ),
        pytest.param(
            [("dropped", "parallel_tool_calls")],
            {"tools": [LOOK], "parallel_tool_calls": True},
            id="parallel",
        ),
        pytest.param([("renamed", "tools[0].name")], {"tools": [{**LOOK, "name": "l k"}]}, id="name"),
        pytest.param(
            [("dropped", "output.description"), ("dropped", "output.strict")],
            {"output": {"json_schema": SCHEMA, "description": "d", "strict": False}},
            id="what a schema is beside",
        ),
        pytest.param([("dropped", "web_search")], {"web_search": True}, id="search"),
        pytest.param([("dropped", "prompt_cache")], {"prompt_cache": True}, id="cache"),
        pytest.param([], {"stream": True, "include_usage": True}, id="usage is always there"),
        pytest.param(
            [("dropped", "metadata"), ("dropped", "service_tier"), ("dropped", "user")],
            {"user": "u", "metadata": {"a": "b"}, "service_tier": "flex"},
            id="labels",
        ),
    ],
)
def test_notes_on_options(expected: Any, options: Any) -> None:
    """What has no place is told."""
    assert expected == noted(**options)
