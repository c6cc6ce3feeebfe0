"""Messages and options -> a provider's JSON body, and notes on what it does not say as asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Protocol

from plait.errors import InvalidDataError
from plait.messages import Message, parse_messages
from plait.wire import check_dialect, translator_class
from plait.wire.history import HistoryRules, Turn, prepare
from plait.wire.options import RequestOptions
from plait.wire.plan import Notes, RequestPlan


class Asked:
    """The options of one request. `take` hands one out; what nobody took is noted as dropped."""

    _ALWAYS = frozenset({"model", "stream", "extra"})

    def __init__(self, options: RequestOptions, notes: Notes) -> None:
        self.options = options
        self._notes = notes
        self._dropped: set[str] = set()
        self._left = {
            name
            for name in options.model_fields_set
            if getattr(options, name) not in (None, [], {}) and name not in self._ALWAYS
        }

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(self, name: str) -> Any:
        """The option's value; None when it was not asked for, or was dropped."""
        if name in self._dropped:
            return None
        self._left.discard(name)
        value = getattr(self.options, name)
        return value if value not in ([], {}) else None

    def drop(self, name: str, why: str, source: str | None = None) -> None:
        """The target does not take this option, for a reason of its own."""
        if name in self._left:
            self._left.discard(name)
            self._dropped.add(name)
            self._notes.add("dropped", name, why, source)

    def leave(self, wire: str) -> None:
        """Whatever is left has no place in this wire format."""
        for name in sorted(self._left):
            self._notes.add("dropped", name, f"{wire} has no such option")
        self._left.clear()


class RequestBuilder(Protocol):
    """What `wire/<format>/request.py` holds."""

    def rules(self, dialect: str | None, asked: Asked) -> HistoryRules:
        """What the target takes of a history."""
        ...

    def build(self, turns: list[Turn], asked: Asked, dialect: str | None, notes: Notes) -> dict[str, Any]:
        """The JSON body."""
        ...


def plan_request(
    wire: str,
    messages: Iterable[Message | Mapping[str, Any]],
    *,
    dialect: str | None = None,
    repair: bool = False,
    **options: Any,
) -> RequestPlan:
    """The body a target is sent, and the notes. See `plait.plan_request`."""
    builder: Any = import_module(translator_class(wire).__module__.replace(".parser", ".request"))
    check_dialect(wire, dialect)
    notes = Notes()
    asked = Asked(RequestOptions.of(options), notes)
    history = parse_messages(list(messages))
    if not history:
        raise InvalidDataError("messages: at least one message is needed")
    turns = prepare(history, builder.rules(dialect, asked), notes, repair=repair)
    body = builder.build(turns, asked, dialect, notes)
    asked.leave(wire)
    return RequestPlan(wire, _over(body, asked.options.extra), list(notes))


def _over(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """`extra` put over the body. Objects in both are merged, so that none hides what was built beside it.

    An object of another `type` takes the place of what was built.
    """
    made = dict(body)
    for key, value in extra.items():
        old = made.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and value.get("type") in (None, old.get("type")):
            value = _over(old, value)
        made[key] = value
    return made
