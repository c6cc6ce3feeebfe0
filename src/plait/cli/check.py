"""`plait check`: the laws on recordings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from plait.cli.recordings import found_sources, worked
from plait.cli.report import write_json
from plait.cli.show import Terminal, printable
from plait.cli.status import BadArgumentsError, Status
from plait.conformance.checking import NAMES, check_recording
from plait.conformance.law import Breach
from plait.conformance.recordings import Recording, Skipped, Source

_KINDS = {"stream": "streams", "body": "bodies", "error": "errors"}


class _Checked(msgspec.Struct, frozen=True):
    """A recording and what is broken."""

    file: str
    interaction: int | None
    wire: str
    kind: str
    breaches: list[Breach]


def check(
    paths: Sequence[str],
    *,
    wire: str | None,
    laws: Sequence[str],
    report: str | None,
    jobs: int | None,
    fail_fast: bool,
) -> Status:
    """Check the recordings, and print what is broken and a table of it all."""
    for name in laws:
        if name not in NAMES:
            close = get_close_matches(name.lower().replace("-", "_"), NAMES, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise BadArgumentsError(f"--law: expected one of {', '.join(NAMES)}, got {name!r}{hint}")
    sources = found_sources(paths, wire)
    checked: list[_Checked] = []
    skipped: list[Skipped] = []
    work = partial(_check, laws=tuple(laws) or None)
    groups = worked(work, sources, jobs, "checking")
    for group in groups:
        checked += (item for item in group if isinstance(item, _Checked))
        skipped += (item for item in group if isinstance(item, Skipped))
        if fail_fast and any(isinstance(item, _Checked) and item.breaches for item in group):
            groups.close()
            break
    order = {source.file: place for place, source in enumerate(sources)}
    checked.sort(key=lambda item: (order[item.file], item.interaction or 0))
    skipped.sort(key=lambda item: (order[item.file], item.interaction or 0))
    if not checked:
        raise BadArgumentsError(_nothing(paths, skipped))
    if report is not None:
        write_json(report, _document(checked, skipped), "--json")
    if report != "-":
        _print(checked, skipped)
    return Status.FAILED if any(item.breaches for item in checked) else Status.COMPLETE


def _check(sources: Sequence[Source], *, laws: Sequence[str] | None) -> list[_Checked | Skipped]:
    results: list[_Checked | Skipped] = []
    for source in sources:
        for found in source.recordings():
            if isinstance(found, Recording):
                breaches = check_recording(found, laws)
                results.append(_Checked(found.file, found.interaction, found.wire, found.kind, breaches))
            else:
                results.append(found)
    return results


def _nothing(paths: Sequence[str], skipped: Sequence[Skipped]) -> str:
    reasons = "; ".join(f"{reason} ({count})" for reason, count in _reasons(skipped).most_common(3))
    return f"no recorded response in {', '.join(paths)}: {reasons}"


def _reasons(skipped: Sequence[Skipped]) -> Counter[str]:
    return Counter(printable(item.reason) for item in skipped)


def _counts(checked: Sequence[_Checked]) -> dict[str, Counter[str]]:
    """Per wire format, how many of each kind, and breaches."""
    wires: dict[str, Counter[str]] = {}
    for item in checked:
        counts = wires.setdefault(item.wire, Counter())
        counts[_KINDS[item.kind]] += 1
        counts["breaches"] += len(item.breaches)
    return dict(sorted(wires.items()))


def _document(checked: Sequence[_Checked], skipped: Sequence[Skipped]) -> dict[str, Any]:
    columns = (*_KINDS.values(), "breaches")
    return {
        "wires": {
            wire: {column: counts[column] for column in columns} for wire, counts in _counts(checked).items()
        },
        "breaches": [
            {"file": item.file, "interaction": item.interaction, "wire": item.wire, "kind": item.kind,
             "law": breach.law, "message": breach.message}
            for item in checked for breach in item.breaches
        ],
        "skipped": [msgspec.to_builtins(item) for item in skipped],
    }  # fmt: skip


def _print(checked: Sequence[_Checked], skipped: Sequence[Skipped]) -> None:
    terminal = Terminal()
    for item in checked:
        if item.breaches:
            where = item.file if item.interaction is None else f"{item.file}, interaction {item.interaction}"
            terminal.print(Text(f"{printable(where)} ({item.wire} {item.kind})", "bold"))
            for breach in item.breaches:
                terminal.print(Text.assemble("  ", (breach.law, "red"), f": {printable(breach.message)}"))
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("wire")
    columns = (*_KINDS.values(), "breaches")
    for column in columns:
        table.add_column(column, justify="right")
    counts = _counts(checked)
    for wire, row in counts.items():
        table.add_row(wire, *(f"{row[column]:,}" for column in columns))
    if len(counts) > 1:
        whole = sum(counts.values(), Counter())
        table.add_row("all", *(f"{whole[column]:,}" for column in columns), style="bold")
    terminal.print(table)
    if skipped:
        terminal.print(f"skipped: {len(skipped):,}")
        for reason, count in _reasons(skipped).most_common():
            example = next(item.file for item in skipped if printable(item.reason) == reason)
            terminal.print(Text(f"  {count:,}: {reason} ({printable(example)})", "dim"))
