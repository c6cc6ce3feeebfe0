"""Every recorded error response becomes a typed error with the provider's words."""

from __future__ import annotations

import pytest

import plait
from plait.errors import ProviderError
from plait.wire import WIRES
from plait.wire.errors import STATUS_ERRORS
from recordings import Recording, recordings

ERRORS = [recording for wire in WIRES for recording in recordings(wire, "error")]


@pytest.mark.parametrize("recording", ERRORS, ids=lambda recording: recording.id)
def test_recorded_error(recording: Recording) -> None:
    """The class is one that says what is wrong, and not a milder one than the status says."""
    error = plait.read_error(recording.wire, recording.status, {}, recording.body())
    assert type(error) is not ProviderError
    assert error.status == recording.status
    assert error.message
    assert "without a message" not in error.message
    by_status = STATUS_ERRORS[recording.status]
    words = (plait.NotFoundError, plait.ContextWindowExceededError, plait.AuthenticationError)
    assert isinstance(error, (by_status, *words))


def test_errors_are_there() -> None:
    """The corpus holds errors of most wire formats: an empty list would test nothing."""
    assert len({recording.wire for recording in ERRORS}) >= 6
    assert len(ERRORS) >= 35
