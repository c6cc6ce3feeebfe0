"""`plait drift`: what recordings contain that no parser reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from plait.cli.recordings import found_sources, worked
from plait.cli.report import write_json
from plait.cli.show import Terminal, printable
from plait.cli.status import BadArgumentsError, Status
from plait.conformance.drift import Baseline, Drift, drift, read_baseline
from plait.conformance.recordings import Recording, Source
from plait.errors import InvalidDataError


def find_drift(
    paths: Sequence[str],
    *,
    wire: str | None,
    since: str | None,
    report: str | None,
    write_baseline: str | None,
    jobs: int | None,
) -> Status:
    """Find the drift of the recordings and print it; with `since` only what that baseline does not list."""
    known = _read(since, "--since") if since is not None else {}
    sources = found_sources(paths, wire)
    found = Drift()
    read: Counter[str] = Counter()
    skipped = 0
    for group in worked(_drift, sources, jobs, "reading"):
        for wires, skips, part in group:
            read.update(wires)
            skipped += skips
            found.add(part)
    if not read:
        raise BadArgumentsError(
            f"no recorded response in {', '.join(paths)}: expected cassettes or bodies of responses"
        )
    shown = found.without(known) if since is not None else found
    if write_baseline is not None:
        reasons = _read(write_baseline, "--write-baseline") if Path(write_baseline).exists() else known
        write_json(write_baseline, found.baseline(reasons), "--write-baseline")
    if report is not None:
        document = {"recordings": dict(sorted(read.items())), "skipped": skipped, "drift": shown.to_dict()}
        write_json(report, document, "--json")
    if "-" not in (report, write_baseline):
        _print(shown, read, skipped, since)
    return Status.FAILED if since is not None and shown else Status.COMPLETE


def _drift(sources: Sequence[Source]) -> list[tuple[Counter[str], int, Drift]]:
    found = Drift()
    read: Counter[str] = Counter()
    skipped = 0
    for source in sources:
        for recording in source.recordings():
            if isinstance(recording, Recording):
                read[recording.wire] += 1
                found.add(drift(recording.wire, recording.body, dialect=recording.dialect))
            else:
                skipped += 1
    return [(read, skipped, found)]


def _read(file: str, option: str) -> Baseline:
    try:
        return read_baseline(Path(file).read_bytes())
    except OSError as error:
        raise BadArgumentsError(f"{option}: cannot read {file!r}: {error.strerror or error}") from None
    except InvalidDataError as error:
        raise BadArgumentsError(f"{option}: {file}: {error}") from None


def _print(found: Drift, read: Counter[str], skipped: int, since: str | None) -> None:
    terminal = Terminal()
    for wire in found.wires:
        table = Table(box=None, header_style="bold", pad_edge=False, title=wire, title_justify="left")
        table.add_column("kind")
        table.add_column("path or value", overflow="fold")
        table.add_column("count", justify="right")
        table.add_column("example", overflow="fold", style="dim")
        for row in found.rows(wire):
            table.add_row(
                row.kind, Text(printable(row.name)), f"{row.count:,}", Text(printable(row.example or ""))
            )
        terminal.print(table)
        terminal.print()
    what = f"not in {since}" if since is not None else "not read"
    rows = sum(len(found.rows(wire)) for wire in found.wires)
    left_out = f"; {skipped:,} skipped" if skipped else ""
    terminal.print(f"{rows:,} {what}, in {read.total():,} recordings of {len(read)} wire formats{left_out}")
