"""The laws on recordings: which of them apply to what was recorded, and what is broken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import plait
from plait.conformance import LAWS, Breach, check
from plait.conformance.reading import Subject, shorten
from plait.conformance.recordings import Recording
from plait.errors import ProviderError

ERROR_LAW = "error"
"""Name of what is checked of an error body: that it is a typed error, with its facts."""

BODY_LAWS = ("text", "tool_calls", "reasoning", "ending", "index", "one_reading", "round_trip")
"""Laws that say something of an answer that came whole; where it is cut matters little."""

NAMES = (*LAWS, ERROR_LAW)
"""What `check_recording` takes as names of laws."""


def check_recording(recording: Recording, laws: Iterable[str] | None = None) -> list[Breach]:
    """What is broken when this recording is read; an empty list when all holds.

    Args:
        recording: a stream, a whole body or an error
        laws: only these of `NAMES`, on all kinds alike; None means, of a stream, all but the slow ones, of a
            body `BODY_LAWS`, and of an error `ERROR_LAW`

    Raises:
        KeyError: no such law
    """
    names = None if laws is None else [name for name in laws if name != ERROR_LAW]
    breaches: list[Breach] = []
    if recording.kind == "error":
        if laws is None or ERROR_LAW in laws:
            breaches += [Breach(ERROR_LAW, words) for words in _error_breaches(recording)]
        names = names or []
    elif recording.kind == "body" and names is None:
        names = list(BODY_LAWS)
    if names is None or names:
        breaches += check(recording.wire, recording.body, names, dialect=recording.dialect)
    return breaches


def _error_breaches(recording: Recording) -> Iterator[str]:
    """An error body is a typed error with words and its status; and no parser takes it for an answer."""
    status = recording.status or 400
    try:
        error = plait.read_error(recording.wire, status, recording.headers, recording.body)
    except Exception as bug:
        yield f"reading HTTP {status} raised {type(bug).__name__}: {shorten(bug)}"
        return
    if type(error) is ProviderError:
        yield f"HTTP {status} is no typed error: {shorten(error)}"
    if not error.message:
        yield f"HTTP {status} is a {type(error).__name__} without a message"
    if error.status != status:
        yield f"HTTP {status} is a {type(error).__name__} with status {error.status}"
    read = Subject(recording.wire, recording.body, dialect=recording.dialect).whole
    if read.crash is not None:
        yield read.crash
    elif read.error is None:
        yield f"the body of HTTP {status} is read as an answer"
