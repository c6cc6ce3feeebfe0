"""Tables in the docs that come from the code: `python -m tests.tables` rewrites them, a test compares.

A page holds `<!-- table: NAME -->` ... `<!-- end -->`; what is between is made by the function NAME here.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from plait.events import CONTENT_EVENTS, EVENT_TYPES

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _table(*header: str) -> str:
    return _row(*header) + _row(*("---" for _ in header))


def events() -> str:
    """Every event: its type, fields (`?` when it may be absent) and meaning."""
    lines = _table("event", "`type`", "role", "fields", "meaning")
    for name, cls in EVENT_TYPES.items():
        fields = [
            f"{field.name}?" if not field.required else field.name
            for field in msgspec.structs.fields(cls)
            if field.name != "index"
        ]
        if cls in CONTENT_EVENTS:
            fields.append("index")
        meaning = " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())
        lines += _row(f"`{cls.__name__}`", f"`{name}`", cls.role, ", ".join(fields), meaning)
    return lines


TABLES: dict[str, Callable[[], str]] = {"events": events}


def render(page: str) -> str:
    """The page with its tables made anew."""
    return _BLOCK.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], page)


def main() -> int:
    """Rewrite the tables of all pages."""
    for path in sorted((ROOT / "docs").glob("**/*.md")):
        text = path.read_text("utf-8")
        if (made := render(text)) != text:
            path.write_text(made, "utf-8")
            print(f"rewrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
