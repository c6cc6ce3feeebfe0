"""`plait plan`: what a target makes of a transcript, before a token is paid for."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import plait
from plait.cli.status import BadArgumentsError, Status
from plait.errors import ConfigurationError, InvalidDataError, UnknownWireError
from plait.providers import target
from plait.wire.plan import RequestPlan

_LIMIT = 64 * 1024 * 1024


def plan(
    transcript: str, to: str, options: dict[str, Any], *, repair: bool, body: bool, as_json: bool
) -> Status:
    """Print the plan. A history the target would refuse is a bad argument, in words that say what to do."""
    try:
        goal = target(to)
        made = plait.plan_request(
            goal.wire,
            _messages(transcript),
            dialect=goal.dialect,
            model=goal.model,
            repair=repair,
            **options,
        )
    except (ConfigurationError, InvalidDataError, UnknownWireError) as error:
        raise BadArgumentsError(str(error)) from None
    if as_json:
        notes = [
            {"kind": note.kind, "what": note.what, "why": note.why, "source": note.source}
            for note in made.notes
        ]
        typer.echo(json.dumps({"wire": made.wire, "body": made.body, "notes": notes}, ensure_ascii=False))
    elif body:
        typer.echo(json.dumps(made.body, ensure_ascii=False, indent=2))
    else:
        _show(made, to)
    return Status.COMPLETE


def _show(made: RequestPlan, to: str) -> None:
    console = Console()
    size = len(json.dumps(made.body, ensure_ascii=False).encode())
    console.print(f"{to}: a {made.wire} request of {size:,} bytes", highlight=False)
    if not made.notes:
        console.print("Everything is sent as it stands.")
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("what", "happens", "why"):
        table.add_column(name, overflow="fold")
    for note in made.notes:
        why = f"{note.why} ({note.source})" if note.source else note.why
        table.add_row(*(Text(cell) for cell in (note.what, note.kind.replace("_", " "), why)))
    console.print(table)


def _messages(transcript: str) -> list[Any]:
    try:
        if transcript == "-":
            data = sys.stdin.buffer.read(_LIMIT + 1)
        else:
            with Path(transcript).open("rb") as file:
                data = file.read(_LIMIT + 1)
    except OSError as error:
        raise BadArgumentsError(
            f"cannot read {transcript!r}: {error.strerror}; "
            "expected a JSON file of messages, or - for standard input"
        ) from None
    if len(data) > _LIMIT:
        raise BadArgumentsError(f"{transcript}: longer than {_LIMIT:,} bytes")
    try:
        messages = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadArgumentsError(f"{transcript}: expected JSON, a list of messages; {error}") from None
    if isinstance(messages, dict) and isinstance(messages.get("messages"), list):
        messages = messages["messages"]
    if not isinstance(messages, list):
        raise BadArgumentsError(f"{transcript}: expected a list of messages, got {type(messages).__name__}")
    return messages
