"""Requests of Chat Completions to other servers: what each takes otherwise."""

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
from openai.types.chat.completion_create_params import CompletionCreateParamsBase

import plait
from plait.errors import InvalidDataError
from plait.wire import dialects
from plait.wire.openai_chat.dialects import DIALECTS

LOOK = {"name": "look"}
GO = [user("go")]
CALLED = [user("go"), assistant(call()), result()]


def fields(dialect: str, messages: Any = GO, **options: Any) -> Any:
    body = chat(messages, dialect, **options)
    del body["messages"]
    return body


def test_every_dialect_of_the_parser_has_a_row() -> None:
    """The registry's dialects are the rows, and a response can be read with each."""
    assert list(DIALECTS) == list(dialects("openai-chat"))
    for name in DIALECTS:
        assert (
            plait.read_response(
                "openai-chat",
                {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]},
                dialect=name,
            ).text
            == "hi"
        )


@pytest.mark.parametrize("dialect", [None, *DIALECTS])
def test_any_history_is_a_request(dialect: str | None) -> None:
    """A history of all roles, and all common options, make a body of the SDK's types for every server."""
    messages = [system("s"), *CALLED, assistant(reasoning("hm", "reasoning"), "ok"), user("and")]
    body = chat(
        messages, dialect, model="m", stream=True, tools=[LOOK], tool_choice="required", reasoning="high",
        output={"type": "object", "properties": {}}, max_output_tokens=9, stop="x", web_search=True,
        prompt_cache=True,
    )  # fmt: skip
    assert body["messages"][0]["content"]
    assert None not in body.values()


@pytest.mark.parametrize(
    ("expected", "dialect"),
    [
        ("max_completion_tokens", "openai"),
        ("max_completion_tokens", "groq"),
        ("max_tokens", "deepseek"),
        ("max_tokens", "ollama"),
    ],
)
def test_limit(expected: str, dialect: str) -> None:
    """The limit's name."""
    assert {expected: 9} == fields(dialect, max_output_tokens=9)


@pytest.mark.parametrize(
    ("expected", "dialect", "wanted"),
    [
        pytest.param({"reasoning": {"effort": "high"}}, "openrouter", "high", id="openrouter effort"),
        pytest.param(
            {"reasoning": {"max_tokens": 9, "enabled": True}},
            "openrouter",
            {"budget_tokens": 9},
            id="or budget",
        ),
        pytest.param({"reasoning": {"enabled": False}}, "openrouter", False, id="openrouter off"),
        pytest.param({"thinking": {"type": "disabled"}}, "deepseek", False, id="deepseek off"),
        pytest.param({"thinking": {"type": "enabled"}}, "moonshot", "low", id="moonshot has no efforts"),
        pytest.param({"enable_thinking": False}, "alibaba", "none", id="alibaba off"),
        pytest.param(
            {"enable_thinking": True, "thinking_budget": 9},
            "alibaba",
            {"budget_tokens": 9},
            id="alibaba budget",
        ),
        pytest.param({"reasoning_effort": "none"}, "groq", False, id="groq off"),
        pytest.param({"reasoning_effort": "high"}, "groq", "max", id="groq has no max"),
        pytest.param({"reasoning_effort": "low"}, "xai", "minimal", id="xai has no minimal"),
        pytest.param({}, "xai", "none", id="xai cannot be turned off"),
        pytest.param({"chat_template_kwargs": {"enable_thinking": False}}, "vllm", False, id="vllm off"),
        pytest.param(
            {"extra_body": {"google": {"thinking_config": {"thinking_budget": 9}}}},
            "google",
            {"budget_tokens": 9, "effort": "low"},
            id="google takes one of the two",
        ),
        pytest.param(
            {"thinking": {"type": "enabled", "budget_tokens": 2048}},
            "fireworks",
            {"budget_tokens": 2048},
            id="fw",
        ),
    ],
)
def test_reasoning_is_asked_for(expected: Any, dialect: str, wanted: Any) -> None:
    """Each server's own fields; what cannot be said is told."""
    body = fields(dialect, reasoning=wanted)
    body.pop("context_length_exceeded_behavior", None)
    assert expected == body


@pytest.mark.parametrize(
    ("expected", "dialect", "wanted"),
    [
        pytest.param(("dropped", "reasoning.budget_tokens"), "openai", {"budget_tokens": 9}, id="no budget"),
        pytest.param(("clamped", "reasoning.effort"), "xai", "minimal", id="nearest effort"),
        pytest.param(("dropped", "reasoning"), "xai", False, id="not turned off"),
        pytest.param(("demoted", "reasoning.effort"), "alibaba", "low", id="no efforts"),
        pytest.param(
            ("dropped", "reasoning.effort"), "google", {"effort": "low", "budget_tokens": 9}, id="both"
        ),
        pytest.param(("dropped", "reasoning.summary"), "groq", {"summary": "auto"}, id="summary"),
        pytest.param(("dropped", "reasoning.enabled"), "openai", True, id="no switch"),
    ],
)
def test_reasoning_that_cannot_be_asked_for(expected: Any, dialect: str, wanted: Any) -> None:
    """Nothing is lost without a note."""
    assert [expected] == notes("openai-chat", GO, dialect=dialect, reasoning=wanted)


@pytest.mark.parametrize(
    ("expected", "dialect", "format"),
    [
        ({"reasoning_content": "hm"}, "deepseek", "reasoning_content"),
        ({"reasoning_content": "hm"}, "moonshot", "reasoning_content"),
        ({"reasoning_content": "hm"}, "fireworks", "reasoning_content"),
        ({"reasoning_content": "hm"}, "llamacpp", "reasoning_content"),
        ({"reasoning": "hm"}, "groq", "reasoning"),
        ({"reasoning": "hm"}, "cerebras", "reasoning"),
        ({"reasoning": "hm"}, "vllm", "reasoning"),
        ({"reasoning_content": "hm"}, "vllm", "reasoning_content"),
        ({"reasoning": "hm"}, "openrouter", "reasoning"),
        ({}, "groq", "reasoning_content"),
        ({}, "openai", "reasoning"),
        ({}, "huggingface", "reasoning_content"),
        ({}, "perplexity", "reasoning"),
    ],
)
def test_reasoning_goes_back(expected: Any, dialect: str, format: str) -> None:
    """In the field it came in, to servers that take that; to others never."""
    messages = [user("go"), assistant(reasoning("h", format), reasoning("m", format), "ok"), user("and")]
    made = chat(messages, dialect)["messages"][1]
    assert {"role": "assistant", "content": "ok", **expected} == made


@pytest.mark.parametrize("dialect", ["deepseek", "moonshot"])
def test_turn_with_calls_always_has_the_field(dialect: str) -> None:
    """A turn with calls whose reasoning is another's, or was never seen, carries an empty one: else 400."""
    assert chat(CALLED, dialect)["messages"][1]["reasoning_content"] == ""
    assert [("added", "messages[1].reasoning_content")] == notes("openai-chat", CALLED, dialect=dialect)
    assert "reasoning_content" not in chat(CALLED, dialect, reasoning=False)["messages"][1]


def test_zai_reads_the_reasoning_it_is_sent() -> None:
    """It is told not to clear it, beside what else is asked of its thinking."""
    messages = [user("go"), assistant(reasoning("hm", "reasoning_content"), "ok"), user("and")]
    body = fields("zai", messages, reasoning=True)
    assert {"thinking": {"type": "enabled", "clear_thinking": False}} == body
    assert "thinking" not in fields("zai", GO)


def test_openrouter_details_go_back_in_order() -> None:
    """Entries are made again field by field, others between them as they were."""
    details = [
        {
            "type": "reasoning.text",
            "text": "a",
            "signature": "s1",
            "format": "anthropic-claude-v1",
            "index": 0,
        },
        {"type": "reasoning.server_tool_call", "tool_name": "web", "tool_call_id": "t"},
        {"type": "reasoning.summary", "summary": "b", "format": "openai-responses-v1", "index": 1},
        {
            "type": "reasoning.encrypted",
            "data": "c",
            "id": "rs_1",
            "format": "openai-responses-v1",
            "index": 1,
        },
    ]
    message = {"role": "assistant", "content": "ok", "reasoning": "a", "reasoning_details": details}
    read = plait.read_response("openai-chat", {"choices": [{"message": message, "finish_reason": "stop"}]})
    made = chat([user("go"), read, user("and")], "openrouter")["messages"][1]
    assert {"role": "assistant", "content": "ok", "reasoning_details": details} == made


@pytest.mark.parametrize(
    ("expected", "model"),
    [
        pytest.param(True, "anthropic/claude-x", id="the same vendor's"),
        pytest.param(False, "google/gemini-x", id="another vendor's"),
        pytest.param(True, "z-ai/glm", id="one whose entries are not known"),
        pytest.param(True, None, id="no model"),
    ],
)
def test_openrouter_details_of_another_vendor_stay_here(expected: bool, model: str | None) -> None:
    """A vendor refuses the sealed reasoning of another one."""
    part = reasoning("a", "openrouter:anthropic-claude-v1#0", signature="s")
    made = chat([user("go"), assistant(part, "ok"), user("and")], "openrouter", model=model)
    assert expected == ("reasoning_details" in made["messages"][1])


def test_google_signatures() -> None:
    """`extra_content` goes back on the call, or message, it came with; other servers never see it."""
    on_call = {"extra_content": {"google": {"thought_signature": "S"}}}
    messages = [user("go"), assistant(call(extra=on_call, format="openai-chat")), result()]
    assert (
        chat(messages, "google")["messages"][1]["tool_calls"][0]["extra_content"] == on_call["extra_content"]
    )
    assert "extra_content" not in chat(messages, "groq")["messages"][1]["tool_calls"][0]
    assert [("dropped", "messages[1].content[0].extra")] == notes("openai-chat", messages, dialect="groq")
    on_text = assistant(text("ok", extra=on_call, format="openai-chat"))
    made = chat([user("go"), on_text, user("and")], "google")["messages"][1]
    assert {"role": "assistant", "content": "ok", **on_call} == made


@pytest.mark.parametrize("dialect", ["vllm", "llamacpp", "lmstudio", "perplexity"])
def test_strict_roles(dialect: str) -> None:
    """One system message, at the start; then the user and the assistant in turn."""
    messages = [system("a"), system("b"), user("go"), assistant("x"), assistant("y"), user("c"), system("d")]
    assert chat(messages, dialect)["messages"] == [
        {"role": "system", "content": "a\n\nb"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "xy"},
        {"role": "user", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]},
    ]


def test_several_system_messages() -> None:
    """They stay as they are where that is taken."""
    made = chat([system("a"), system("b"), user("go")], "deepseek")["messages"]
    assert ["a", "b", "go"] == [message["content"] for message in made]


def test_text_only_servers_get_bare_strings() -> None:
    """Several texts are one string, where lists are not understood."""
    assert chat([user(text("a"), text("b"))], "deepseek")["messages"][0]["content"] == "a\n\nb"


@pytest.mark.parametrize(
    ("dialect", "part", "why"),
    [
        pytest.param("deepseek", image(), "takes text;", id="deepseek takes text"),
        pytest.param("ollama", image("https://example.com/a.png"), r"resolve\(\)", id="ollama takes no URLs"),
        pytest.param(
            "alibaba", file("JVBERg==", "application/pdf"), "images, sound", id="alibaba takes no files"
        ),
        pytest.param(
            "together", file("SUQz", "audio/mpeg"), r"sound \(wav, as data\)", id="together takes wav"
        ),
    ],
)
def test_refused_kinds(dialect: str, part: Any, why: str) -> None:
    """A kind that a server does not take is an error that says what it takes."""
    with pytest.raises(InvalidDataError, match=rf"messages\[0\]\.content\[0\]: .*{why}"):
        chat([user([part])], dialect)


@pytest.mark.parametrize(
    ("expected", "dialect", "part"),
    [
        pytest.param(
            {"type": "file", "file": {"file_data": "https://example.com/a.pdf"}},
            "openrouter",
            file("https://example.com/a.pdf", "application/pdf"),
            id="openrouter takes files by URL",
        ),
        pytest.param(
            {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AAAA"}},
            "openrouter",
            file("AAAA", "video/mp4"),
            id="video",
        ),
        pytest.param(
            {"type": "file_url", "file_url": {"url": "JVBERg=="}, "file_name": "a.pdf"},
            "perplexity",
            file("JVBERg==", "application/pdf", filename="a.pdf"),
            id="perplexity takes bare base64",
        ),
    ],
)
def test_kinds(expected: Any, dialect: str, part: Any) -> None:
    """Kinds of parts that OpenAI does not have."""
    body = plait.build_request("openai-chat", [user([part])], dialect=dialect)
    assert [expected] == body["messages"][0]["content"]


def test_images_in_results() -> None:
    """OpenRouter takes them where they are."""
    output = {"type": "content", "value": [text("see"), image()]}
    body = plait.build_request(
        "openai-chat", [user("go"), assistant(call()), result(output)], dialect="openrouter"
    )
    assert body["messages"][2]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    ]


@pytest.mark.parametrize(
    ("expected", "dialect", "options"),
    [
        pytest.param({"include_usage": True}, "vllm", {}, id="asked for"),
        pytest.param(None, "groq", {}, id="given anyway"),
        pytest.param({"include_usage": True}, "groq", {"include_usage": True}, id="given, and asked for"),
        pytest.param(None, "perplexity", {"include_usage": True}, id="may not be asked for"),
    ],
)
def test_usage_of_streams(expected: Any, dialect: str, options: Any) -> None:
    """`stream_options` only where it is needed or wanted, and taken."""
    assert expected == fields(dialect, stream=True, **options).get("stream_options")


@pytest.mark.parametrize(
    ("expected", "dialect", "choice"),
    [
        pytest.param({"tools": True, "tool_choice": "auto"}, "zai", "auto", id="auto"),
        pytest.param({"tools": True}, "zai", "required", id="cannot be required"),
        pytest.param({}, "zai", "none", id="none: without tools"),
        pytest.param({"tools": True}, "ollama", "auto", id="auto is the default"),
        pytest.param({}, "perplexity", "auto", id="no tools at all"),
    ],
)
def test_tool_choice(expected: Any, dialect: str, choice: str) -> None:
    """Choices that a server does not know are left out; `none` then means no tools."""
    body = fields(dialect, tools=[LOOK], tool_choice=choice)
    assert expected == {name: True if name == "tools" else value for name, value in body.items()}


def test_custom_tools_become_functions() -> None:
    """A custom tool is a function with one text elsewhere, and so are its calls."""
    messages = [user("go"), assistant(call(arguments='"ls"', kind="custom")), result()]
    body = chat(messages, "vllm", tools=[{"name": "look", "kind": "custom"}])
    assert body["tools"][0]["function"]["parameters"]["required"] == ["input"]
    assert body["messages"][1]["tool_calls"][0]["function"] == {
        "name": "look",
        "arguments": '{"input": "ls"}',
    }


def test_forced_choice_while_thinking() -> None:
    """DeepSeek refuses it, so it is told."""
    options: Any = {"tools": [LOOK], "tool_choice": "required", "model": "deepseek-v4"}
    assert ("will_be_refused", "forced_choice") in notes(
        "openai-chat", GO, dialect="deepseek", reasoning=True, **options
    )
    assert [] == notes("openai-chat", GO, dialect="deepseek", **options)


def test_output_in_words() -> None:
    """Where there are no schemas, JSON is asked for, and the schema in words."""
    body = chat([system("Be brief."), *GO], "deepseek", output={"type": "object"})
    assert body["response_format"] == {"type": "json_object"}
    assert body["messages"][0]["content"] == (
        'Be brief.\n\nAnswer with JSON alone that keeps to this JSON schema: {"type": "object"}'
    )
    assert [("demoted", "output"), ("added", "output")] == notes(
        "openai-chat", GO, dialect="deepseek", output={"type": "object"}
    )


def test_no_silent_truncation() -> None:
    """Fireworks cuts a prompt that is too long unless told to fail; the caller may choose otherwise."""
    field = "context_length_exceeded_behavior"
    assert {field: "error"} == fields("fireworks")
    assert {field: "truncate"} == fields("fireworks", extra={field: "truncate"})


def test_marked_cache() -> None:
    """OpenRouter wants the ends of what is cached marked: the system text, and the history."""
    mark = {"type": "ephemeral", "ttl": "1h"}
    body = chat([system("s"), *GO], "openrouter", prompt_cache={"ttl": "1h"})
    assert [[{"type": "text", "text": one, "cache_control": mark}] for one in ("s", "go")] == [
        message["content"] for message in body["messages"]
    ]


@pytest.mark.parametrize(
    ("expected", "dialect"),
    [
        pytest.param(
            {
                "tools": [
                    {
                        "type": "openrouter:web_search",
                        "parameters": {
                            "search_context_size": "low",
                            "allowed_domains": ["example.com"],
                            "max_uses": 1,
                            "user_location": {"type": "approximate", "city": "Oslo"},
                        },
                    }
                ]
            },
            "openrouter",
            id="a tool",
        ),
        pytest.param(
            {
                "web_search_options": {"search_context_size": "low", "user_location": {"city": "Oslo"}},
                "search_domain_filter": ["example.com"],
            },
            "perplexity",
            id="fields",
        ),
        pytest.param({"search_settings": {"include_domains": ["example.com"]}}, "groq", id="settings"),
        pytest.param({"enable_search": True}, "alibaba", id="a switch"),
        pytest.param({}, "vllm", id="none"),
    ],
)
def test_web_search(expected: Any, dialect: str) -> None:
    """Each server's own form; what it cannot say is told."""
    search = {
        "context_size": "low",
        "allowed_domains": ["example.com"],
        "max_uses": 1,
        "user_location": {"city": "Oslo"},
    }
    plan = plait.plan_request("openai-chat", GO, dialect=dialect, web_search=search)
    body = {name: value for name, value in plan.body.items() if name != "messages"}
    assert expected == body
    said = str(body)
    for word, name in (
        ("example.com", "allowed_domains"),
        ("low", "context_size"),
        ("Oslo", "user_location"),
    ):
        assert word in said or any(
            note.what in ("web_search", f"web_search.{name}") and note.kind == "dropped"
            for note in plan.notes
        )


def test_beginning_of_an_answer() -> None:
    """A last message of the assistant's is marked as such where that is wanted."""
    messages = [user("go"), assistant("Once upon")]
    assert chat(messages, "moonshot")["messages"][1]["partial"] is True
    assert "partial" not in chat(messages, "openai")["messages"][1]


def test_openai_knows_every_field() -> None:
    """The fields of OpenAI's own row are all the SDK's."""
    assert set(DIALECTS["openai"].options.values()) <= CompletionCreateParamsBase.__annotations__.keys()
