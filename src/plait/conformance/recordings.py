"""Recorded responses under files and folders: cassettes, corpora, and bodies on their own.

    for found in recordings(["cassettes", "answer.sse"]):
        ...

A folder's cassettes (vcrpy's and Ruby VCR's, YAML or JSON) hold one recording for each interaction. A folder
with an `index.jsonl` is a corpus: each line names a body's `file`, its `wire`, and the `status` it came with.
Any other file is a body, if it looks like one. What is no response is given as well: as `Skipped`, with the
reason.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from plait.cassettes import Cassette, Interaction, guess_wire, is_cassette_start, load, loads
from plait.cassettes.reading import NEEDS_YAML
from plait.errors import CassetteError
from plait.wire import WIRES

Kind: TypeAlias = Literal["stream", "body", "error"]
"""A streamed answer; a whole one as JSON; what came with an HTTP status of 400 and up."""

INDEX = "index.jsonl"

CASSETTE_SUFFIXES = frozenset({".yaml", ".yml"})
BODY_SUFFIXES = frozenset({".sse", ".eventstream", ".bin", ".ndjson", ".jsonl", ".json", ".txt"})
"""Files of a folder that may be a body, when no index says so; a file that is named is read in any case."""

CORPUS_WIRES: Mapping[str, str] = {"cohere-v2": "cohere-chat"}
"""Names that corpora have for our wire formats."""

_METHODS: Mapping[str | None, frozenset[str]] = {
    None: frozenset({"POST", "PUT"}),
    "openai-responses": frozenset(
        {"POST", "PUT", "GET"}
    ),  # a stored response is fetched, and streamed, again
}


class Recording(msgspec.Struct, frozen=True):
    """One recorded response.

    Attributes:
        file: where it is
        wire: its wire format: said by the file, or guessed
        kind: how it came
        body: its bytes, without content encoding
        interaction: its number in its cassette, counted from 1; None for a body on its own
        dialect: the server's dialect, where the file says it
        status: the HTTP status, when known
        headers: the response's headers, names in lower case
    """

    file: str
    wire: str
    kind: Kind
    body: bytes
    interaction: int | None = None
    dialect: str | None = None
    status: int | None = None
    headers: Mapping[str, str] = {}

    @property
    def where(self) -> str:
        """The file, and which interaction of it."""
        return self.file if self.interaction is None else f"{self.file}, interaction {self.interaction}"


class Skipped(msgspec.Struct, frozen=True):
    """What is no recording that can be read, and why."""

    file: str
    reason: str
    interaction: int | None = None


class Source(msgspec.Struct, frozen=True):
    """A file that may hold recordings; small, so that it can be handed to another process.

    Attributes:
        file: its path
        wire: the wire format of a body that does not say its own; others are left out
        named: whether it was asked for by name, and not found in a folder
        entry: its line in a corpus's index
    """

    file: str
    wire: str | None = None
    named: bool = False
    entry: dict[str, Any] | None = None

    def recordings(self) -> Iterator[Recording | Skipped]:
        """What the file holds; read when it is asked for.

        Raises:
            CassetteError: PyYAML is not installed
        """
        try:
            for found in self._found():
                if self.wire is not None and isinstance(found, Recording) and found.wire != self.wire:
                    yield Skipped(found.file, f"{found.wire}, not {self.wire}", found.interaction)
                else:
                    yield found
        except CassetteError as error:
            if str(error) == NEEDS_YAML:
                raise
            yield Skipped(self.file, str(error).removeprefix(f"{self.file}: "))
        except OSError as error:
            yield Skipped(self.file, f"cannot be read: {error.strerror or error}")

    def _found(self) -> Iterator[Recording | Skipped]:
        path = Path(self.file)
        suffix = path.suffix.lower()
        if self.entry is not None:
            yield _of_entry(self.file, self.entry, path.read_bytes())
        elif suffix in CASSETTE_SUFFIXES:
            yield from _of_cassette(self.file, load(path))
        elif not self.named and suffix not in BODY_SUFFIXES:
            yield Skipped(self.file, f"no recording's file name: *{path.suffix}")
        else:
            body = path.read_bytes()
            if is_cassette_start(body):
                yield from _of_cassette(self.file, loads(body, name=self.file))
            else:
                yield _of_body(self.file, body, self.wire)


def recordings(
    paths: Iterable[str | os.PathLike[str]], *, wire: str | None = None
) -> Iterator[Recording | Skipped]:
    """Every recorded response in these files and folders, in order of their names.

    Args:
        paths: cassettes, bodies, and folders of them, searched to the bottom
        wire: the wire format of bodies that do not say their own; recordings of another are skipped

    Raises:
        FileNotFoundError: there is no such path
        CassetteError: there is a cassette, and PyYAML is not installed
    """
    for source in sources(paths, wire=wire):
        yield from source.recordings()


def sources(paths: Iterable[str | os.PathLike[str]], *, wire: str | None = None) -> list[Source]:
    """The files that `recordings` reads, each once; only indexes are opened. Raises as `recordings`."""
    found: dict[str, Source] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise FileNotFoundError(2, "no such file or folder", os.fspath(path))
        if path.is_dir():
            for source in _in_folder(path, wire):
                found.setdefault(source.file, source)
        elif path.name == INDEX:
            for source in _in_index(path, wire):
                found.setdefault(source.file, source)
        else:
            found[os.fspath(path)] = Source(os.fspath(path), wire, named=True)
    return list(found.values())


def _in_folder(folder: Path, wire: str | None) -> Iterator[Source]:
    listed: set[str] = set()
    found: list[str] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        if INDEX in files:
            for source in _in_index(Path(parent, INDEX), wire):
                listed.add(source.file)
                yield source
        found += (os.path.join(parent, name) for name in sorted(files) if name != INDEX and name[0] != ".")
    yield from (Source(file, wire) for file in found if file not in listed)


def _in_index(index: Path, wire: str | None) -> Iterator[Source]:
    """The bodies an index lists; their paths begin at its folder, or at the folder of several corpora."""
    for line in index.read_text("utf-8").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            continue
        here, above = index.parent / entry["file"], index.parent.parent / entry["file"]
        path = above if above.exists() and not here.exists() else here
        kept = {key: entry.get(key) for key in ("wire", "kind", "status", "url")}
        yield Source(os.fspath(path), wire, entry=kept)


def _of_entry(file: str, entry: Mapping[str, Any], body: bytes) -> Recording | Skipped:
    said, status, url = entry["wire"], entry["status"], entry["url"]
    wire = CORPUS_WIRES.get(said, said) if isinstance(said, str) else guess_wire(url, body)
    if wire not in WIRES:
        return Skipped(file, f"no wire format that can be read: {wire}")
    if not isinstance(status, int):
        status = None
    failed = entry["kind"] == "error" or (status or 0) >= 400
    return Recording(file, wire, "error" if failed else _kind(body), body, status=status)


def _of_body(file: str, body: bytes, wire: str | None) -> Recording | Skipped:
    wire = wire or guess_wire(None, body)
    if not body.strip():
        return Skipped(file, "an empty file")
    if wire not in WIRES:
        return Skipped(file, "the body says no wire format: say --wire, if it has one")
    return Recording(file, wire, _kind(body), body)


def _of_cassette(file: str, cassette: Cassette) -> Iterator[Recording | Skipped]:
    for number, interaction in enumerate(cassette.interactions, 1):
        reason = _reason(interaction)
        if reason is not None:
            yield Skipped(file, reason, number)
            continue
        response = interaction.response
        kind = "error" if response.status >= 400 else _kind(response.body)
        yield Recording(
            file, interaction.wire or "", kind, response.body, number, interaction.dialect, response.status,
            response.headers,
        )  # fmt: skip


def _reason(interaction: Interaction) -> str | None:
    """Why an interaction is no answer to a chat; None when it is one."""
    request, response = interaction.request, interaction.response
    said = interaction.provenance is not None or interaction.chunks
    if interaction.wire is None:
        return "neither URL nor body says a wire format"
    if interaction.wire not in WIRES:
        return f"no wire format that can be read: {interaction.wire}"
    if request.method not in _METHODS.get(interaction.wire, _METHODS[None]) and not said:
        return f"a {request.method} request, not an answer"
    if 300 <= response.status < 400 or response.status < 200:
        return f"HTTP {response.status}, neither an answer nor an error"
    if response.status < 400 and not response.body:
        return f"HTTP {response.status} without a body"
    return None


def _kind(body: bytes) -> Kind:
    start = body[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start != b"{":
        return "stream"
    try:
        msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"), type=msgspec.Raw)
    except msgspec.DecodeError as error:
        return "stream" if "trailing" in str(error) else "body"
    return "body"
