"""Tables in the docs that come from the code: `python -m tests.tables` rewrites them, a test compares.

A page holds `<!-- table: NAME -->` ... `<!-- end -->`; what is between is made by the function NAME here.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

import msgspec

from plait.cli.providers import as_data
from plait.events import CONTENT_EVENTS, EVENT_TYPES
from plait.providers import CATALOGUE
from plait.wire import WIRES, dialects, translator_class
from plait.wire.errors import STATUS_ERRORS

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


def wire_formats() -> str:
    """Every wire format: terminal event, finish reasons, usage and error codes, from its mapping tables."""
    return "\n".join(_wire_format(wire) for wire in WIRES)


def _wire_format(wire: str) -> str:
    translator = translator_class(wire)
    module = translator.__module__.rpartition(".")[0]
    mapping = import_module(f"{module}.mapping")
    text = f"\n## {wire}\n\n{_prose(mapping.__doc__)}\n\n"
    text += f"Framing: {', '.join(translator.framings)}. Terminal event: {translator.terminal}.\n\n"
    reasons = getattr(mapping, "FINISH_REASONS", None) or mapping.INCOMPLETE_REASONS
    text += _table("the wire's reason", "`finish_reason`")
    text += "".join(_row(f"`{raw}`", f"`{reason}`") for raw, reason in reasons.items())
    text += f"\nUsage, read from {_usage_fields(module)}: {_prose(mapping.token_usage.__doc__)}\n\n"
    if mapping.ERRORS:
        text += _table("the wire's code, type or name", "error")
        text += "".join(_row(f"`{code}`", f"`{cls.__name__}`") for code, cls in mapping.ERRORS.items())
    else:
        text += "Errors have no codes: the class comes from the status and the words.\n"
    return text


def _usage_fields(module: str) -> str:
    wire = import_module(f"{module}.wire")
    names = [name for name in vars(wire) if re.search(r"Usage|(?<!Incomplete)Details$|Tokens$|Counts$", name)]
    structs = [getattr(wire, name) for name in names if hasattr(getattr(wire, name), "__struct_fields__")]
    fields = [f"`{field.encode_name}`" for cls in structs for field in msgspec.structs.fields(cls)]
    return ", ".join(dict.fromkeys(fields)) or "the last line"


def _prose(doc: str | None) -> str:
    return " ".join(inspect.cleandoc(doc or "").split())


def statuses() -> str:
    """The error class of each HTTP status."""
    rows = (_row(str(status), f"`{cls.__name__}`") for status, cls in STATUS_ERRORS.items())
    return _table("HTTP status", "error") + "".join(rows)


def chat_dialects() -> str:
    """Where the servers that speak Chat Completions conflict, from their rows."""
    lines = _table(
        "dialect", "limit", "usage of streams", "structured output", "`tool_choice`", "roles",
        "reasoning is asked for in", "and goes back in", "parts of the user's", "images in results",
    )  # fmt: skip
    for name, row in dialects("openai-chat").items():
        thinking = row.thinking
        switch = thinking.switch[0] if thinking.switch else None
        asked = [path for path in (thinking.effort, thinking.budget, switch) if path]
        back = ["reasoning_details" if one == "openrouter" else one for one in sorted(row.replays)]
        choices = [one for one in ("auto", "none", "required", "named") if one in row.tool_choices]
        lines += _row(
            f"`{name}`",
            f"`{row.options['max_output_tokens']}`",
            row.usage,
            _list(row.outputs),
            "all" if len(choices) == 4 else _list(choices),
            "strict" if row.strict_roles else "",
            _list(f"`{path}`" for path in asked),
            _list(f"`{field}`" for field in (*back, *(["extra_content"] if row.extra_content else []))),
            _list(sorted({"text", *row.media})),
            "yes" if row.result_media else "",
        )
    return lines


def providers() -> str:
    """Every provider of the catalogue: what it speaks and where, how it is signed, and what can be asked."""
    lines = _table("provider", "wire format", "dialect", "URL of a stream", "auth", "can be asked for")
    for row in CATALOGUE.values():
        name = f"[`{row.name}`]({row.docs})" if row.docs.startswith("https:") else f"`{row.name}`"
        for at in as_data(row)["endpoints"]:
            words = "depends on the server" if at["words"] is None else ", ".join(at["words"])
            dialect = f"`{at['dialect']}`" if at["dialect"] else "-"
            lines += _row(name, f"`{at['wire']}`", dialect, f"`{at['stream_url']}`", at["auth"], words)
            name = ""
    return lines


def provider_variables() -> str:
    """Every provider's environment variables: of its key (the first that is set counts), of its settings."""
    lines = _table("provider", "key", "settings", "checked")
    for row in CATALOGUE.values():
        settings = []
        for setting in as_data(row)["settings"]:
            names = [f"`{variable['name']}`" for variable in setting["env"]]
            default = f"default `{setting['default']}`" if setting["default"] else ""
            settings.append(f"`{setting['name']}`: {'; '.join(filter(None, [_list(names), default]))}")
        keys = _list(f"`{name}`" for name in row.key_names)
        lines += _row(f"`{row.name}`", keys, "<br>".join(settings) or "-", row.checked)
    return lines


def _list(words: Iterable[str]) -> str:
    return ", ".join(words) or "-"


TABLES: dict[str, Callable[[], str]] = {
    "chat_dialects": chat_dialects,
    "events": events,
    "provider_variables": provider_variables,
    "providers": providers,
    "statuses": statuses,
    "wire_formats": wire_formats,
}


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
