"""What reading costs, Plait's and its peers': tables, or JSON with `--json`."""

from __future__ import annotations

import argparse
import json
import logging
import platform
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from . import events
from .corpus import corpus
from .imports import BASELINE, imports
from .memory import DELTAS, OPEN, content_size, memory
from .stages import stages
from .streams import WIRES, Kind, stream
from .timing import reading

PACKAGES = (
    "plait", "msgspec", "pydantic", "httpx", "orjson", "openai", "anthropic", "litellm", "pydantic-ai-slim",
    "langchain-openai", "lm15",
)  # fmt: skip
KINDS: tuple[Kind, ...] = ("text", "tool")

Cells = tuple[str, ...]


@dataclass(frozen=True)
class EventCost:
    """Nanoseconds that one event takes to make."""

    name: str
    dropped: float
    kept: float


class Report:
    """What was measured: shown as it comes, or kept for `--json`."""

    def __init__(self, *, silent: bool) -> None:
        self.results: dict[str, dict[str, Any]] = {}
        self._silent = silent

    def add(
        self, section: str, title: str, heads: Cells, rows: Sequence[Any], cells: Callable[[Any], Cells]
    ) -> None:
        """One table: its rows, and what makes the cells of one."""
        self.results.setdefault(section, {})[title] = [asdict(row) for row in rows]
        if not self._silent:
            print(f"\n### {title}\n\n{_table([heads, *map(cells, rows)])}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen sections."""
    options = _options(arguments)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    environment = _environment()
    if not options.json:
        print(_table([("", ""), *environment.items()]))
    report = Report(silent=options.json)
    for section in options.sections:
        SECTIONS[section](options, report)
    if options.json:
        print(json.dumps({"environment": environment, **report.results}, indent=2))
    return 0


def _reading(options: argparse.Namespace, report: Report) -> None:
    def cells(row: Any) -> Cells:
        if row.microseconds is None:
            return row.name, row.note, ""
        return row.name, f"{row.microseconds:.2f}", f"{row.ratio:.2f}" if row.ratio else ""

    for wire, kind in _streams(options):
        source = stream(wire, kind)
        size = len(source.body) / len(source.events)
        title = f"{wire}, {kind}: {len(source.events)} events of {size:.0f} bytes"
        report.add(
            "reading",
            title,
            ("", "µs per event", "times the floor"),
            reading(wire, kind, options.rounds),
            cells,
        )


def _stages(options: argparse.Namespace, report: Report) -> None:
    def cells(row: Any) -> Cells:
        return row.chunks, *(f"{part:.2f}" for part in (row.framing, row.decoding, row.moves, row.whole))

    for wire, kind in _streams(options):
        heads = ("µs per event", "framing", "decoding", "moves", "all")
        report.add("stages", f"{wire}, {kind}: stages", heads, stages(wire, kind, options.rounds), cells)


def _imports(options: argparse.Namespace, report: Report) -> None:
    rows = imports(options.rounds)
    base = next((row.milliseconds for row in rows if row.name == BASELINE), None)

    def cells(row: Any) -> Cells:
        if row.milliseconds is None:
            return row.name, row.note, "", ""
        ratio = f"{row.milliseconds / base:.2f}" if base else ""
        return row.name, f"{row.milliseconds:.0f}", ratio, str(row.modules)

    report.add("imports", "Imports", ("", "ms", f"times {BASELINE}", "modules"), rows, cells)


def _memory(options: argparse.Namespace, report: Report) -> None:
    def cells(row: Any) -> Cells:
        return row.name, f"{row.bytes_each:,.0f}" if row.bytes_each is not None else row.note

    for wire in options.wire:
        rows = memory(wire, OPEN // 10 if options.quick else OPEN)
        size = content_size(wire)
        title = f"{wire}: {rows[0].count:,} open streams, {DELTAS} deltas read, {size:,} bytes of text"
        report.add("memory", title, ("", "bytes each"), rows, cells)


def _events(_options: argparse.Namespace, report: Report) -> None:
    rows = [EventCost(name, *events.measure(make)) for name, make in events.candidates().items()]
    rows.sort(key=lambda row: row.kept)
    heads = ("ns per event", "made and dropped", "made and kept")

    def cells(row: Any) -> Cells:
        return row.name, f"{row.dropped:.0f}", f"{row.kept:.0f}"

    report.add("events", "One event, by what it could be made of", heads, rows, cells)


def _corpus(options: argparse.Namespace, report: Report) -> None:
    def cells(row: Any) -> Cells:
        counts = (f"{count:,}" for count in (row.streams, row.events, row.bytes))
        return row.wire, *counts, f"{row.floor:.2f}", f"{row.plait:.2f}", f"{row.ratio:.2f}"

    heads = ("", "streams", "events", "bytes", "floor, µs per event", "Plait", "times the floor")
    report.add("corpus", "Recorded streams", heads, corpus(options.wire, options.rounds), cells)


SECTIONS: dict[str, Callable[[argparse.Namespace, Report], None]] = {
    "reading": _reading,
    "stages": _stages,
    "imports": _imports,
    "memory": _memory,
    "events": _events,
    "corpus": _corpus,
}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "sections", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS)}; by default all but corpus"
    )
    parser.add_argument("--corpus", action="store_true", help="also the recordings that PLAIT_CORPUS names")
    parser.add_argument("--wire", action="append", choices=WIRES, help="only this wire format; repeatable")
    parser.add_argument("--quick", action="store_true", help="few rounds: rough figures")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(arguments)
    strange = [name for name in options.sections if name not in SECTIONS]
    if strange:
        parser.error(f"no section {', '.join(strange)}; the sections are {', '.join(SECTIONS)}")
    options.sections = options.sections or [name for name in SECTIONS if name != "corpus"]
    if options.corpus and "corpus" not in options.sections:
        options.sections.append("corpus")
    options.wire = options.wire or list(WIRES)
    options.rounds = 3 if options.quick else 15
    return options


def _streams(options: argparse.Namespace) -> Iterable[tuple[str, Kind]]:
    return ((wire, kind) for wire in options.wire for kind in KINDS)


def _environment() -> dict[str, str]:
    facts = {
        "date": datetime.now(UTC).date().isoformat(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
    }
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    return facts


def _table(rows: Sequence[Cells]) -> str:
    """A Markdown table, the first row its heads, as docs/performance.md holds them."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        [
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
    lines.insert(1, ["-" * (width - 1) + (":" if column else "-") for column, width in enumerate(widths)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
