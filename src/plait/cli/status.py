"""Exit statuses, and what turns faults into them."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from enum import IntEnum
from typing import NoReturn

import typer

from plait.errors import (
    CassetteError,
    ConfigurationError,
    IncompleteStreamError,
    PlaitError,
    ProtocolError,
    ProviderError,
    UnknownWireError,
)


class Status(IntEnum):
    """What the commands exit with."""

    COMPLETE = 0
    FAILED = 1
    BAD_ARGUMENTS = 2
    INCOMPLETE = 3
    PROVIDER_ERROR = 4
    NOT_THE_WIRE = 5
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    """As a program that SIGPIPE ended: `plait events F | head -1` ends like `cat F | head -1`."""


HELP = (
    "Exit status: 0 complete; 2 bad arguments; 3 the stream is incomplete; 4 the provider reported an error; "
    "5 the bytes are not the wire format."
)


class BadArgumentsError(Exception):
    """What the user asked for cannot be done; the text says what was expected, what came, what to do."""


def status_of(error: PlaitError | None) -> Status:
    """The exit status for how a stream ended."""
    match error:
        case None:
            return Status.COMPLETE
        case IncompleteStreamError():
            return Status.INCOMPLETE
        case ProviderError():
            return Status.PROVIDER_ERROR
        case ProtocolError():
            return Status.NOT_THE_WIRE
    return Status.FAILED


def run(command: Callable[[], Status]) -> NoReturn:
    """Run a command's body and end the process with its status; a fault becomes one line on stderr."""
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        status = command()
        sys.stdout.flush()
    except (BadArgumentsError, CassetteError, ConfigurationError, UnknownWireError) as error:
        typer.echo(f"plait: {error}", err=True)
        status = Status.BAD_ARGUMENTS
    except BrokenPipeError:
        _forget_stdout()
        status = Status.BROKEN_PIPE
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    except OSError as error:
        _forget_stdout()
        typer.echo(f"plait: reading or writing failed: {error.strerror or error}", err=True)
        status = Status.FAILED
    raise typer.Exit(status)


def _forget_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter does not complain at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
