"""The `plait` command. Needs the `cli` extra; everything it does is in the library as well."""

from __future__ import annotations

import sys
from collections.abc import Sequence

NEEDED = ("typer", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (those of the process when None); returns its exit status."""
    try:
        from plait.cli.app import app

        app(args=None if arguments is None else list(arguments), prog_name="plait")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in NEEDED:
            raise
        print(  # noqa: T201 - there may be no typer to print with
            f"plait: the command line needs {missing}, which is not installed: pip install 'plait[cli]'",
            file=sys.stderr,
        )
        return 1
    return 0
