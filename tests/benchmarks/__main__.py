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
from pathlib import Path
from typing import Any

from . import events
from .corpus import corpus
from .imports import BASELINE, imports
from .memory import DELTAS, OPEN, content_size, memory
from .stages import stages
from .streams import WIRES, Kind
from .targets import Target, import_targets, reading_targets
from .timing import reading

PACKAGES = (
    "plait", "msgspec", "pydantic", "httpx", "orjson", "openai", "anthropic", "litellm", "pydantic-ai-slim",
    "langchain-openai", "lm15",
)  # fmt: skip
PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
KINDS: tuple[Kind, ...] = ("text", "tool")

Cells = tuple[str, ...]


@dataclass(frozen=True)
class EventCost:
    """Nanoseconds that one event takes to make."""

    name: str
    dropped: float
    kept: float


class Report:
    """What was measured: shown as it comes unless `silent`, and kept."""

    def __init__(self, *, silent: bool) -> None:
        self.rows: dict[str, dict[str, Sequence[Any]]] = {}
        self.text = ""
        self._silent = silent

    def add(
        self, section: str, title: str, heads: Cells, rows: Sequence[Any], cells: Callable[[Any], Cells]
    ) -> None:
        """One table: its rows, and what makes the cells of one."""
        self.rows.setdefault(section, {})[title] = rows
        self.say(f"### {title}\n\n{_table([heads, *map(cells, rows)])}\n")

    def say(self, text: str) -> None:
        """A piece of the report."""
        self.text += text + "\n"
        if not self._silent:
            print(text, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen sections."""
    options = _options(arguments)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    report = Report(silent=options.json)
    environment = _environment()
    report.say(", ".join(f"{name} {value}" for name, value in environment.items()) + ".\n")
    for section in options.sections:
        SECTIONS[section](options, report)
    _targets(report)
    if options.write:
        _write(report.text)
    if options.json:
        rows = {
            section: {title: [asdict(row) for row in table] for title, table in tables.items()}
            for section, tables in report.rows.items()
        }
        print(json.dumps({"environment": environment, **rows}, indent=2))
    return 0


def _reading(options: argparse.Namespace, report: Report) -> None:
    def cells(row: Any) -> Cells:
        if row.microseconds is None:
            return row.name, row.note, ""
        return row.name, f"{row.microseconds:.2f}", f"{row.ratio:.2f}" if row.ratio else ""

    for wire, kind in _streams(options):
        rows = reading(wire, kind, options.rounds)
        report.add("reading", f"{wire}, {kind}", ("", "µs per event", "times the floor"), rows, cells)


def _stages(options: argparse.Namespace, report: Report) -> None:
    def cells(row: Any) -> Cells:
        return row.chunks, *(f"{part:.2f}" for part in (row.framing, row.decoding, row.moves, row.whole))

    for wire, kind in _streams(options):
        heads = ("µs per event", "framing", "decoding", "moves", "all")
        report.add("stages", f"{wire}, {kind}: stages", heads, stages(wire, kind, options.rounds), cells)


def _imports(options: argparse.Namespace, report: Report) -> None:
    rows = imports(min(options.rounds, 7))
    base = next((row.milliseconds for row in rows if row.name == BASELINE), None)

    def cells(row: Any) -> Cells:
        if row.milliseconds is None:
            return row.name, row.note, "", ""
        ratio = f"{row.milliseconds / base:.2f}" if base else ""
        return row.name, f"{row.milliseconds:.0f}", ratio, str(row.modules)

    report.add("imports", "Imports", ("", "ms", f"times {BASELINE}", "modules"), rows, cells)


def _memory(options: argparse.Namespace, report: Report) -> None:
    def cells(row: Any) -> Cells:
        return (
            row.name,
            f"{row.count:,}",
            f"{row.bytes_each:,.0f}" if row.bytes_each is not None else row.note,
        )

    for wire in options.wire:
        rows = memory(wire, OPEN // 10 if options.quick else OPEN)
        title = f"{wire}: {DELTAS} deltas read, {content_size(wire):,} bytes of text"
        report.add("memory", title, ("", "open streams", "bytes each"), rows, cells)


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


def _targets(report: Report) -> None:
    rows: list[Target] = []
    if "reading" in report.rows:
        rows += reading_targets(report.rows["reading"])
    for table in report.rows.get("imports", {}).values():
        rows += import_targets(table)

    def cells(row: Target) -> Cells:
        return row.name, row.wanted, f"{row.measured:.2f}", "yes" if row.reached else "no"

    if rows:
        report.add("targets", "Targets", ("", "wanted", "measured", "reached"), rows, cells)


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
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE.name}")
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


def _write(text: str) -> None:
    page = PAGE.read_text("utf-8")
    before, begin, rest = page.partition(BEGIN)
    _old, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} has no place for the tables: {BEGIN} ... {END}")
    PAGE.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}", "utf-8")


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
