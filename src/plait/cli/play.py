"""`plait play`: a recording as it looked live."""

from __future__ import annotations

import time

import plait
from plait import json_text
from plait.cassettes import Cassette, Interaction
from plait.cli.live import Live
from plait.cli.show import Terminal, printable
from plait.cli.status import BadArgumentsError, Status, status_of
from plait.wire import WIRES

PROMPT_SHOWN = 300
"""Characters of the user's last message that are shown before the answer."""


def play(name: str, cassette: Cassette, *, speed: float = 1.0, delay: bool = True) -> Status:
    """Show each response of a cassette with its timing.

    Args:
        name: the cassette's, for the heading
        cassette: what to show; interactions in wire formats that cannot be read are left out
        speed: how many times faster than it was
        delay: whether to wait at all

    Returns how the first response that was not complete ended.
    """
    shown = [item for item in cassette.interactions if item.wire in WIRES]
    if not shown:
        raise BadArgumentsError(
            f"{name}: expected a response in one of the wire formats {', '.join(WIRES)}, got none"
        )
    terminal = Terminal()
    statuses = [_play(Live(terminal), item, name, speed if delay else None) for item in shown]
    return next((status for status in statuses if status), Status.COMPLETE)


def prompt(body: bytes) -> str | None:
    """What the user asked last, in a request's JSON body of any wire; None when it is not to be found."""
    try:
        document = json_text.loads(body.decode("utf-8", "replace"))
    except ValueError:
        return None
    if not isinstance(document, dict):
        return None
    turns = document.get("messages") or document.get("input") or document.get("contents")
    for turn in reversed(turns) if isinstance(turns, list) else [{"content": turns}]:
        if isinstance(turn, dict) and turn.get("role", "user") == "user":
            content = turn.get("content") or turn.get("parts")
            parts = content if isinstance(content, list) else [{"text": content}]
            texts = [
                part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
            ]
            if texts:
                return " ".join(" ".join(texts).split())
    return None


def _play(live: Live, item: Interaction, name: str, speed: float | None) -> Status:
    _heading(live, item, name)
    parser = plait.parser(item.wire or "", dialect=item.dialect)
    times = [milliseconds for milliseconds, _size in item.chunks] or [0]
    start = time.monotonic()
    for milliseconds, chunk in zip(times, item.body_chunks(), strict=False):
        if speed is not None:
            time.sleep(max(start + milliseconds / 1000 / speed - time.monotonic(), 0))
        live.show(parser.feed(chunk))
        if parser.done:
            break
    events, error = parser.finish()
    live.show(events)
    live.end(error, times[-1] / 1000 if item.chunks else None)
    return status_of(error)


def _heading(live: Live, item: Interaction, name: str) -> None:
    facts = [name, item.wire or ""]
    if item.provenance is not None:
        facts.append(item.provenance.kind)
    if not item.chunks:
        facts.append("no timing recorded")
    live.line(" · ".join(map(printable, facts)), "dim")
    asked = prompt(item.request.body)
    if asked:
        more = "…" if len(asked) > PROMPT_SHOWN else ""
        live.line(f"> {printable(asked[:PROMPT_SHOWN])}{more}", "bold")
    live.terminal.print()
