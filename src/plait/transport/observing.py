"""Who watches calls: telemetry. What it does wrong never reaches a call."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Protocol

from plait.events import Event
from plait.transport.limits import Retry
from plait.transport.response import ResponseInfo

if TYPE_CHECKING:
    from plait.messages import AssistantMessage
    from plait.transport.call import Call

_log = logging.getLogger("plait.transport")


class Observation(Protocol):
    """Watches one call. All methods must be quick, and must not raise."""

    def responded(self, response: ResponseInfo) -> None:
        """An answer began, whatever its status."""

    def received(self, events: list[Event]) -> None:
        """Events came; they are handed out next."""

    def retrying(self, retry: Retry) -> None:
        """An attempt failed, and another will be made."""

    def ended(self, message: AssistantMessage, error: BaseException | None) -> None:
        """The call is over; `error` is None for a complete answer, and for one its caller left."""


class Observer(Protocol):
    """Watches calls: telemetry."""

    def began(self, call: Call) -> Observation:
        """A call begins."""
        ...


class Unharmed:
    """An observation whose faults are logged, by class: their text may quote content."""

    __slots__ = ("_observation",)

    def __init__(self, observer: Observer, call: Call) -> None:
        self._observation: Observation | None = None
        try:
            self._observation = observer.began(call)
        except Exception as error:
            _complain("began", error)

    def tell(self, what: str, *facts: Any) -> None:
        """Call a method of the observation."""
        if self._observation is not None:
            try:
                getattr(self._observation, what)(*facts)
            except Exception as error:
                _complain(what, error)


def _complain(what: str, error: Exception) -> None:
    _log.warning("the observer failed in %s: %s", what, type(error).__name__)
