"""Gemini: what the provider does by itself (code, searches, pages), files, and parts that nobody knows."""

from __future__ import annotations

from typing import Any

import pytest
from checking import check_parse
from gemini_bodies import STOP, WIRE, call, chunk, events_of, message_of, of_parts, stream, text

from plait.events import (
    Citation,
    Event,
    FileDone,
    ServerToolCall,
    ServerToolResult,
    TextDelta,
    TextDone,
    WebSearchDone,
    WebSearchStatus,
)
from plait.wire.gemini import mapping

CODE = {"language": "PYTHON", "code": "print(6 * 7)"}
RESULT = {"outcome": "OUTCOME_OK", "output": "42\n"}


def kept(body: bytes) -> list[Any]:
    """The parts that are kept for replay."""
    parts = [part for part in message_of(body).content if part.type == "provider"]
    assert {part.format for part in parts} == {mapping.FORMAT}
    return [part.data for part in parts]


def of_type(body: bytes, *types: type[Event]) -> list[Event]:
    """The events of these types."""
    return [event for event in events_of(body) if isinstance(event, types)]


# Code


def test_code_with_ids() -> None:
    """Code and its result, told by the provider's id and kept with their signature."""
    code = {"executableCode": {**CODE, "id": "e1"}, "thoughtSignature": "S"}
    result = {"codeExecutionResult": {**RESULT, "id": "e1"}}
    body = of_parts(code, text(""), result, text("42"))
    expected = [
        ServerToolCall("e1", "code_execution", CODE, 0),
        ServerToolResult("e1", "code_execution", RESULT, 1),
        TextDelta("42", 2),
        TextDone("42", 2),
        STOP,
    ]
    check_parse(WIRE, body, expected)
    assert kept(body) == [code, result]


def test_code_without_ids() -> None:
    """Each result belongs to the code before it; a result may have no output, and code may have no result."""
    failed = {"outcome": "OUTCOME_FAILED"}
    body = of_parts(
        {"executableCode": CODE},
        {"codeExecutionResult": failed},
        {"executableCode": CODE},
        {"codeExecutionResult": RESULT},
    )
    assert of_type(body, ServerToolCall, ServerToolResult) == [
        ServerToolCall("code_execution_1", "code_execution", CODE, 0),
        ServerToolResult("code_execution_1", "code_execution", failed, 1),
        ServerToolCall("code_execution_2", "code_execution", CODE, 2),
        ServerToolResult("code_execution_2", "code_execution", RESULT, 3),
    ]
    assert events_of(body)[-1] == STOP


# Searches


def grounded(body_text: list[str], **grounding: Any) -> bytes:
    """A stream of text whose last chunk is grounded."""
    empty = [chunk(text(piece), groundingMetadata={}) for piece in body_text]
    return stream(*empty, chunk(finish="STOP", groundingMetadata=grounding), chunk(groundingMetadata={}))


def web(number: int) -> dict[str, Any]:
    return {"web": {"uri": f"https://r/{number}", "title": f"t{number}"}}


def test_a_search() -> None:
    """Queries and sources, then what the segments rest on, in bytes of the text; said once, at the end."""
    body = grounded(
        ["Grüße", " aus Oslo"],
        webSearchQueries=["a", "", "b"],
        groundingChunks=[web(0), web(1), {"web": {"title": "no address"}}],
        groundingSupports=[
            {"segment": {"endIndex": 7, "text": "Grüße"}, "groundingChunkIndices": [0, 1]},
            {"segment": {"startIndex": 12, "endIndex": 16}, "groundingChunkIndices": [1, 9]},
        ],
    )
    assert events_of(body) == [
        TextDelta("Grüße", 0),
        TextDelta(" aus Oslo", 0),
        WebSearchStatus("completed", "a; b", index=0),
        WebSearchDone(
            "a; b", [{"title": "t0", "url": "https://r/0"}, {"title": "t1", "url": "https://r/1"}], 0
        ),
        Citation("https://r/0", "t0", None, 0, 7, 0),
        Citation("https://r/1", "t1", None, 0, 7, 0),
        Citation("https://r/1", "t1", None, 12, 16, 0),
        TextDone("Grüße aus Oslo", 0),
        STOP,
    ]


def test_grounding_that_grows_is_said_once() -> None:
    """Vertex AI sends all that it has so far with each chunk: the last one holds."""
    body = stream(
        chunk(text("a"), groundingMetadata={"groundingChunks": [web(0)]}),
        chunk(text("b"), groundingMetadata={"groundingChunks": [web(0), web(1)], "webSearchQueries": ["q"]}),
        chunk(finish="STOP"),
    )
    (done,) = of_type(body, WebSearchDone)
    assert isinstance(done, WebSearchDone)
    assert (done.query, [source["title"] for source in done.sources]) == ("q", ["t0", "t1"])


def test_citations_are_on_the_part_they_are_about() -> None:
    """Text in several parts: the offsets count through all of them, thoughts left out."""
    supports = [
        {"segment": {"endIndex": end}, "groundingChunkIndices": [0]} for end in (2, 3, 99)
    ]  # the text is "é" + "bc"
    body = stream(
        chunk(text("thinking", thought=True)),
        chunk(text("é"), {"executableCode": CODE}, text("bc"), text("", thoughtSignature="S")),
        chunk(finish="STOP", groundingMetadata={"groundingChunks": [web(0)], "groundingSupports": supports}),
    )
    assert [citation.index for citation in of_type(body, Citation)] == [1, 3, 3]  # type: ignore[attr-defined]


def test_documents_of_the_caller() -> None:
    """File search cites what it retrieved, by its text; it is no search of the web."""
    body = grounded(
        ["Oslo"],
        groundingChunks=[
            {"retrievedContext": {"title": "d", "text": "Oslo is a city."}},
            {"maps": {"uri": "m"}},
        ],
        groundingSupports=[{"segment": {"endIndex": 4}, "groundingChunkIndices": [0, 1]}],
    )
    assert of_type(body, Citation, WebSearchDone) == [
        Citation(None, "d", "Oslo is a city.", 0, 4, 0),
        Citation("m", None, None, 0, 4, 0),
    ]


def test_grounding_without_text() -> None:
    """A call came instead of an answer: there is no text to cite on, and none is made up."""
    supports = [{"segment": {"endIndex": 4}, "groundingChunkIndices": [0]}]
    grounding = {"groundingChunks": [web(0)], "groundingSupports": supports}
    body = stream(chunk(call("f", args={})), chunk(finish="STOP", groundingMetadata=grounding))
    assert [part.type for part in message_of(body).content] == ["tool-call"]
    assert of_type(body, WebSearchDone) == [WebSearchDone("", [{"title": "t0", "url": "https://r/0"}])]


def test_a_search_as_a_tool() -> None:
    """Gemini 3 shows the search as it goes, in signed parts that are sent back."""
    asked = {
        "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s", "args": {"queries": ["q"]}},
        "thoughtSignature": "S",
    }
    answered = {
        "toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s", "response": {}},
        "thoughtSignature": "T",
    }
    body = stream(
        chunk(asked, text("")),
        chunk(answered),
        chunk(text("a"), finish="STOP", groundingMetadata={"webSearchQueries": ["", "q"]}),
    )
    assert events_of(body) == [
        WebSearchStatus("searching", "q", index=0),
        WebSearchStatus("completed", "q", index=1),
        TextDelta("a", 2),
        WebSearchDone("q", [], 1),
        TextDone("a", 2),
        STOP,
    ]
    assert kept(body) == [asked, answered]


def test_other_tools_of_the_provider() -> None:
    """Any other tool is a server tool by its name: no call for the client."""
    asked = {"toolCall": {"toolType": "FILE_SEARCH", "id": "s", "args": {"q": 1}}}
    answered = {"toolResponse": {"toolType": "FILE_SEARCH", "id": "s", "response": {"r": 2}}}
    body = of_parts(asked, answered)
    assert events_of(body) == [
        ServerToolCall("s", "file_search", {"q": 1}, 0),
        ServerToolResult("s", "file_search", {"r": 2}, 1),
        STOP,
    ]


def test_pages_that_were_fetched() -> None:
    """Each page is told once, and is not taken for a search."""
    page = {"retrievedUrl": "https://a", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"}
    body = stream(
        chunk(text("a"), urlContextMetadata={"urlMetadata": [page]}),
        chunk(urlContextMetadata={"urlMetadata": [page]}),
        chunk(finish="STOP", groundingMetadata={"groundingChunks": [web(0)]}),
    )
    output = {"url": "https://a", "status": "URL_RETRIEVAL_STATUS_SUCCESS"}
    assert of_type(body, ServerToolResult, WebSearchDone) == [
        ServerToolResult("url_context_1", "url_context", output, 0)
    ]


@pytest.mark.parametrize("key", ["citations", "citationSources"])
def test_recited_sources(key: str) -> None:
    """What the model recites is cited, under the new and the old name."""
    source = {"startIndex": 1, "endIndex": 3, "uri": "https://a", "title": "t", "license": "mit"}
    body = stream(chunk(text("abcd"), citationMetadata={key: [source]}), chunk(finish="STOP"))
    assert of_type(body, Citation) == [Citation("https://a", "t", None, 1, 3, 0)]


# Files


def test_a_generated_image() -> None:
    """An image in one piece, however long its line, with the signature that goes back with it."""
    data = "A" * 3000
    body = of_parts(
        text("Here:"),
        {"inlineData": {"mimeType": "image/png", "data": data}, "thoughtSignature": "S"},
        text("done"),
    )
    assert of_type(body, FileDone) == [FileDone("image/png", data, index=1)]
    _, image, _ = message_of(body).content
    assert image.type == "image"
    assert image.signature == "S"


def test_files() -> None:
    """Sound is a file, and a file may be only an address."""
    body = of_parts(
        {"inlineData": {"mimeType": "audio/wav", "data": "UklG"}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "https://f/1"}},
    )
    assert of_type(body, FileDone) == [
        FileDone("audio/wav", "UklG", index=0),
        FileDone("video/mp4", url="https://f/1", index=1),
    ]


def test_a_draft_image_is_not_the_answer() -> None:
    """An image among the thoughts is kept for replay and not shown."""
    draft = {
        "inlineData": {"mimeType": "image/png", "data": "QQ=="},
        "thought": True,
        "thoughtSignature": "S",
    }
    body = of_parts(draft, text("a"))
    assert of_type(body, FileDone) == []
    assert kept(body) == [draft]


# Parts that nobody knows


def test_an_unknown_part_is_kept_in_place() -> None:
    """A new kind of part is counted by its name, and goes back as it came."""
    part = {"hologram": {"deep": [1, None]}, "thoughtSignature": "S"}
    body = of_parts(text("a"), part, text("b"))
    parser = check_parse(WIRE, body, events_of(body))
    assert dict(parser.unknown) == {"part:hologram": 1}
    assert [content.type for content in parser.message.content] == ["text", "provider", "text"]
    assert kept(body) == [part]


def test_an_unknown_field_beside_known_data() -> None:
    """It says nothing of its own; a part that is kept anyway keeps it."""
    body = of_parts(
        text("a", mood="fine"), {"executableCode": CODE, "partMetadata": {"k": 1}}, {**call("f"), "mood": 1}
    )
    assert kept(body) == [{"executableCode": CODE, "partMetadata": {"k": 1}}]
    assert message_of(body).text == "a"


@pytest.mark.parametrize("value", [7, [], "x", {}, {"id": 3, "toolType": []}], ids=str)
@pytest.mark.parametrize("field", ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"])
def test_tools_of_unexpected_types(field: str, value: Any) -> None:
    """Whatever stands there is kept, and nothing fails."""
    assert kept(of_parts({field: value}))[0][field] == value
