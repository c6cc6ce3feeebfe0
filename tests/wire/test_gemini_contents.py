"""Histories -> Gemini's contents."""

from __future__ import annotations

from typing import Any

import pytest
from gemini_requests import FORMAT, content, contents, planned, signed
from histories import assistant, call, results, text, user

from plait.errors import InvalidDataError

PNG = "iVBORw0KGgo="
HI = content("user", "Hi")
NEXT = content("user", "And?")
UNSIGNED = "skip_thought_signature_validator"


def image(source: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "image", "image": source, **more}


def file(source: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "file", "data": source, **more}


def data(content: str, media_type: str | None = None) -> dict[str, Any]:
    return {"type": "data", "data": content, **({"media_type": media_type} if media_type else {})}


def url(address: str) -> dict[str, Any]:
    return {"type": "url", "url": address}


def system(words: str) -> dict[str, Any]:
    return {"role": "system", "content": words}


def thought(*details: dict[str, Any]) -> dict[str, Any]:
    return {"type": "reasoning", "details": [{"type": "summary", "format": FORMAT, **one} for one in details]}


def function_call(args: Any = None, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": "find", "args": args or {}, **more}}


def function_response(response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": "find", "response": response, **more}}


# Roles


def test_a_question_is_the_smallest_body() -> None:
    """The URL names the model, and whether the answer is streamed."""
    assert planned([user("Hi")], model="gemini-x", stream=True) == ({"contents": [HI]}, [])


def test_leading_system_text_is_the_system_instruction() -> None:
    """Each message is a part of it."""
    body, notes = planned([system("Be brief."), system("Be kind."), user("Hi")])
    instruction = {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]}
    assert (body, notes) == ({"systemInstruction": instruction, "contents": [HI]}, [])


@pytest.mark.parametrize(
    ("messages", "model", "expected"),
    [
        pytest.param(
            [user("Hi"), system("Be brief."), user("And?")],
            None,
            [content("user", "Hi", "Be brief.", "And?")],
            id="late",
        ),
        pytest.param(
            [system("Be brief."), user("Hi")],
            "gemma-3-27b-it",
            [content("user", "Be brief.", "Hi")],
            id="Gemma",
        ),
        pytest.param([system("Say hi.")], None, [content("user", "Say hi.")], id="alone"),
    ],
)
def test_system_text_that_is_sent_as_the_users(
    messages: list[dict[str, Any]], model: str | None, expected: list[dict[str, Any]]
) -> None:
    """Where no system instruction can say it; the move is noted."""
    body, notes = planned(messages, model=model)
    assert (body, [kind for kind, _ in notes]) == ({"contents": expected}, ["moved"])


def test_neighbours_of_one_role_become_one_content() -> None:
    """The roles alternate."""
    sent, notes = contents([user("A"), user("B"), assistant("C"), assistant("D"), user("E")])
    expected = [content("user", "A", "B"), content("model", "C", "D"), content("user", "E")]
    assert (sent, notes) == (expected, [])


def test_a_conversation_begins_with_the_user() -> None:
    """An empty text is put first."""
    sent, notes = contents([assistant("Hello."), user("Hi")])
    assert (sent, notes) == ([content("user", ""), content("model", "Hello."), HI], [("added", "messages")])


def test_an_empty_turn_is_left_out() -> None:
    """A content without parts is refused."""
    sent, notes = contents([user("Hi"), assistant(""), user("And?")])
    assert (sent, notes) == ([content("user", "Hi", "And?")], [("dropped", "messages[1]")])


# Media


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        pytest.param(image(data(PNG)), {"inlineData": {"mimeType": "image/png", "data": PNG}}, id="image"),
        pytest.param(
            file(data("JVBERi0="), media_type="application/pdf"),
            {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}},
            id="file",
        ),
        pytest.param(
            file(url("gs://bucket/a.mp4"), media_type="video/mp4"),
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/a.mp4"}},
            id="Cloud Storage",
        ),
        pytest.param(
            file(url("https://youtu.be/x1")), {"fileData": {"fileUri": "https://youtu.be/x1"}}, id="YouTube"
        ),
        pytest.param(
            file(url("https://m.youtube.com/watch?v=x1")),
            {"fileData": {"fileUri": "https://m.youtube.com/watch?v=x1"}},
            id="YouTube for phones",
        ),
    ],
)
def test_user_content(part: dict[str, Any], expected: dict[str, Any]) -> None:
    """Data inline, the provider's own addresses as they are."""
    sent, notes = contents([user("Look:", part)])
    assert (sent, notes) == ([content("user", "Look:", expected)], [])


def test_only_vertex_fetches_urls() -> None:
    """Elsewhere the error names the part and says what to do."""
    history = [user(image(url("https://example.com/a.png")))]
    with pytest.raises(InvalidDataError, match=r"messages\[0\]\.content\[0\].*fetches no other URL.*resolve"):
        planned(history)
    sent, _ = contents(history, dialect="vertex")
    part = {"fileData": {"mimeType": "image/png", "fileUri": "https://example.com/a.png"}}
    assert sent == [content("user", part)]


def test_files_of_other_kinds_are_refused_by_name() -> None:
    """The error names the part, the kind and what is taken."""
    with pytest.raises(InvalidDataError, match=r"messages\[0\]\.content\[0\].*application/zip.*takes images"):
        planned([user(file(data("UEsDBA=="), media_type="application/zip"))])


def test_json_files_are_sent_as_text() -> None:
    """As plain text, with notes on that and on the name, which has no place."""
    sent, notes = contents([user(file(data("e30="), media_type="application/json", filename="a.json"))])
    assert sent == [content("user", {"inlineData": {"mimeType": "text/plain", "data": "e30="}})]
    what = "messages[0].content[0]"
    assert notes == [("dropped", f"{what}.filename"), ("renamed", f"{what}.media_type")]


# Signatures


def test_signatures_stay_on_their_parts() -> None:
    """Thoughts, texts, empty texts, calls and images each go back with their own; nothing is joined."""
    turn = assistant(
        thought({"text": "**Plan**"}, {"text": "More", "signature": "SIG0"}),
        signed(text("a"), "SIG1"),
        "b",
        signed(text(""), "SIG2"),
        signed(call("k1", call_id="k1", arguments='{"q":"x"}'), "SIG3"),
        signed(image(data(PNG)), "SIG4"),
    )
    sent, notes = contents([user("Hi"), turn, results(k1="ok"), user("And?")])
    expected = content(
        "model",
        {"text": "**Plan**", "thought": True},
        {"text": "More", "thought": True, "thoughtSignature": "SIG0"},
        {"text": "a", "thoughtSignature": "SIG1"},
        "b",
        {"text": "", "thoughtSignature": "SIG2"},
        {**function_call({"q": "x"}, id="k1"), "thoughtSignature": "SIG3"},
        {"inlineData": {"mimeType": "image/png", "data": PNG}, "thoughtSignature": "SIG4"},
    )
    response = content("user", function_response({"output": "ok"}, id="k1"))
    assert (sent, notes) == ([HI, expected, response, NEXT], [])


def test_signatures_of_others_stay_behind() -> None:
    """What another wire signed or thought is no business of Gemini's."""
    foreign = {"signature": "S", "format": "anthropic-messages"}
    claude = {
        "type": "reasoning",
        "details": [{"type": "text", "text": "Hm", "format": "anthropic-claude-v1"}],
    }
    turn = assistant(claude, text("a") | foreign, image(data(PNG)) | foreign, call("k1") | foreign)
    sent, notes = contents([user("Hi"), turn, results(k1="ok")])
    picture = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    assert sent[1] == content("model", "a", picture, function_call())
    assert notes == [("dropped", f"messages[1].content[{what}") for what in ("0].details[0]", "1].signature")]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gemini-3-pro-preview", {**function_call(), "thoughtSignature": UNSIGNED}),
        ("models/gemini-3.5-flash", {**function_call(), "thoughtSignature": UNSIGNED}),
        ("gemini-2.5-flash", function_call()),
        (None, function_call()),
    ],
)
def test_calls_that_gemini_did_not_make(model: str | None, expected: dict[str, Any]) -> None:
    """Gemini 3 demands a signature on the first call of each step, and takes a word in its place."""
    sent, notes = contents([user("Hi"), assistant(call("a"), call("b")), results(a="1", b="2")], model=model)
    assert sent[1] == content("model", expected, function_call())
    assert notes == [("added", "messages[1].content[0].signature")] * (expected != function_call())


def test_parts_of_the_providers_tools_go_back_as_they_came() -> None:
    """Code and its result, and searches, which the provider refuses when the tool is gone."""
    code = {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "SIG1"}
    search = {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB"}, "thoughtSignature": "SIG2"}
    parts = [{"type": "provider", "format": FORMAT, "data": one} for one in (code, search)]
    sent, notes = contents([user("Hi"), assistant(*parts), user("And?")])
    assert sent[1] == content("model", code, search)
    assert notes == [("will_be_refused", "messages[1].content[1]")]
    assert contents([user("Hi"), assistant(*parts), user("And?")], web_search=True) == (sent, [])


# Calls and results


@pytest.mark.parametrize(("dialect", "ids"), [(None, {"id": "k1"}), ("google", {"id": "k1"}), ("vertex", {})])
def test_ids_are_the_providers_own(dialect: str | None, ids: dict[str, str]) -> None:
    """Ids that we made up are not sent, and none to Vertex AI, which matches by name and order."""
    turn = assistant(call("k1", call_id="k1"), call("call_r_1"))
    sent, _ = contents([user("Hi"), turn, results(k1="1", call_r_1="2")], dialect=dialect)
    assert sent[1:] == [
        content("model", function_call(**ids), function_call()),
        content("user", function_response({"output": "1"}, **ids), function_response({"output": "2"})),
    ]


def test_gemini_3_has_ids_on_vertex_too() -> None:
    """There it gives ids to its calls, and takes them back."""
    turn = assistant(signed(call("k1", call_id="k1"), "SIG1"))
    sent, _ = contents([user("Hi"), turn, results(k1="1")], dialect="vertex", model="gemini-3-flash")
    assert sent[1:] == [
        content("model", {**function_call(id="k1"), "thoughtSignature": "SIG1"}),
        content("user", function_response({"output": "1"}, id="k1")),
    ]


def test_results_are_a_content_of_their_own() -> None:
    """As many as there were calls, in their order; what the user says follows in another."""
    turn = assistant(call("a"), call("b", "look"))
    sent, notes = contents([user("Hi"), turn, results(b="2", a="1"), user("And?")])
    names = [part["functionResponse"]["name"] for part in sent[2]["parts"]]
    assert (names, sent[3], notes) == (["find", "look"], NEXT, [])


@pytest.mark.parametrize(
    ("output", "expected", "demoted"),
    [
        pytest.param({"type": "text", "value": "ok"}, {"output": "ok"}, False, id="text"),
        pytest.param({"type": "text", "value": ""}, {"output": ""}, False, id="empty text"),
        pytest.param({"type": "json", "value": {"a": 1}}, {"a": 1}, False, id="an object"),
        pytest.param({"type": "json", "value": [1]}, {"output": [1]}, False, id="other JSON"),
        pytest.param(
            {"type": "json", "value": {"error": None}}, {"output": {"error": None}}, False, id="no error"
        ),
        pytest.param(
            {"type": "json", "value": {"a": [{"$ref": "#/x"}]}},
            {"output": '{"a":[{"$ref":"#/x"}]}'},
            True,
            id="references",
        ),
        pytest.param({"type": "error-text", "value": "boom"}, {"error": "boom"}, False, id="error"),
        pytest.param(
            {"type": "error-json", "value": {"code": 1}}, {"error": {"code": 1}}, False, id="JSON error"
        ),
        pytest.param(
            {"type": "execution-denied", "value": "no"},
            {"error": "The call was not allowed to run: no"},
            False,
            id="denied",
        ),
        pytest.param({"type": "content", "value": []}, {"output": ""}, False, id="no parts"),
    ],
)
def test_results(output: dict[str, Any], expected: dict[str, Any], demoted: bool) -> None:
    """A response is an object; `$ref` in it would be resolved, so such JSON goes as text."""
    sent, notes = contents([user("Hi"), assistant(call("k1")), results(k1=output)])
    assert sent[2] == content("user", function_response(expected))
    assert notes == [("demoted", "messages[2].content[0]")] * demoted


def test_a_result_of_an_image_alone_has_no_text() -> None:
    """The response is an empty object: an empty text is not what the function gave."""
    output = {"type": "content", "value": [image(data(PNG))]}
    history = [user("Hi"), assistant(signed(call("k1"), "SIG1")), results(k1=output)]
    picture = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    sent, _ = contents(history, model="gemini-3-flash")
    assert sent[2] == content("user", function_response({}, parts=[picture]))


def test_images_in_results_are_native_to_gemini_3() -> None:
    """They stand in the response; older models get them in a content after it."""
    output = {"type": "content", "value": [text("See:"), image(data(PNG))]}
    history = [user("Hi"), assistant(call("k1")), results(k1=output)]
    picture = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    sent, notes = contents(history, model="gemini-3-flash")
    assert sent[2:] == [content("user", function_response({"output": "See:"}, parts=[picture]))]
    assert notes == [("added", "messages[1].content[0].signature")]
    sent, notes = contents(history, model="gemini-2.5-flash")
    assert sent[2:] == [
        content("user", function_response({"output": "See:"})),
        content("user", "Result of tool call k1 (find):", picture),
    ]
    assert notes == [("moved", "messages[2].content[0]")]


def test_arguments_that_are_no_object_are_wrapped() -> None:
    """A call that was cut, or whose arguments are a list."""
    turn = assistant(call("a", arguments='{"q":', complete=False), call("b", arguments="[1]"))
    sent, notes = contents([user("Hi"), turn, results(a="1", b="2")])
    assert sent[1] == content("model", function_call({"raw": '{"q":'}), function_call({"value": [1]}))
    assert notes == [("demoted", f"messages[1].content[{number}].arguments") for number in (0, 1)]


def test_a_custom_call_is_a_function_of_its_text() -> None:
    """As its definition is."""
    turn = assistant(call("a", arguments='"x + 1"', kind="custom"))
    sent, notes = contents([user("Hi"), turn, results(a="2")])
    assert sent[1] == content("model", function_call({"input": "x + 1"}))
    assert notes == [("demoted", "messages[1].content[0].arguments")]
