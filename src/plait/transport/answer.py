"""What both kinds of stream have in common: what they tell of an answer, and the requests they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from plait.errors import PlaitError
from plait.events import Event, TokenUsage
from plait.transport.call import Call
from plait.transport.response import ResponseInfo

if TYPE_CHECKING:
    from plait.messages import AssistantMessage

DRAIN_SECONDS = 0.02
"""How long the end of a complete answer's body is waited for, so that its connection can be used again."""

DRAIN_READS = 8
"""How many chunks are read meanwhile, at most."""


class Answer:
    """One answer: what was read of it so far, and what its response says.

    For the drivers: `_ready` are events that are read and not handed out; `_body` the response's raw chunks;
    `_whole` whether the body was read to its end; `_faults` what is raised when an exchange breaks, `_stops`
    when a read ends; `_closed` that the caller wants no more; `_released` that the connection is given back.
    """

    __slots__ = (
        "__weakref__", "_body", "_call", "_closed", "_faults", "_raised", "_ready", "_released", "_response",
        "_stops", "_whole",
    )  # fmt: skip

    def __init__(self, call: Call) -> None:
        self._call = call
        self._ready: Iterator[Event] = iter(())
        self._response: Any = None
        self._body: Any = None
        self._faults: tuple[type[Exception], ...] = ()
        self._stops: tuple[type[BaseException], ...] = ()
        self._whole = False
        self._closed = False
        self._released = False
        self._raised = False

    @property
    def message(self) -> AssistantMessage:
        """What has been read so far; its `finish_reason` is None until the answer is complete."""
        return self._call.parser.message

    @property
    def usage(self) -> TokenUsage | None:
        """What the provider reported; None while, or when, it did not."""
        return self.message.token_usage

    @property
    def response(self) -> ResponseInfo | None:
        """Status, request id and headers of the response; None until one came."""
        return self._call.response

    @property
    def unknown(self) -> Counter[str]:
        """What was seen and not understood, with counts."""
        return self._call.parser.unknown

    @property
    def attempts(self) -> int:
        """How many times the request was sent."""
        return self._call.attempts

    def __repr__(self) -> str:
        asked = self._call.question
        return f"<{type(self).__name__} {asked.provider}/{asked.model}: {self._call.state}>"

    def _request(self, client: Any, signed: Mapping[str, str], **extensions: Any) -> Any:
        """The request of this attempt."""
        asked, call = self._call.question, self._call
        left, connect = call.time_left(), call.timeouts.connect
        step = left if connect is None else connect if left is None else min(connect, left)
        timeout = {"connect": step, "write": step, "pool": step, "read": left}
        return client.build_request(
            "POST",
            asked.url,
            headers={**asked.headers, **signed},
            content=asked.body,
            extensions={"timeout": timeout, **extensions},
        )

    def _began(self, response: Any) -> bytes | None:
        """A response began. Its content, when the caller's client has read it already."""
        self._response = response
        # From here on the watch is the clock; this one only helps where a read cannot be interrupted.
        limits = (self._call.timeouts.first_event, self._call.timeouts.idle)
        timeout = response.request.extensions.get("timeout", {})
        timeout["read"] = None if None in limits else max(limits)  # type: ignore[type-var]
        if not response.is_closed:
            return None
        try:
            content: bytes = response.content
        except self._faults:  # a hook that raised for the status had it closed, unread
            content = b""
        return content

    def _to_raise(self) -> PlaitError | None:
        """The error that ends the iteration: once."""
        error, self._raised = (None if self._raised or self._closed else self._call.error), True
        return error
