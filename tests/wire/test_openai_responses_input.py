"""Histories -> input items of the Responses API."""

from __future__ import annotations

from typing import Any

import pytest
from histories import assistant, call, results, text, user
from responses_requests import FORMAT, TEXT_FORMAT, detail, items, message, planned, reasoning, said

from plait.errors import InvalidDataError

PNG = "iVBORw0KGgo="
PDF = "JVBERi0="
HI = {"role": "user", "content": "Hi"}
NEXT = {"role": "user", "content": "And?"}


def image(source: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "image", "image": source, **more}


def file(source: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "file", "data": source, **more}


def data(content: str, media_type: str | None = None) -> dict[str, Any]:
    return {"type": "data", "data": content, **({"media_type": media_type} if media_type else {})}


def system(words: str) -> dict[str, Any]:
    return {"role": "system", "content": words}


def function_call(id: str = "call_1", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", **more, "call_id": id, "name": "find", "arguments": "{}"}


def function_output(output: Any, id: str = "call_1") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": output}


# Roles


def test_a_question_is_the_smallest_body() -> None:
    """Nothing is sent that was not asked for."""
    assert planned([user("Hi")], model="m") == ({"model": "m", "input": [HI]}, [])


def test_leading_system_text_is_the_instructions() -> None:
    """Several are joined by a blank line, in order."""
    body, notes = planned([system("Be brief."), system("Be kind."), user("Hi")])
    assert (body, notes) == ({"instructions": "Be brief.\n\nBe kind.", "input": [HI]}, [])


def test_later_system_text_stays_where_it_is() -> None:
    """It is an item of its own."""
    sent, notes = items([user("Hi"), assistant("Yes?"), system("Be brief."), user("And?")])
    said = {"role": "assistant", "content": "Yes?"}
    assert (sent, notes) == ([HI, said, {"role": "system", "content": "Be brief."}, NEXT], [])


def test_system_text_alone_is_the_input() -> None:
    """There must be some input."""
    assert planned([system("Say hi.")]) == ({"input": [{"role": "system", "content": "Say hi."}]}, [])


def test_codex_takes_all_system_text_as_instructions() -> None:
    """Wherever it stood; the move is noted."""
    body, notes = planned([system("A"), user("Hi"), system("B"), user("And?")], dialect="codex")
    assert (body["instructions"], body["input"]) == ("A\n\nB", [HI, NEXT])
    assert ("moved", "messages[2]") in notes


# User content


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        pytest.param(
            image({"type": "url", "url": "https://example.com/a.png"}),
            {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto"},
            id="image by URL",
        ),
        pytest.param(
            image(data(PNG, "image/png"), detail="low"),
            {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "low"},
            id="image as data",
        ),
        pytest.param(
            file(data(PDF), media_type="application/pdf", filename="a.pdf"),
            {"type": "input_file", "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
            id="file as data",
        ),
        pytest.param(
            file({"type": "url", "url": "https://example.com/a.pdf"}, media_type="application/pdf"),
            {"type": "input_file", "file_url": "https://example.com/a.pdf"},
            id="file by URL",
        ),
        pytest.param(
            file(data(PNG), media_type="image/png"),
            {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
            id="an image given as a file",
        ),
    ],
)
def test_user_content(part: dict[str, Any], expected: dict[str, Any]) -> None:
    """Parts stand beside the text in their order."""
    sent, notes = items([user("Look:", part)])
    content = [{"type": "input_text", "text": "Look:"}, expected]
    assert (sent, notes) == ([{"role": "user", "content": content}], [])


def test_a_file_without_a_name_gets_one() -> None:
    """The API demands a name beside data."""
    sent, notes = items([user(file(data(PDF), media_type="application/pdf"))])
    assert sent[0]["content"][0]["filename"] == "file.pdf"
    assert notes == [("added", "messages[0].content[0].filename")]


def test_sound_is_refused_by_name() -> None:
    """The models answer 400: the error names the part, what is taken, and what to do."""
    with pytest.raises(InvalidDataError, match=r"messages\[0\]\.content\[1\].*audio/wav.*takes text, images"):
        planned([user("Listen:", file(data("UklGRg=="), media_type="audio/wav"))])


# Reasoning


def test_stored_reasoning_goes_back_by_id() -> None:
    """With what it holds, and what follows under its own ids."""
    turn = assistant(
        reasoning(detail("summary", text="**Plan**"), detail("encrypted", id="rs_1", data="gAAA")),
        said("Hello.", id="msg_1", phase="commentary"),
        call("fc_1", call_id="call_1"),
    )
    sent, notes = items([user("Hi"), turn, results(fc_1="ok"), user("And?")])
    expected = [
        HI,
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "**Plan**"}],
            "encrypted_content": "gAAA",
        },
        message("Hello.", phase="commentary"),
        function_call(id="call_1") | {"id": "fc_1"},
        function_output("ok"),
        NEXT,
    ]
    assert (sent, notes) == (expected, [])


def test_stored_reasoning_without_anything_but_its_id() -> None:
    """The provider still has it; `summary` must be there, even empty."""
    sent, notes = items([user("Hi"), assistant(reasoning(), said("Hello.", id="msg_1")), user("And?")])
    assert (sent[1:3], notes) == ([{"type": "reasoning", "id": "rs_1", "summary": []}, message("Hello.")], [])


def test_reasoning_that_is_not_stored_goes_back_without_ids() -> None:
    """An id would be looked up, and not found; the encrypted content is all that counts."""
    turn = assistant(
        reasoning(detail("encrypted", id="rs_1", data="gAAA")),
        said("Hello.", id="msg_1", phase="final_answer"),
        call("fc_1", call_id="call_1"),
    )
    body, notes = planned([user("Hi"), turn, results(fc_1="ok"), user("And?")], store=False)
    expected = [
        HI,
        {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"},
        {"role": "assistant", "content": "Hello.", "phase": "final_answer"},
        function_call(),
        function_output("ok"),
        NEXT,
    ]
    assert (body["input"], notes) == (expected, [])
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])


def test_reasoning_with_neither_id_nor_data_is_dropped() -> None:
    """A summary alone is of no use, and refused."""
    turn = assistant(reasoning(detail("summary", text="Hm")), said("Hello.", id="msg_1"))
    sent, notes = items([user("Hi"), turn, user("And?")], store=False)
    assert sent == [HI, {"role": "assistant", "content": "Hello."}, NEXT]
    assert notes == [("dropped", "messages[1].content[0]")]


def test_what_follows_dropped_reasoning_loses_its_ids() -> None:
    """An id without the reasoning it needs is refused."""
    turn = assistant(reasoning(detail("summary", text="Hm"), id=None), said("Hello.", id="msg_1"))
    sent, _ = items([user("Hi"), turn, user("And?")])
    assert sent == [HI, {"role": "assistant", "content": "Hello."}, NEXT]


@pytest.mark.parametrize(
    ("details", "expected", "note"),
    [
        pytest.param(
            [detail("encrypted", data="gAAA")],
            [{"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}],
            ("dropped", "messages[1].content[0].id"),
            id="encrypted: without the id",
        ),
        pytest.param([], [], ("dropped", "messages[1].content[0]"), id="id alone: not at all"),
    ],
)
def test_reasoning_that_nothing_follows(
    details: list[dict[str, Any]], expected: list[dict[str, Any]], note: tuple[str, str]
) -> None:
    """A turn cut in its reasoning: an id would demand the item that followed."""
    sent, notes = items([user("Hi"), assistant(reasoning(*details)), user("And?")])
    assert (sent, notes) == ([HI, *expected, NEXT], [note])


def test_reasoning_in_the_clear_is_for_servers_that_write_it() -> None:
    """DeepSeek takes it back, OpenAI does not."""
    history = [
        user("Hi"),
        assistant(reasoning(detail("text", TEXT_FORMAT, text="Hm")), "Hello."),
        user("And?"),
    ]
    sent, _ = items(history, dialect="deepseek")
    content = [{"type": "reasoning_text", "text": "Hm"}]
    assert sent[1] == {"type": "reasoning", "id": "rs_1", "summary": [], "content": content}
    sent, notes = items(history, dialect="openai")
    assert sent == [HI, {"role": "assistant", "content": "Hello."}, NEXT]
    assert notes == [("dropped", "messages[1].content[0].details[0]")]


def test_reasoning_of_other_wires_stays_behind() -> None:
    """Only this wire's own formats are sent."""
    foreign = reasoning(
        detail("text", "anthropic-claude-v1", text="Hm", signature="sig"), detail("text", None, text="Hm")
    )
    sent, notes = items([user("Hi"), assistant(foreign, "Hello."), user("And?")])
    assert sent == [HI, {"role": "assistant", "content": "Hello."}, NEXT]
    assert notes == [("dropped", f"messages[1].content[0].details[{number}]") for number in (0, 1)]


def test_openai_gets_no_ids_of_other_servers() -> None:
    """It refuses ids that do not begin as its own do, and cannot read what others encrypted."""
    turn = assistant(reasoning(detail("encrypted", data="x"), id="76f8-4a41"), said("Hello.", id="resp_9"))
    sent, notes = items([user("Hi"), turn, user("And?")], dialect="openai")
    assert sent == [HI, {"role": "assistant", "content": "Hello."}, NEXT]
    assert notes == [("dropped", "messages[1].content[0]")]


def test_openrouter_is_told_who_reasoned() -> None:
    """Its items name their format and signature, and each has an id."""
    thought = reasoning(detail("text", "anthropic-claude-v1", text="Hm", signature="sig"), id=None)
    sent, notes = items(
        [user("Hi"), assistant(thought, call("call_1")), results(call_1="ok")],
        dialect="openrouter",
        known=False,
    )
    assert sent[1].pop("id").startswith("rs_")
    assert sent[2].pop("id").startswith("fc_")
    assert sent[1:] == [
        {
            "type": "reasoning",
            "summary": [],
            "content": [{"type": "reasoning_text", "text": "Hm"}],
            "format": "anthropic-claude-v1",
            "signature": "sig",
        },
        function_call(),
        function_output("ok"),
    ]
    assert notes == [("added", f"messages[1].content[{number}].id") for number in (0, 1)]


# Answers


def test_parts_of_one_message_stay_one_item() -> None:
    """Text parts with the same id are the contents of one message, citations and refusal included."""
    note = {
        "type": "url_citation",
        "url": "https://example.com",
        "title": "T",
        "start_index": 0,
        "end_index": 1,
    }
    cited = said("A", id="msg_1") | {"citations": [{"format": FORMAT, "data": note}]}
    refused = said("No.", id="msg_1") | {"refusal": True}
    sent, notes = items([user("Hi"), assistant(cited, refused), user("And?")])
    content = [
        {"type": "output_text", "text": "A", "annotations": [note]},
        {"type": "refusal", "refusal": "No."},
    ]
    assert (sent[1], notes) == (message("") | {"content": content}, [])


def test_without_an_id_citations_and_refusals_are_text() -> None:
    """A message without an id is plain text; what that loses is noted."""
    cited = text("A") | {"citations": [{"format": FORMAT, "data": {"type": "url_citation"}}]}
    sent, notes = items([user("Hi"), assistant(cited, text("No.") | {"refusal": True}), user("And?")])
    assert sent[1:3] == [{"role": "assistant", "content": "A"}, {"role": "assistant", "content": "No."}]
    assert notes == [("dropped", "messages[1].content[0].citations"), ("demoted", "messages[1].content[1]")]


def test_items_of_the_providers_go_back_as_they_came() -> None:
    """In their place among the others."""
    search = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    }
    turn = assistant(
        reasoning(detail("encrypted", data="gAAA")),
        {"type": "provider", "format": FORMAT, "data": search},
        "Hello.",
    )
    sent, notes = items([user("Hi"), turn, user("And?")])
    assert ([item.get("type") for item in sent], notes) == (
        [None, "reasoning", "web_search_call", None, None],
        [],
    )
    assert sent[2] == search


def test_blocks_of_other_wires_are_no_items() -> None:
    """OpenRouter takes Anthropic's reasoning, but not Anthropic's blocks."""
    block = {
        "type": "provider",
        "format": "anthropic-claude-v1",
        "data": {"type": "server_tool_use", "id": "s1"},
    }
    for dialect in (None, "openrouter"):
        sent, notes = items([user("Hi"), assistant(block, "Hello."), user("And?")], dialect=dialect)
        assert sent == [HI, {"role": "assistant", "content": "Hello."}, NEXT]
        assert notes == [("dropped", "messages[1].content[0]")]


def test_an_item_that_was_not_finished_is_dropped() -> None:
    """It would be refused, as would the ids after it."""
    begun = {
        "type": "provider",
        "format": FORMAT,
        "data": {"type": "web_search_call", "status": "in_progress"},
    }
    sent, notes = items([user("Hi"), assistant(begun, "Hello."), user("And?")])
    assert sent == [HI, {"role": "assistant", "content": "Hello."}, NEXT]
    assert notes == [("dropped", "messages[1].content[0]")]


def test_generated_images_are_in_their_item() -> None:
    """The image part beside it says the same; one that no item holds cannot be sent."""
    made = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": PNG}
    turn = assistant(
        {"type": "provider", "format": FORMAT, "data": made}, image(data(PNG)), image(data("R0lG"))
    )
    sent, notes = items([user("Hi"), turn, user("And?")])
    assert (sent, notes) == ([HI, made, NEXT], [("dropped", "messages[1].content[2]")])


# Calls and results


def test_a_custom_call_is_its_text() -> None:
    """Free text instead of JSON, and an output of the same kind."""
    turn = assistant(call("ctc_1", arguments='"x + 1"', call_id="call_1", kind="custom"))
    sent, notes = items([user("Hi"), turn, results(ctc_1="2")])
    expected = [
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "find", "input": "x + 1"},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "2"},
    ]
    assert (sent[1:], notes) == (expected, [])


def test_a_calls_extras_go_back() -> None:
    """Its namespace and caller, when this wire read them."""
    turn = assistant(call("call_1", extra={"namespace": "crm"}, format="openai-responses"))
    sent, _ = items([user("Hi"), turn, results(call_1="ok")])
    assert sent[1] == function_call() | {"namespace": "crm"}


def test_results_follow_their_calls_in_order() -> None:
    """Directly after the turn, in the order of the calls."""
    sent, notes = items([user("Hi"), assistant(call("a"), call("b")), results(b="2", a="1"), user("And?")])
    expected = [function_call("a"), function_call("b"), function_output("1", "a"), function_output("2", "b")]
    assert (sent, notes) == ([HI, *expected, NEXT], [])


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param({"type": "text", "value": "ok"}, "ok", id="text"),
        pytest.param({"type": "text", "value": ""}, "", id="empty text"),
        pytest.param({"type": "json", "value": {"a": [1, None]}}, '{"a":[1,null]}', id="json"),
        pytest.param({"type": "error-text", "value": "boom"}, "Error: boom", id="error"),
        pytest.param({"type": "error-json", "value": {"code": 1}}, 'Error: {"code":1}', id="json error"),
        pytest.param({"type": "content", "value": [text("ok")]}, "ok", id="a text part"),
        pytest.param({"type": "content", "value": []}, "", id="no parts"),
        pytest.param(
            {"type": "content", "value": [text("See:"), image(data(PNG, "image/png"))]},
            [
                {"type": "input_text", "text": "See:"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
            ],
            id="an image stands in the output",
        ),
    ],
)
def test_results(output: dict[str, Any], expected: Any) -> None:
    """Text as it is, JSON as text, errors marked, images and files natively."""
    sent, notes = items([user("Hi"), assistant(call("call_1")), results(call_1=output)])
    assert (sent[2:], notes) == ([function_output(expected)], [])


def test_a_call_that_was_cut_is_sent_as_an_object() -> None:
    """Arguments that are not JSON would be refused with every later request."""
    turn = assistant(call("call_1", arguments='{"cmd":"ls', complete=False))
    sent, notes = items([user("Hi"), turn, results(call_1="not run")])
    assert sent[1]["arguments"] == '{"raw": "{\\"cmd\\":\\"ls"}'
    assert notes == [("demoted", "messages[1].content[0].arguments")]


@pytest.mark.parametrize(
    ("dialect", "kept"), [("openai", False), ("azure", False), (None, True), ("xai", True)]
)
def test_long_call_ids(dialect: str | None, kept: bool) -> None:
    """OpenAI takes 64 characters; others are replaced there, in call and output alike."""
    long = "c" * 200
    sent, notes = items([user("Hi"), assistant(call(long)), results(**{long: "ok"})], dialect=dialect)
    assert sent[1]["call_id"] == sent[2]["call_id"]
    assert (sent[1]["call_id"] == long, not notes) == (kept, kept)


def test_results_for_calls_that_the_provider_has() -> None:
    """With `previous_response_id` the history may begin with results; without, they answer nothing."""
    body, notes = planned([results(call_1="ok")], previous_response_id="resp_1")
    assert (body, notes) == ({"input": [function_output("ok")], "previous_response_id": "resp_1"}, [])
    body, notes = planned([results(call_1="ok")], extra={"conversation": "conv_1"})
    assert (body, notes) == ({"input": [function_output("ok")], "conversation": "conv_1"}, [])
    with pytest.raises(InvalidDataError, match="no open tool call"):
        planned([results(call_1="ok")])


def test_results_of_custom_tools_that_the_provider_has() -> None:
    """The request's tools tell the kind of a call that is not in the history."""
    body, _ = planned(
        [results(call_1="ok")], previous_response_id="resp_1", tools=[{"name": "find", "kind": "custom"}]
    )
    assert body["input"] == [{"type": "custom_tool_call_output", "call_id": "call_1", "output": "ok"}]
