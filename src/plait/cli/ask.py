"""`plait ask`: a live call, with its events as they come."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import typer

from plait.cli.events import write_lines
from plait.cli.live import Live
from plait.cli.show import Terminal, printable
from plait.cli.status import BadArgumentsError, Status, status_of
from plait.errors import ConfigurationError, InvalidDataError, PlaitError, UnknownWireError
from plait.transport import Model, Retry

_LIMIT = 16 * 1024 * 1024


def ask(
    name: str,
    question: str,
    *,
    system: str | None,
    options: Mapping[str, Any],
    model_options: Mapping[str, Any],
    as_json: bool,
) -> Status:
    """Ask, and print the answer: as JSON lines, or for people.

    Args:
        name: `PROVIDER/MODEL`
        question: the user's message; `-` reads standard input
        system: the system message
        options: request options
        model_options: what `Model` takes beside the name
        as_json: print events as JSON lines

    Returns how the answer ended.
    """
    messages = [{"role": "system", "content": system}] if system is not None else []
    messages.append({"role": "user", "content": _text(question)})
    live = None if as_json else Live(Terminal())

    def retrying(retry: Retry) -> None:
        why = printable(str(retry.error))
        words = f"attempt {retry.attempt} failed ({why}); the next in {retry.wait:.1f} s"
        if live is not None:
            live.line(words, "yellow")
        else:
            typer.echo(f"plait: {words}", err=True)

    start = time.monotonic()
    error: PlaitError | None = None
    try:
        with (
            Model(name, on_retry=retrying, **model_options) as model,
            model.stream(messages, **options) as stream,
        ):
            for event in stream:
                if live is not None:
                    live.show([event])
                else:
                    write_lines([event])
    except (ConfigurationError, InvalidDataError, UnknownWireError) as problem:
        raise BadArgumentsError(str(problem)) from None
    except PlaitError as problem:
        error = problem
    if live is not None:
        live.end(error, time.monotonic() - start)
    elif error is not None:
        write_lines([], error)
    return status_of(error)


def _text(question: str) -> str:
    if question != "-":
        return question
    data = sys.stdin.buffer.read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise BadArgumentsError(f"standard input: longer than {_LIMIT:,} bytes")
    return data.decode("utf-8", "replace")
