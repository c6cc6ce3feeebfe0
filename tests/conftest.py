"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

from recordings import CORPUS

settings.register_profile("plait", deadline=None)  # a busy machine is no fault
settings.register_profile("ci", deadline=None, derandomize=True)  # what fails there fails here
settings.load_profile("ci" if os.environ.get("CI") else "plait")


def pytest_report_header() -> str:
    """Say whether the public recordings are there: without them tests/corpus is not collected."""
    return f"corpus: {CORPUS if CORPUS else 'PLAIT_CORPUS is not set: tests/corpus is left out'}"


def pytest_ignore_collect(collection_path: object) -> bool | None:
    """Leave tests/corpus out, as a whole, on a machine without the recordings."""
    return True if CORPUS is None and str(collection_path).endswith("tests/corpus") else None
