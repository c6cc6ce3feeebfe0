"""`plait providers`: what there is, where it is, and which keys are set; never a key itself."""

from __future__ import annotations

import json
import os
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from plait.cli.show import Terminal, printable
from plait.cli.status import BadArgumentsError, Status
from plait.errors import ConfigurationError
from plait.providers import CATALOGUE, Endpoint, Provider, find_provider, installed, registered


def show_providers(*, as_json: bool) -> Status:
    """Print all providers. Packages that cannot be loaded are told of on stderr."""
    rows, faults = installed()
    found = {**CATALOGUE, **rows, **registered()}
    if as_json:
        typer.echo(_json([as_data(row) for row in found.values()]))
    else:
        table = _table("provider", "speaks", "where, and its documentation", "key", "can be asked for")
        table.expand = True
        for column, ratio in zip(table.columns[1:], (5, 8, 5, 5), strict=True):
            column.ratio = ratio
        table.columns[0].no_wrap = True
        for row in found.values():
            table.add_row(*(Text(printable(cell, keep="\n")) for cell in _cells(row)))
        Terminal().print(table, soft_wrap=False)
    for fault in faults.values():
        typer.echo(f"plait: {fault}", err=True)
    return Status.FAILED if faults else Status.COMPLETE


def show_one(name: str, *, as_json: bool) -> Status:
    """Print one provider in detail."""
    try:
        row = find_provider(name)
    except ConfigurationError as error:
        raise BadArgumentsError(str(error)) from None
    if as_json:
        typer.echo(_json(as_data(row)))
        return Status.COMPLETE
    terminal = Terminal()
    facts = _table(None, None)
    facts.add_row("provider", row.name)
    facts.add_row("documentation", _documentation(row))
    facts.add_row("auth", ", ".join(dict.fromkeys(at.auth.words for at in row.endpoints if at.auth)))
    facts.add_row("key", _keys(row))
    for setting in as_data(row)["settings"]:
        facts.add_row(Text(setting["name"]), Text(printable(_setting(setting))))
    terminal.print(facts, soft_wrap=False)
    for at in as_data(row)["endpoints"]:
        terminal.print()
        facts = _table(None, None)
        facts.add_row("wire format", at["wire"])
        facts.add_row("dialect", at["dialect"] or "-")
        facts.add_row("streaming", Text(printable(at["stream_url"])))
        facts.add_row("whole", Text(printable(at["url"])))
        facts.add_row("auth", Text(printable(at["auth"])))
        facts.add_row("can be asked for", _words(at))
        terminal.print(facts, soft_wrap=False)
    return Status.COMPLETE


def as_data(row: Provider) -> dict[str, Any]:
    """A provider as JSON data; of variables only whether they are set."""
    return {
        "name": row.name,
        "docs": row.docs or None,
        "checked": row.checked or None,
        "auth": row.auth.words,
        "key_env": [_variable(name) for name in row.key_names],
        "settings": [
            {
                "name": name,
                "what": setting.what,
                "env": [_variable(variable) for variable in setting.env],
                "default": setting.default,
            }
            for name, setting in row.settings.items()
            if setting.of is None
        ],
        "endpoints": [_endpoint(row, at) for at in row.endpoints],
    }


def _endpoint(row: Provider, at: Endpoint) -> dict[str, Any]:
    stream, whole = at.paths or ("", "")
    can = at.capabilities if row.transport is None else None  # of what answers in this process
    return {
        "wire": at.wire,
        "dialect": at.dialect,
        "stream_url": row.address(at, stream),
        "url": row.address(at, whole),
        "auth": at.auth.words if at.auth is not None else row.auth.words,
        "capabilities": can.to_dict() if can is not None else None,
        "words": list(can.words) if can is not None else None,
    }


def _variable(name: str) -> dict[str, Any]:
    return {"name": name, "set": bool(os.environ.get(name, "").strip())}


def _cells(row: Provider) -> tuple[str, ...]:
    speaks = [f"{at.wire} ({at.dialect})" if at.dialect else at.wire for at in row.endpoints]
    return (
        row.name,
        "\n".join(dict.fromkeys(speaks)),
        f"{row.address(row.endpoints[0])}\n{_documentation(row)}",
        f"{row.auth.words}\n{_keys(row)}",
        _words(_endpoint(row, row.endpoints[0])),
    )


def _documentation(row: Provider) -> str:
    return " ".join(filter(None, [row.docs, f"({row.checked})" if row.checked else ""])) or "-"


def _keys(row: Provider) -> str:
    return "\n".join(map(_state, map(_variable, row.key_names)))


def _state(variable: dict[str, Any]) -> str:
    return f"{variable['name']}: {'set' if variable['set'] else 'not set'}"


def _setting(setting: dict[str, Any]) -> str:
    default = f"; default {setting['default']}" if setting["default"] else ""
    return "; ".join([setting["what"], *map(_state, setting["env"])]) + default


def _words(endpoint: dict[str, Any]) -> str:
    words = endpoint["words"]
    return "depends on the server" if words is None else ", ".join(words) or "text"


def _table(*header: str | None) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, show_header=header[0] is not None)
    for name in header:
        table.add_column(name or "", overflow="fold")
    return table


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)
