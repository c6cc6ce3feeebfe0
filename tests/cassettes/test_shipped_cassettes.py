"""Every cassette of the repository, found by its place, keeps what the format promises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import vcr

import plait
from plait.cassettes import KEPT_HEADERS, dump, load

FOLDER = Path(__file__).parents[2] / "cassettes"
PATHS = sorted(FOLDER.glob("*/*.yaml"))

every_cassette = pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")


def ends_with(chunks: Iterator[bytes], wire: str, dialect: str | None) -> str | None:
    """The name of the error that ends the stream; None when it is complete."""
    try:
        for _event in plait.parse(chunks, wire, dialect=dialect):
            pass
    except plait.PlaitError as error:
        return type(error).__name__
    return None


def test_every_wire_format_has_a_cassette() -> None:
    """A new wire format brings at least one."""
    wires = {item.wire for path in PATHS for item in load(path).interactions}
    assert wires == set(plait.WIRES)


@every_cassette
def test_it_says_that_it_was_written_by_hand_and_after_what(path: Path) -> None:
    """No cassette passes for a recording."""
    for item in load(path).interactions:
        assert item.provenance is not None
        assert item.provenance.kind == "synthesized"
        assert item.provenance.source is not None
        assert item.provenance.source.startswith("https://")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", item.provenance.date or "")


@every_cassette
def test_it_ends_as_it_says(path: Path) -> None:
    """A stream is complete, unless the cassette names the error that ends it."""
    for item in load(path).interactions:
        assert item.wire is not None
        assert ends_with(item.body_chunks(), item.wire, item.dialect) == item.expect


@every_cassette
def test_nothing_in_it_is_unknown_to_its_parser(path: Path) -> None:
    """What we write ourselves follows the specification, so the parser has no surprise to count."""
    for item in load(path).interactions:
        parser = plait.parser(item.wire or "", dialect=item.dialect)
        parser.feed(item.response.body)
        assert dict(parser.unknown) == {}


@every_cassette
def test_it_holds_no_header_or_text_like_a_key(path: Path) -> None:
    """Only harmless headers are kept, and nothing looks like a credential."""
    text = path.read_text("utf-8")
    assert re.search(r"\bsk-|\bBearer\b|api[-_]?key|authorization|set-cookie", text, re.IGNORECASE) is None
    for item in load(path).interactions:
        assert {*item.request.headers, *item.response.headers} <= KEPT_HEADERS


@every_cassette
def test_it_arrives_in_several_chunks_within_some_seconds(path: Path) -> None:
    """The timing makes a stream look alive, and not long."""
    for item in load(path).interactions:
        assert b"".join(item.body_chunks()) == item.response.body
        assert len(item.chunks) > 3
        assert 1000 <= item.chunks[-1][0] <= 4000


def test_some_chunk_ends_inside_a_character() -> None:
    """Real chunks are cut anywhere, and ours are no kinder."""

    def is_cut(chunk: bytes) -> bool:
        try:
            chunk.decode()
        except UnicodeDecodeError as error:
            return error.reason == "unexpected end of data"
        return False

    assert any(
        is_cut(chunk) for path in PATHS for item in load(path).interactions for chunk in item.body_chunks()
    )


@every_cassette
def test_our_own_writer_gives_the_file_as_it_is(path: Path) -> None:
    """The files are in the form that `save` writes."""
    assert dump(load(path)) == path.read_text("utf-8")


@every_cassette
def test_plain_vcrpy_replays_its_exact_bytes(path: Path) -> None:
    """A client under vcrpy gets the status, the content type and the bytes of the cassette."""
    player = vcr.VCR(record_mode="none")
    with player.use_cassette(str(path)) as cassette, httpx.Client() as client:
        for item in load(path).interactions:
            response = client.request(item.request.method, item.request.uri, content=item.request.body)
            assert response.status_code == item.response.status
            assert response.headers["content-type"] == item.response.headers["content-type"]
            assert response.content == item.response.body
        assert cassette.all_played
