"""Server tools, images and files of a history -> Anthropic's blocks."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic_requests import FORMAT, planned, tool_use
from histories import assistant, call, results, text, user

from plait.errors import InvalidDataError

PNG = "iVBORw0KGgo="
PDF = "JVBERi0="


def block(type: str, **data: Any) -> dict[str, Any]:
    return {"type": "provider", "format": FORMAT, "data": {"type": type, **data}}


# Server tools


SEARCH = block("server_tool_use", id="srvtoolu_1", name="web_search", input={"query": "q"})
FOUND = block(
    "web_search_tool_result",
    tool_use_id="srvtoolu_1",
    content=[
        {"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "E", "page_age": None}
    ],
)
CITED: dict[str, Any] = {
    "type": "text",
    "text": "So it is.",
    "citations": [
        {
            "format": FORMAT,
            "data": {
                "type": "web_search_result_location",
                "url": "u",
                "title": "t",
                "cited_text": "c",
                "encrypted_index": "I",
            },
        },
        {"format": "other", "data": {"x": 1}},
    ],
}


def test_blocks_of_server_tools_and_citations_go_back_verbatim() -> None:
    """Both halves of a search, and the citations of this wire, keep their place and content."""
    body, _ = planned([user("Hi"), assistant("Let me see.", SEARCH, FOUND, CITED), user("Go on")])
    cited = {**text("So it is."), "citations": [CITED["citations"][0]["data"]]}
    expected = [text("Let me see."), SEARCH["data"], FOUND["data"], cited]
    assert body["messages"][1]["content"] == expected


def test_a_search_that_was_not_done_may_end_the_history() -> None:
    """After `pause_turn` the answer is sent back as it is; the result begins the next one."""
    body, notes = planned([user("Hi"), assistant(SEARCH)])
    assert (body["messages"][1]["content"], notes) == ([SEARCH["data"]], [])
    body, notes = planned([user("Hi"), assistant(SEARCH), assistant(FOUND, "Done"), user("Thanks")])
    assert (body["messages"][1]["content"], notes) == ([SEARCH["data"], FOUND["data"], text("Done")], [])


def test_a_search_may_be_open_while_client_tools_are_answered() -> None:
    """Only results of client tools may come between the two halves."""
    history = [user("Hi"), assistant(SEARCH, call("c1")), results(c1="x")]
    body, notes = planned(history)
    assert (body["messages"][1]["content"], notes) == ([SEARCH["data"], tool_use("c1")], [])
    body, notes = planned([*history, user("Wait")])
    assert body["messages"][1]["content"] == [tool_use("c1")]
    assert notes == [("dropped", "messages[1].content[0]")]


def test_a_result_without_its_search_is_dropped_with_what_cites_it() -> None:
    """Half a pair is never sent; citations point into what is gone."""
    body, notes = planned([user("Hi"), assistant(FOUND, CITED), user("Go on")])
    foreign, half, cited = notes
    assert foreign == cited == ("dropped", "messages[1].content[1].citations")
    assert half == ("dropped", "messages[1].content[0]")
    assert body["messages"][1]["content"] == "So it is."


@pytest.mark.parametrize("tools", [pytest.param(True, id="with it"), pytest.param(False, id="without it")])
def test_advice_needs_the_advisor(tools: bool) -> None:
    """The advisor's blocks are refused unless it is one of the tools."""
    advice = {"type": "advisor_result", "text": "Do."}
    history = [
        user("Hi"),
        assistant(
            block("server_tool_use", id="s1", name="advisor", input={}),
            block("advisor_tool_result", tool_use_id="s1", content=advice),
            "Yes",
        ),
        user("Go on"),
    ]
    extra = {"tools": [{"type": "advisor_20260301", "name": "advisor", "model": "m"}]} if tools else {}
    body, notes = planned(history, extra=extra)
    assert len(notes) == (0 if tools else 2)
    assert len(body["messages"][1]["content"]) == 3


def test_other_blocks_of_the_provider_go_back_in_place() -> None:
    """A compaction is sent whole; its content may be null, but not empty."""
    body, _ = planned([user("Hi"), assistant(block("compaction", content=""), "Yes"), user("Go on")])
    assert body["messages"][1]["content"] == [{"type": "compaction", "content": None}, text("Yes")]


def test_bedrock_takes_no_server_tools() -> None:
    """What another host's server tools left is dropped, with notes."""
    body, notes = planned(
        [user("Hi"), assistant(SEARCH, FOUND, CITED), user("Go on")], dialect="bedrock", web_search=True
    )
    expected = [
        ("dropped", "messages[1].content[0]"),
        ("dropped", "messages[1].content[1]"),
        ("dropped", "messages[1].content[2].citations"),
        ("dropped", "web_search"),
    ]
    assert (body["messages"][1]["content"], sorted(set(notes))) == ("So it is.", expected)


# Images and files


def source(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, **data}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        pytest.param(
            {"type": "image", "image": {"type": "data", "data": PNG, "media_type": "image/jpg"}},
            {"type": "image", "source": source("base64", media_type="image/jpeg", data=PNG)},
            id="image",
        ),
        pytest.param(
            {"type": "image", "image": {"type": "url", "url": "https://x.org/a"}},
            {"type": "image", "source": source("url", url="https://x.org/a")},
            id="image by URL",
        ),
        pytest.param(
            {"type": "file", "data": {"type": "data", "data": PDF}, "filename": "a.pdf"},
            {
                "type": "document",
                "source": source("base64", media_type="application/pdf", data=PDF),
                "title": "a.pdf",
            },
            id="pdf",
        ),
        pytest.param(
            {"type": "file", "data": {"type": "url", "url": "https://x.org/a.pdf"}},
            {"type": "document", "source": source("url", url="https://x.org/a.pdf")},
            id="pdf by URL",
        ),
        pytest.param(
            {"type": "file", "data": {"type": "data", "data": "aMOp"}, "media_type": "text/plain"},
            {"type": "document", "source": source("text", media_type="text/plain", data="hé")},
            id="text",
        ),
        pytest.param(
            {"type": "file", "data": {"type": "data", "data": PNG}, "media_type": "image/png"},
            {"type": "image", "source": source("base64", media_type="image/png", data=PNG)},
            id="file that is an image",
        ),
    ],
)
def test_images_and_files(part: dict[str, Any], expected: dict[str, Any]) -> None:
    """Each kind that is taken, as data and by URL."""
    body, notes = planned([user(part)])
    assert (body["messages"][0]["content"], notes) == ([expected], [])


def test_text_in_another_notation_is_plain_text() -> None:
    """A text document has one media type; the note says that it is another."""
    part = {"type": "file", "data": {"type": "data", "data": "e30="}, "media_type": "application/json"}
    body, notes = planned([user(part)])
    document = body["messages"][0]["content"][0]
    assert document["source"] == source("text", media_type="text/plain", data="{}")
    assert notes == [("demoted", "messages[0].content[0]")]


@pytest.mark.parametrize(
    ("part", "dialect", "message"),
    [
        pytest.param(
            {"type": "file", "data": {"type": "data", "data": "AAAA"}, "media_type": "audio/wav"},
            None,
            r"messages\[0\]\.content\[0\]: this target does not take audio/wav",
            id="sound",
        ),
        pytest.param(
            {"type": "image", "image": {"type": "data", "data": "AAAA", "media_type": "image/bmp"}},
            None,
            "image/bmp: it takes PNG, JPEG",
            id="bitmap",
        ),
        pytest.param(
            {"type": "file", "data": {"type": "url", "url": "https://x.org/a.txt"}},
            None,
            "resolve",
            id="text by URL",
        ),
        pytest.param(
            {"type": "image", "image": {"type": "url", "url": "https://x.org/a"}},
            "vertex",
            r"part\.resolve\(\)",
            id="URL on Vertex",
        ),
        pytest.param(
            {"type": "image", "image": {"type": "url", "url": "https://x.org/a"}},
            "bedrock",
            r"resolve=True",
            id="URL on Bedrock",
        ),
        pytest.param(
            {"type": "image", "image": {"type": "url", "url": "gs://b/a.png"}}, None, "http", id="not http"
        ),
        pytest.param(
            {"type": "file", "data": {"type": "data", "data": "/w=="}, "media_type": "text/csv"},
            None,
            "byte 0",
            id="text that is no UTF-8",
        ),
    ],
)
def test_content_that_is_not_taken_is_an_error(part: Any, dialect: str | None, message: str) -> None:
    """The error names the part, what is taken, and what to do."""
    with pytest.raises(InvalidDataError, match=message):
        planned([user(part)], dialect=dialect)


def test_an_image_that_another_model_made_is_dropped_with_a_note() -> None:
    """An assistant message holds no images here."""
    image = {"type": "image", "image": {"type": "data", "data": PNG, "media_type": "image/png"}}
    body, notes = planned([user("Draw"), assistant("Here:", image), user("Thanks")])
    assert body["messages"][1] == {"role": "assistant", "content": "Here:"}
    assert notes == [("dropped", "messages[1].content[1]")]


def test_detail_of_an_image_cannot_be_chosen() -> None:
    """`high` is dropped with a note; `auto` is what happens anyway."""
    image = {"type": "image", "image": {"type": "data", "data": PNG, "media_type": "image/png"}}
    _, notes = planned([user({**image, "detail": "high"}, {**image, "detail": "auto"})])
    assert notes == [("dropped", "messages[0].content[0].detail")]
