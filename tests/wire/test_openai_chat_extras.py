"""Chat Completions: citations, searches and tools of the server, sound and images."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from chat_bodies import STARTED, STOP, WIRE, chunk, deltas, read, response, stream, text
from checking import check_parse

import plait
from plait.events import (
    Citation,
    Event,
    FileDone,
    ReasoningDelta,
    ReasoningDone,
    ReasoningPart,
    ServerToolCall,
    ServerToolResult,
    TextDelta,
    TextDone,
    WebSearchDone,
    WebSearchStatus,
)

PAGE = {"title": "T", "url": "u"}


def annotation(url: str = "u", **fields: Any) -> dict[str, Any]:
    return {"type": "url_citation", "url_citation": {"url": url, "title": "T", **fields}}


class TestCitations:
    @pytest.mark.parametrize(
        "note",
        [
            annotation(start_index=0, end_index=1),
            {"type": "url_citation", "url": "u", "title": "T", "start_index": 0, "end_index": 1},
        ],
        ids=["nested", "flat"],
    )
    def test_after_the_text(self, note: dict[str, Any]) -> None:
        """OpenAI annotates in a last delta without content; what was cited was found by a search."""
        body = deltas({"content": "a"}, {"annotations": [note]})
        expected = [
            STARTED,
            TextDelta("a", 0),
            Citation("u", "T", None, 0, 1, 0),
            WebSearchDone("", [PAGE], 0),
            TextDone("a", 0),
            STOP,
        ]
        check_parse(WIRE, body, expected)

    def test_before_the_text(self) -> None:
        """OpenRouter annotates first: the citations wait for the text, and make no empty part."""
        body = deltas(
            {"content": "", "annotations": [annotation()]},
            {"content": "", "annotations": [annotation("v")]},
            {"reasoning": "r"},
            {"content": "a"},
        )
        expected = [
            STARTED,
            ReasoningDelta("r", 0),
            ReasoningDone(ReasoningPart("text", "r", format="reasoning"), 0),
            TextDelta("a", 1),
            Citation("u", "T", index=1),
            Citation("v", "T", index=1),
            WebSearchDone("", [PAGE, {"title": "T", "url": "v"}], 1),
            TextDone("a", 1),
            STOP,
        ]
        check_parse(WIRE, body, expected)

    def test_other_annotations(self) -> None:
        """An annotation that is no citation is counted."""
        parser = plait.parser(WIRE)
        parser.feed(deltas({"content": "a", "annotations": [{"type": "file", "file": {}}]}))
        assert dict(parser.unknown) == {"annotation:file": 1}

    def test_whole_body(self) -> None:
        """A non-streaming body cites the same."""
        notes = [annotation(start_index=0, end_index=1)]
        whole = plait.read_response(WIRE, response({"content": "a", "annotations": notes}))
        assert whole == read(deltas({"content": "a"}, {"annotations": notes}))


class TestSearch:
    @pytest.mark.parametrize(
        ("fields", "sources"),
        [
            ({"citations": ["u", "v"]}, [{"title": "", "url": "u"}, {"title": "", "url": "v"}]),
            ({"citations": ["u"], "search_results": [{"title": "T", "url": "u", "date": None}]}, [PAGE]),
            ({"citations": [7, None, {"no": "url"}], "search_results": "none"}, None),
        ],
        ids=["citations", "search_results", "nonsense"],
    )
    def test_lists(self, fields: dict[str, Any], sources: list[dict[str, str]] | None) -> None:
        """What Perplexity and xAI found, on every chunk or the last, is said once, at the end."""
        body = stream({**chunk({"content": "a"}), **fields}, {**chunk({}, "stop"), **fields}, done=False)
        done: list[Event] = [WebSearchDone("", sources, 0)] if sources else []
        check_parse(WIRE, body, [STARTED, TextDelta("a", 0), *done, TextDone("a", 0), STOP])

    def test_executed_search(self) -> None:
        """Groq says that it searches, and then again with what it found."""
        search = {"index": 0, "type": "search", "arguments": '{"query": "q"}'}
        body = deltas(
            {"executed_tools": [{**search, "search_results": {"results": []}}]},
            {"executed_tools": [{**search, "output": "...", "search_results": {"results": [PAGE]}}]},
            {"content": "a"},
        )
        expected = [
            STARTED,
            WebSearchStatus("searching", "q"),
            WebSearchStatus("completed", "q"),
            TextDelta("a", 0),
            WebSearchDone("q", [{"url": "u", "title": "T"}], 0),
            TextDone("a", 0),
            STOP,
        ]
        check_parse(WIRE, body, expected)

    def test_executed_tool(self) -> None:
        """Any other tool that the server runs is reported as such, and is no call of the client's."""
        tool = {"type": "python", "arguments": '{"code": "1+1"}', "output": "2"}
        body = deltas({"executed_tools": [tool]}, {"content": "a"})
        expected = [
            STARTED,
            ServerToolCall("executed_tool_0", "python", {"code": "1+1"}),
            ServerToolResult("executed_tool_0", "python", "2"),
            *text("a"),
            STOP,
        ]
        check_parse(WIRE, body, expected)


class TestSound:
    def test_audio(self) -> None:
        """The transcript is the answer's text; the sound is one file, its id kept for the next request."""
        sound = b"RIFF....WAVEsound"
        pieces = [base64.b64encode(piece).decode() for piece in (sound[:7], sound[7:])]
        body = deltas(
            {"content": None, "audio": {"id": "au", "transcript": "He"}},
            {"audio": {"transcript": "y", "data": pieces[0]}},
            {"audio": {"data": pieces[1]}},
            {"audio": {"expires_at": 9}},
        )
        whole = base64.b64encode(sound).decode()
        expected = [
            STARTED,
            TextDelta("He", 0),
            TextDelta("y", 0),
            FileDone("audio/wav", whole, None, 1),
            TextDone("Hey", 0),
            STOP,
        ]
        parser = check_parse(WIRE, body, expected)
        assert [part.extra for part in parser.message.content if part.type == "text"] == [{"audio_id": "au"}]
        message = response({"content": None, "audio": {"id": "au", "data": whole, "transcript": "Hey"}})
        assert parser.message == plait.read_response(WIRE, message)

    def test_not_base64(self) -> None:
        """Sound that is not base64 is counted, and loses nothing else."""
        parser = plait.parser(WIRE)
        parser.feed(deltas({"audio": {"data": "%%%", "transcript": "a"}}))
        assert (parser.message.text, dict(parser.unknown)) == ("a", {"audio:not base64": 1})


class TestImages:
    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("data:image/png;base64,AAAA", FileDone("image/png", "AAAA", None, 1)),
            ("data:;base64,iVBORw==", FileDone("image/png", "iVBORw==", None, 1)),
            ("https://x.test/a.webp?b=c", FileDone("image/webp", None, "https://x.test/a.webp?b=c", 1)),
            ("https://x.test/a", FileDone("image/*", None, "https://x.test/a", 1)),
        ],
        ids=["data", "data without a type", "url", "url without a type"],
    )
    def test_images(self, url: str, expected: FileDone) -> None:
        """An image is a part in its place; a server that sends it again means the same."""
        image = {"images": [{"type": "image_url", "image_url": {"url": url}}]}
        body = deltas({"content": "a"}, image, image)
        parser = check_parse(WIRE, body, [STARTED, TextDelta("a", 0), expected, TextDone("a", 0), STOP])
        assert parser.message == plait.read_response(WIRE, response({"content": "a", **image}))


def test_google_signature() -> None:
    """Google signs an answer beside its text: kept with the text, or else with the first call."""
    signed = {"google": {"thought_signature": "S"}}
    message = read(deltas({"content": "a"}, {"extra_content": signed}))
    assert [{"extra_content": signed}] == [part.extra for part in message.content if part.type == "text"]
    called = {
        "tool_calls": [{"id": "", "function": {"name": "f", "arguments": "{}"}}],
        "extra_content": signed,
    }
    whole = plait.read_response(WIRE, response(called))
    assert [{"message_extra_content": signed}] == [part.extra for part in whole.tool_calls]


def test_extra_nested_too_deeply() -> None:
    """What cannot become part of a message is counted and left out; the answer is whole."""
    deep: Any = 1
    for _ in range(300):
        deep = {"a": deep}
    call = {"index": 0, "id": "c", "function": {"name": "f"}, "extra_content": deep}
    parser = plait.parser(WIRE)
    parser.feed(deltas({"content": "a", "extra_content": deep}, {"tool_calls": [call]}))
    parser.close()
    assert {"extra_content:nested too deeply": 2} == dict(parser.unknown)
    extras = [part.extra for part in parser.message.content if part.type in ("text", "tool-call")]
    assert extras == [None, None]


def test_half_characters() -> None:
    """A surrogate pair that is cut over two items of content is joined."""
    body = stream(chunk({"content": ["@"]}), chunk({"content": ["#"]}, "stop"))
    body = body.replace(b'"@"', rb'"a\ud83d"').replace(b'"#"', rb'"\ude00"')
    assert read(body).text == "a\U0001f600"
