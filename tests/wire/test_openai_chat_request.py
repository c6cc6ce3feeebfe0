"""Requests of Chat Completions: messages and options as OpenAI takes them."""

from __future__ import annotations

from typing import Any

import pytest
from chat_requests import (
    PNG,
    assistant,
    call,
    chat,
    file,
    image,
    notes,
    reasoning,
    result,
    system,
    text,
    user,
)

import plait
from plait.errors import InvalidDataError, UnknownWireError

LOOK = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
CALLED = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at":  1}'}}


def written(*messages: Any, dialect: str | None = "openai", **options: Any) -> Any:
    return chat(list(messages), dialect, **options)["messages"]


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
        pytest.param(
            [{"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}],
            [file("UklGRg==", "audio/x-wav")],
            id="sound",
        ),
        pytest.param(
            [
                {
                    "type": "file",
                    "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
                }
            ],
            [file("JVBERg==", "application/pdf", filename="a.pdf")],
            id="file",
        ),
        pytest.param(
            [
                {
                    "type": "file",
                    "file": {"filename": "file.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
                }
            ],
            [file("JVBERg==", "application/pdf")],
            id="file without a name gets one",
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
        pytest.param(file("https://example.com/a.pdf", "application/pdf"), r"resolve\(\)", id="file by URL"),
        pytest.param(file("https://example.com/a.wav", "audio/wav"), r"resolve\(\)", id="sound by URL"),
        pytest.param(file("AAAA", "video/mp4"), "does not take video/mp4", id="video"),
        pytest.param(file("AAAA", "audio/ogg"), "wav, mp3", id="sound of another format"),
        pytest.param(
            {"type": "image", "image": {"type": "data", "data": "AAAA"}},
            "give `media_type`",
            id="of no known type",
        ),
    ],
)
def test_refused_content(part: Any, why: str) -> None:
    """What OpenAI does not take is an error that names the part and says what to do."""
    with pytest.raises(InvalidDataError, match=rf"messages\[0\]\.content\[1\]: .*{why}"):
        written(user(text("see"), part))


def test_text_file_is_noted() -> None:
    """A text file that is sent as text is told."""
    assert [("demoted", "messages[0].content[0]")] == notes(
        "openai-chat", [user([file("YQ==", "text/plain")])]
    )


def test_assistant_text_and_calls() -> None:
    """A turn's texts are one string, its calls stand beside it with their arguments' text as it came."""
    expected = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "Let me look.", "tool_calls": [CALLED]},
        {"role": "tool", "tool_call_id": "call_1", "content": "done"},
    ]
    assert expected == written(user("go"), assistant("Let me ", "look.", call()), result())


def test_calls_without_text() -> None:
    """Without text the content is null, never an empty text, which some gateways refuse."""
    assert written(user("go"), assistant("", call()), result())[1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALLED],
    }


def test_provider_id_goes_on_the_wire() -> None:
    """Where the provider gave a call an id, that one is sent, with the call and with its result."""
    made = written(user("go"), assistant(call("item_1", call_id="call_9")), result(id="item_1"))
    assert ["call_9", "call_9"] == [made[1]["tool_calls"][0]["id"], made[2]["tool_call_id"]]


def test_long_id_is_replaced() -> None:
    """OpenAI refuses ids of more than 40 characters: call and result get the same other one."""
    made = written(user("go"), assistant(call("x" * 41)), result(id="x" * 41))
    id_ = made[1]["tool_calls"][0]["id"]
    assert id_ == made[2]["tool_call_id"]
    assert len(id_) <= 40


def test_long_id_stays_where_nothing_limits_it() -> None:
    """Gateways hide signatures in ids of any length: without a dialect an id is sent as it is."""
    made = written(user("go"), assistant(call("x" * 600)), result(id="x" * 600), dialect=None)
    assert "x" * 600 == made[1]["tool_calls"][0]["id"]


def test_custom_call() -> None:
    """A custom tool's call is sent as its text."""
    made = written(user("go"), assistant(call(arguments='"SELECT 1"', kind="custom")), result())
    assert made[1]["tool_calls"] == [
        {"id": "call_1", "type": "custom", "custom": {"name": "look", "input": "SELECT 1"}}
    ]


def test_cut_arguments_are_wrapped() -> None:
    """Arguments that are not JSON are wrapped, so that the history is not refused for ever."""
    made = written(user("go"), assistant(call(arguments='{"cmd":"ls')), result())
    assert '{"raw": "{\\"cmd\\":\\"ls"}' == made[1]["tool_calls"][0]["function"]["arguments"]


def test_refusal() -> None:
    """A refusal goes back as one."""
    assert written(user("go"), assistant(text("No.", refusal=True)), user("why"))[1] == {
        "role": "assistant",
        "content": None,
        "refusal": "No.",
    }


def test_spoken_answer() -> None:
    """A spoken answer goes back by its id: neither the transcript nor the sound is sent again."""
    spoken = text("Hello.", extra={"audio_id": "audio_1"}, format="openai-chat")
    sound = file("UklGRg==", "audio/wav")
    assert written(user("go"), assistant(spoken, sound), user("and"))[1] == {
        "role": "assistant",
        "audio": {"id": "audio_1"},
    }


def test_answer_of_nothing_that_can_be_sent() -> None:
    """An assistant turn of which nothing can be sent is left out, with notes."""
    messages = [user("go"), assistant(image()), user("and")]
    assert ["user", "user"] == [message["role"] for message in written(*messages)]
    assert ("dropped", "messages[1]") in notes("openai-chat", messages)


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        pytest.param('{"a":1}', {"type": "json", "value": {"a": 1}}, id="JSON"),
        pytest.param("Error: boom", {"type": "error-text", "value": "boom"}, id="error"),
        pytest.param("error 5", {"type": "error-text", "value": "error 5"}, id="error that says so"),
        pytest.param('{"error":{"code":5}}', {"type": "error-json", "value": {"code": 5}}, id="JSON error"),
        pytest.param(
            "The call was not allowed to run: no", {"type": "execution-denied", "value": "no"}, id="denied"
        ),
        pytest.param("a\nb", {"type": "content", "value": [text("a"), text("b")]}, id="texts"),
        pytest.param("", {"type": "content", "value": []}, id="nothing"),
    ],
)
def test_result(expected: str, output: Any) -> None:
    """Every output is one tool message with a text; a failure says that it is one."""
    made = written(user("go"), assistant(call()), result(output))
    assert {"role": "tool", "tool_call_id": "call_1", "content": expected} == made[2]


def test_images_of_a_result_follow_as_the_users() -> None:
    """OpenAI takes no images in results: they follow in a user message that says whose they are."""
    output = {"type": "content", "value": [text("see"), image()]}
    made = written(user("go"), assistant(call()), result(output))
    assert {"role": "tool", "tool_call_id": "call_1", "content": "see"} == made[2]
    assert made[3] == {
        "role": "user",
        "content": [
            {"type": "text", "text": "Result of tool call call_1 (look):"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        ],
    }


def test_system_text_stays_where_it_is() -> None:
    """System text is `system`, also between turns."""
    made = written(system("a"), user("go"), system("b"))
    assert [("system", "a"), ("user", "go"), ("system", "b")] == [
        (one["role"], one["content"]) for one in made
    ]


def test_options() -> None:
    """Every plain option under its field's name; what was not set is not there."""
    expected = {
        "model": "m",
        "max_completion_tokens": 9,
        "temperature": 0.0,
        "top_p": 0.5,
        "stop": ["x"],
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "seed": 3,
        "metadata": {"a": "b"},
        "store": False,
        "service_tier": "flex",
        "verbosity": "low",
        "safety_identifier": "u",
        "reasoning_effort": "low",
    }
    body = chat(
        [user("go")], "openai", model="m", max_output_tokens=9, temperature=0.0, top_p=0.5, stop="x",
        presence_penalty=0.1, frequency_penalty=0.2, seed=3, metadata={"a": "b"}, store=False,
        service_tier="flex", verbosity="low", user="u", reasoning="low",
    )  # fmt: skip
    body.pop("messages")
    assert expected == body


def test_options_that_are_not_there() -> None:
    """An option without a field is dropped with a note."""
    assert [("dropped", "top_k"), ("dropped", "previous_response_id")] == notes(
        "openai-chat", [user("go")], top_k=3, previous_response_id="r"
    )


def test_too_many_stop_texts() -> None:
    """OpenAI takes four."""
    assert list("abcd") == chat([user("go")], "openai", stop=list("abcde"))["stop"]
    assert [("clamped", "stop")] == notes("openai-chat", [user("go")], stop=list("abcde"))


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        pytest.param(
            {"stream": True, "stream_options": {"include_usage": True}}, {"stream": True}, id="stream"
        ),
        pytest.param({"stream": True}, {"stream": True, "include_usage": False}, id="without usage"),
        pytest.param({}, {"include_usage": True}, id="usage is never asked for outside of a stream"),
    ],
)
def test_stream(expected: Any, options: Any) -> None:
    """A stream asks for usage, unless told not to; a whole body has it anyway."""
    body = chat([user("go")], "openai", **options)
    body.pop("messages")
    assert expected == body


def test_tools() -> None:
    """Tools are nested under `function`; the other options of tools go with them only."""
    body = chat([user("go")], "openai", tools=[LOOK], tool_choice="look", parallel_tool_calls=False)
    assert body["tools"] == [{"type": "function", "function": LOOK}]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "look"}}
    assert body["parallel_tool_calls"] is False


def test_options_of_tools_without_tools() -> None:
    """They are refused without tools, so they are dropped."""
    assert [("dropped", "tool_choice"), ("dropped", "parallel_tool_calls")] == notes(
        "openai-chat", [user("go")], tool_choice="required", parallel_tool_calls=True
    )


def test_choice_of_no_tool() -> None:
    """A choice of a tool that is not among the tools is an error."""
    with pytest.raises(InvalidDataError, match="tool_choice: no tool is named 'hear'"):
        chat([user("go")], tools=[LOOK], tool_choice="hear")


def test_custom_tool() -> None:
    """A custom tool, with the grammar that is flat in Responses nested."""
    tool = {
        "name": "sql",
        "kind": "custom",
        "format": {"type": "grammar", "syntax": "regex", "definition": "S.*"},
    }
    body = chat([user("go")], "openai", tools=[tool], tool_choice="sql")
    assert body["tools"] == [
        {
            "type": "custom",
            "custom": {
                "name": "sql",
                "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "S.*"}},
            },
        }
    ]
    assert body["tool_choice"] == {"type": "custom", "custom": {"name": "sql"}}


def test_tool_names_are_the_same_everywhere() -> None:
    """A name that is refused is replaced alike in the definition, the choice and the calls."""
    messages = [user("go"), assistant(call(name="a.b")), result(name="a.b")]
    body = chat(messages, "openai", tools=[{"name": "a.b"}], tool_choice="a.b")
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == "a_b"
    assert body["tools"][0]["function"]["name"] == "a_b"
    assert body["tool_choice"]["function"]["name"] == "a_b"


def test_strict_output() -> None:
    """A strict schema is closed, with every property required, and what changed is told."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    body = chat([user("go")], "openai", output=schema)
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "output",
            "schema": {**schema, "required": ["a"], "additionalProperties": False},
            "strict": True,
        },
    }
    assert [("added", "output.properties.a")] == notes("openai-chat", [user("go")], output=schema)


def test_output_that_cannot_be_strict() -> None:
    """A schema that the strict subset cannot say is sent as it is, not strict, and that is told."""
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    made = chat([user("go")], "openai", output=schema)["response_format"]["json_schema"]
    assert made == {"name": "output", "schema": schema, "strict": False}
    assert [("demoted", "output")] == notes("openai-chat", [user("go")], output=schema)


@pytest.mark.parametrize(
    ("expected", "messages"),
    [
        pytest.param(
            [{"role": "system", "content": "Answer with JSON alone."}, {"role": "user", "content": "go"}],
            [user("go")],
            id="said where no message says JSON",
        ),
        pytest.param([{"role": "user", "content": "as json"}], [user("as json")], id="said already"),
    ],
)
def test_any_json(expected: Any, messages: Any) -> None:
    """JSON mode is refused where no message says JSON."""
    body = chat(messages, "openai", output="json")
    assert {"messages": expected, "response_format": {"type": "json_object"}} == body


def test_prompt_cache() -> None:
    """OpenAI caches by itself; a key and a time can be chosen."""
    assert "prompt_cache_key" not in chat([user("go")], "openai", prompt_cache=True)
    body = chat([user("go")], "openai", prompt_cache={"key": "k", "ttl": "30m"})
    assert {"prompt_cache_key": "k", "prompt_cache_options": {"ttl": "30m"}}.items() <= body.items()
    assert [("dropped", "prompt_cache.ttl")] == notes("openai-chat", [user("go")], prompt_cache={"ttl": "5m"})


def test_web_search() -> None:
    """The search models' own option; what it cannot say is told."""
    search = {
        "context_size": "low",
        "user_location": {"city": "Utrecht", "country": "NL"},
        "blocked_domains": ["example.com"],
    }
    options: Any = {"model": "gpt-4o-search-preview", "web_search": search}
    assert chat([user("go")], "openai", **options)["web_search_options"] == {
        "search_context_size": "low",
        "user_location": {"type": "approximate", "approximate": {"city": "Utrecht", "country": "NL"}},
    }
    assert [("dropped", "web_search.blocked_domains")] == notes("openai-chat", [user("go")], **options)


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        pytest.param(["temperature"], {"model": "o3", "temperature": 1.0}, id="o3"),
        pytest.param([], {"model": "gpt-4o", "temperature": 1.0}, id="gpt-4o"),
        pytest.param(["top_p"], {"model": "gpt-5-mini", "top_p": 0.1}, id="gpt-5"),
        pytest.param([], {"model": "gpt-5.2", "top_p": 0.1}, id="gpt-5.2 does not reason unasked"),
        pytest.param(
            ["top_p"], {"model": "gpt-5.2", "top_p": 0.1, "reasoning": "low"}, id="gpt-5.2 asked to"
        ),
        pytest.param(["tools"], {"model": "gpt-5.6", "tools": [LOOK]}, id="gpt-5.6 with tools"),
        pytest.param([], {"model": "gpt-5.6", "tools": [LOOK], "reasoning": "none"}, id="gpt-5.6 off"),
        pytest.param(["web_search"], {"model": "gpt-4o", "web_search": True}, id="search"),
        pytest.param(["system"], {"model": "o1-mini"}, id="o1-mini"),
    ],
)
def test_what_a_model_refuses(expected: list[str], options: Any) -> None:
    """It is sent all the same, with a note: only the provider knows its models."""
    plan = plait.plan_request("openai-chat", [system("s"), user("go")], **options)
    assert expected == [note.what for note in plan.notes if note.kind == "will_be_refused"]


def test_reasoning_is_not_openais() -> None:
    """OpenAI takes no reasoning back on this wire; what is left out is told."""
    messages = [user("go"), assistant(reasoning("hm", "reasoning_content"), "ok"), user("and")]
    assert {"role": "assistant", "content": "ok"} == written(*messages)[1]
    assert [("dropped", "messages[1].content[0].details[0]")] == notes(
        "openai-chat", messages, dialect="openai"
    )


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_unknown_server_gets_its_reasoning_back(field: str) -> None:
    """Without a dialect what came in a field of this wire goes back in that field; other formats never."""
    messages = [
        user("go"),
        assistant(
            reasoning("hm", field), reasoning("no", "anthropic-claude-v1"), reasoning("no", None), "ok"
        ),
        user("and"),
    ]
    assert {"role": "assistant", "content": "ok", field: "hm"} == written(*messages, dialect=None)[1]


def test_unknown_dialect() -> None:
    """A dialect that does not exist is an error that lists those there are."""
    with pytest.raises(UnknownWireError, match="no dialect 'opanai'; its dialects are openai, azure"):
        chat([user("go")], "opanai")
