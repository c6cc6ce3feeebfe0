"""Histories -> Converse's messages."""

from __future__ import annotations

from typing import Any

import pytest
from converse_requests import FORMAT, LLAMA, MISTRAL, NOVA, WRITER, planned, tool_result, tool_use
from histories import assistant, call, results, text, user

from plait.errors import InvalidDataError

PNG = "iVBORw0KGgo="
PDF = "JVBERi0="
CALLED = ("added", "tools")
"""The note on tools that the history demands."""


def thought(words: str | None, signature: str | None = None, format: str | None = FORMAT) -> dict[str, Any]:
    detail = {"type": "text", "text": words, "signature": signature, "format": format}
    return {"type": "reasoning", "details": [{k: v for k, v in detail.items() if v is not None}]}


def file(data: str = PDF, **more: Any) -> dict[str, Any]:
    return {"type": "file", "data": {"type": "data", "data": data}, **more}


# Roles


def test_a_question_is_the_smallest_body() -> None:
    """Nothing is sent that was not asked for; the URL names the model and the stream."""
    body, notes = planned([user("Hi")], model=NOVA, stream=True, include_usage=True)
    assert (body, notes) == ({"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}, [])


def test_system_text_stands_beside_the_messages_and_late_text_is_the_users() -> None:
    """Leading system messages are blocks of `system`; later ones are user text, with a note."""
    body, notes = planned(
        [
            *({"role": "system", "content": words} for words in ("A", "B")),
            user("Hi"),
            {"role": "system", "content": "C"},
        ]
    )
    assert body["system"] == [{"text": "A"}, {"text": "B"}]
    assert body["messages"] == [{"role": "user", "content": [{"text": "Hi"}, {"text": "C"}]}]
    assert notes == [("moved", "messages[3]")]


def test_a_model_without_system_text_gets_it_from_the_user() -> None:
    """Older text models take no `system`."""
    history = [{"role": "system", "content": "Be brief."}, user("Hi")]
    body, notes = planned(history, model="amazon.titan-text-express-v1")
    expected = {"messages": [{"role": "user", "content": [{"text": "Be brief."}, {"text": "Hi"}]}]}
    assert (body, notes) == (expected, [("moved", "system")])


def test_neighbours_of_one_role_become_one_message() -> None:
    """Roles must alternate."""
    body, _ = planned([user("A"), user("B"), assistant("C"), assistant("D"), user("E")])
    assert body["messages"] == [
        {"role": "user", "content": [{"text": "A"}, {"text": "B"}]},
        {"role": "assistant", "content": [{"text": "C"}, {"text": "D"}]},
        {"role": "user", "content": [{"text": "E"}]},
    ]


@pytest.mark.parametrize(
    ("model", "roles", "notes"),
    [
        pytest.param(NOVA, ["user", "assistant", "user"], [("added", "messages[0]")], id="nova"),
        pytest.param("us.anthropic.claude-x", ["assistant", "user"], [], id="claude"),
    ],
)
def test_the_user_begins(model: str, roles: list[str], notes: list[Any]) -> None:
    """Most families refuse a conversation that the assistant begins: a user message is put before it."""
    body, found = planned([assistant("Hello!"), user("Hi")], model=model)
    assert ([message["role"] for message in body["messages"]], found) == (roles, notes)


def test_white_space_at_the_end_of_a_begun_answer_goes() -> None:
    """Only Claude continues an answer, and it must not end in white space."""
    history = [user("Hi"), assistant("It is \n")]
    body, notes = planned(history, model=NOVA)
    assert body["messages"][-1]["content"] == [{"text": "It is"}]
    assert notes == [("dropped", "messages[1].content[0]"), ("will_be_refused", "messages[1].content[0]")]
    assert planned(history, model="anthropic.claude-x")[1] == [("dropped", "messages[1].content[0]")]


def test_system_text_alone_is_no_conversation() -> None:
    """There must be something to answer; the error says what to do."""
    with pytest.raises(InvalidDataError, match="add one"):
        planned([{"role": "system", "content": "Be brief."}])


# Calls and results


def test_results_of_a_turn_stand_first_in_one_user_message_in_the_order_of_the_calls() -> None:
    """Two tool messages and the user's text become one message."""
    body, notes = planned(
        [user("Hi"), assistant("", call("c1"), call("c2")), results(c2="two"), results(c1="one"), user("?")]
    )
    assert body["messages"][1:] == [
        {"role": "assistant", "content": [tool_use("c1"), tool_use("c2")]},
        {
            "role": "user",
            "content": [
                tool_result("c1", {"text": "one"}),
                tool_result("c2", {"text": "two"}),
                {"text": "?"},
            ],
        },
    ]
    assert notes == [CALLED]


def test_some_families_take_no_text_beside_results() -> None:
    """For them a message of the assistant's that says nothing stands between."""
    body, notes = planned([user("Hi"), assistant(call("c1")), results(c1="one"), user("Well?")], model=LLAMA)
    assert body["messages"][2:] == [
        {"role": "user", "content": [tool_result("c1", {"text": "one"})]},
        {"role": "assistant", "content": [{"text": "."}]},
        {"role": "user", "content": [{"text": "Well?"}]},
    ]
    assert notes == [("added", "messages[3].content[0]"), CALLED]


@pytest.mark.parametrize(
    ("output", "content", "status"),
    [
        pytest.param("sunny", {"text": "sunny"}, None, id="text"),
        pytest.param("", {"text": "(no output)"}, None, id="nothing"),
        pytest.param({"type": "json", "value": {"a": [1]}}, {"json": {"a": [1]}}, None, id="object"),
        pytest.param({"type": "json", "value": [1]}, {"text": "[1]"}, None, id="list"),
        pytest.param({"type": "content", "value": []}, {"text": "(no output)"}, None, id="no parts"),
        pytest.param({"type": "error-text", "value": "no"}, {"text": "no"}, "error", id="error"),
        pytest.param({"type": "error-text", "value": ""}, {"text": "(no output)"}, "error", id="empty error"),
        pytest.param(
            {"type": "error-json", "value": {"code": 1}}, {"json": {"code": 1}}, "error", id="json error"
        ),
        pytest.param(
            {"type": "execution-denied", "value": None},
            {"text": "The call was not allowed to run."},
            "error",
            id="denied",
        ),
    ],
)
def test_each_kind_of_output(output: Any, content: dict[str, Any], status: str | None) -> None:
    """All six kinds of output; an empty one says so, and an error is marked."""
    body, _ = planned([user("Hi"), assistant(call("c1")), results(c1=output)])
    expected = tool_result("c1", content, **({"status": status} if status else {}))
    assert body["messages"][-1]["content"] == [expected]


def test_families_with_results_of_their_own_kind() -> None:
    """Mistral takes ids of nine letters, and text inside JSON; Writer is not told of errors."""
    history = [user("Hi"), assistant(call("tooluse_1")), results(tooluse_1="sunny")]
    body, notes = planned(history, model=MISTRAL)
    result = body["messages"][2]["content"][0]["toolResult"]
    assert (len(result["toolUseId"]), result["content"]) == (9, [{"json": {"result": "sunny"}}])
    assert notes == [("renamed", "messages[1].content[0].call_id"), CALLED]
    failed = {"type": "error-text", "value": "no"}
    body, notes = planned([user("Hi"), assistant(call("c1")), results(c1=failed)], model=WRITER)
    expected = [tool_result("c1", {"text": "The tool failed:"}, {"text": "no"})]
    assert (body["messages"][2]["content"], notes) == (
        expected,
        [("demoted", "messages[2].content[0]"), CALLED],
    )


def test_foreign_ids_and_inputs_are_made_to_fit() -> None:
    """An id with other letters is replaced in call and result; an input that is no object is wrapped."""
    body, notes = planned(
        [user("Hi"), assistant(call("a|b", arguments='{"cmd":"ls')), results(**{"a|b": "x"})]
    )
    used = body["messages"][1]["content"][0]["toolUse"]
    assert body["messages"][2]["content"][0]["toolResult"]["toolUseId"] == used["toolUseId"] != "a|b"
    assert used["input"] == {"raw": '{"cmd":"ls'}
    expected = ["messages[1].content[0].call_id", "messages[1].content[0].arguments", "tools"]
    assert [what for _, what in notes] == expected


# Reasoning and server tools


def test_signed_reasoning_and_redacted_content_go_back_in_order() -> None:
    """Also reasoning whose text was not shown: never null, but empty."""
    redacted = {"type": "reasoning", "details": [{"type": "redacted", "data": "UkVE", "format": FORMAT}]}
    body, notes = planned(
        [
            user("Hi"),
            assistant(thought("Hm. ", "S1"), redacted, "Now:", thought(None, "S2"), call("c1")),
            results(c1="x"),
        ]
    )
    expected = [
        {"reasoningContent": {"reasoningText": {"text": "Hm. ", "signature": "S1"}}},
        {"reasoningContent": {"redactedContent": "UkVE"}},
        {"text": "Now:"},
        {"reasoningContent": {"reasoningText": {"text": "", "signature": "S2"}}},
        tool_use("c1"),
    ]
    assert (body["messages"][1]["content"], notes) == (expected, [CALLED])


@pytest.mark.parametrize(
    ("reasoning", "model"),
    [
        pytest.param(thought("[REDACTED]."), None, id="without a signature"),
        pytest.param(thought("Hm.", "zz", "anthropic-claude-v1"), None, id="of another wire"),
        pytest.param(thought("Hm.", "S"), NOVA, id="to another family"),
    ],
)
def test_other_reasoning_is_dropped_with_a_note(reasoning: dict[str, Any], model: str | None) -> None:
    """Only Claude takes its signed reasoning back."""
    body, notes = planned([user("Hi"), assistant(reasoning, "Yes"), user("Go on")], model=model)
    assert body["messages"][1]["content"] == [{"text": "Yes"}]
    assert notes == [("dropped", "messages[1].content[0].details[0]")]


RUN = {
    "toolUse": {"toolUseId": "t1", "name": "nova_code_interpreter", "input": {}, "type": "server_tool_use"}
}
RAN = {
    "toolResult": {
        "toolUseId": "t1",
        "type": "nova_code_interpreter_result",
        "content": [{"json": {"stdOut": "4"}}],
        "status": "success",
    }
}


def provider(data: Any, format: str = FORMAT) -> dict[str, Any]:
    return {"type": "provider", "format": format, "data": data}


def test_pairs_of_server_tools_go_back_and_halves_do_not() -> None:
    """Both halves are sent verbatim, with the tool that the history demands; half a pair is dropped."""
    body, notes = planned([user("2+2"), assistant(provider(RUN), provider(RAN), "4"), user("Thanks")])
    assert body["messages"][1]["content"] == [RUN, RAN, {"text": "4"}]
    assert body["toolConfig"] == {"tools": [{"systemTool": {"name": "nova_code_interpreter"}}]}
    assert notes == [CALLED]
    for half in (RUN, RAN):
        body, notes = planned([user("2+2"), assistant(provider(half), "4"), user("Thanks")])
        assert body["messages"][1]["content"] == [{"text": "4"}]
        assert notes == [("dropped", "messages[1].content[0]")]


def test_a_trace_and_citations_stay_here() -> None:
    """A guardrail's trace is never sent; an answer goes back as plain text."""
    cited = {**text("So it is."), "citations": [{"format": FORMAT, "data": {"location": {}}}]}
    trace = provider({"guardrail": {}}, "bedrock-converse-trace-v1")
    body, notes = planned([user("Hi"), assistant(cited, trace), user("Go on")])
    assert body["messages"][1]["content"] == [{"text": "So it is."}]
    assert notes == [("dropped", "messages[1].content[1]"), ("dropped", "messages[1].content[0].citations")]


# Images and files


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        pytest.param(
            {"type": "image", "image": {"type": "data", "data": PNG, "media_type": "image/jpg"}},
            {"image": {"format": "jpeg", "source": {"bytes": PNG}}},
            id="image",
        ),
        pytest.param(
            {"type": "image", "image": {"type": "url", "url": "s3://b/a.png"}},
            {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://b/a.png"}}}},
            id="in S3",
        ),
        pytest.param(
            file(filename="a.pdf"),
            {"document": {"format": "pdf", "name": "a", "source": {"bytes": PDF}}},
            id="document",
        ),
        pytest.param(
            file(media_type="text/markdown"),
            {"document": {"format": "md", "name": "Document 1", "source": {"bytes": PDF}}},
            id="without a name",
        ),
        pytest.param(
            file(media_type="video/quicktime"),
            {"video": {"format": "mov", "source": {"bytes": PDF}}},
            id="video",
        ),
        pytest.param(
            file(media_type="audio/mpeg"), {"audio": {"format": "mp3", "source": {"bytes": PDF}}}, id="sound"
        ),
    ],
)
def test_images_and_files(part: dict[str, Any], expected: dict[str, Any]) -> None:
    """Each kind of block, with its format."""
    body, notes = planned([user("Look:", part)], model=NOVA)
    assert (body["messages"][0]["content"], notes) == ([{"text": "Look:"}, expected], [])


def test_names_of_documents_fit_and_are_their_own() -> None:
    """Strange letters become hyphens, the ending goes, and the same name comes once."""
    parts = [file(filename=name) for name in ("q3_final  v1.2.pdf", "a.pdf", "A.pdf", "___.pdf")]
    body, notes = planned([user("Look:", *parts)])
    names = [block["document"]["name"] for block in body["messages"][0]["content"][1:]]
    assert names == ["q3-final v1-2", "a", "A (2)", "Document 4"]
    assert [what for _, what in notes] == [f"messages[0].content[{at}].filename" for at in (1, 3, 4)]


def test_a_document_is_never_without_text() -> None:
    """A message with a document and no text is refused."""
    body, notes = planned([user(file(filename="a.pdf"))])
    assert (body["messages"][0]["content"][1], notes) == ({"text": "."}, [("added", "messages")])


def test_files_in_a_result() -> None:
    """Images and documents stand in a tool result."""
    output = {"type": "content", "value": [text("Look:"), file(filename="a.pdf")]}
    body, _ = planned([user("Hi"), assistant(call("c1")), results(c1=output)])
    document = {"document": {"format": "pdf", "name": "a", "source": {"bytes": PDF}}}
    assert body["messages"][2]["content"] == [tool_result("c1", {"text": "Look:"}, document)]


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        pytest.param(file(media_type="video/mp4"), "video", id="video"),
        pytest.param(file(media_type="audio/wav"), "audio", id="sound"),
        pytest.param({"type": "image", "image": {"type": "url", "url": "s3://b/a.png"}}, "image", id="S3"),
    ],
)
def test_what_claude_will_refuse_is_sent_with_a_note(part: Any, kind: str) -> None:
    """Converse has the block, but this family does not take it."""
    body, notes = planned([user("Look:", part)], model="eu.anthropic.claude-x")
    assert kind in body["messages"][0]["content"][1]
    assert notes == [("will_be_refused", "messages[0].content[1]")]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        pytest.param(
            file(media_type="application/zip"),
            r"messages\[0\]\.content\[0\]: this target does not take application/zip",
            id="archive",
        ),
        pytest.param(
            {"type": "image", "image": {"type": "url", "url": "https://x.org/a.png"}},
            r"image/png by URL: .* part\.resolve\(\)",
            id="URL",
        ),
    ],
)
def test_content_that_is_not_taken_is_an_error(part: Any, message: str) -> None:
    """The error names the part, what is taken, and what to do."""
    with pytest.raises(InvalidDataError, match=message):
        planned([user(part)])
