"""Models over HTTP: requests out, events in, synchronous and asynchronous.

`call.py` decides (no I/O), `stream.py` drives it both ways, `model.py` is what users hold.
"""

from __future__ import annotations

import logging

from plait.transport.async_stream import AsyncStream
from plait.transport.call import Call
from plait.transport.limits import Retries, Retry, Timeouts
from plait.transport.model import Model
from plait.transport.observing import Observation, Observer
from plait.transport.question import Question
from plait.transport.response import ResponseInfo
from plait.transport.stream import Stream

__all__ = [
    "AsyncStream",
    "Call",
    "Model",
    "Observation",
    "Observer",
    "Question",
    "ResponseInfo",
    "Retries",
    "Retry",
    "Stream",
    "Timeouts",
]

# Silent unless the program sets logging up: `plait.transport`, `plait.wire` (what was not understood).
logging.getLogger("plait").addHandler(logging.NullHandler())
