"""Where `--json` and `--write-baseline` write."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plait.cli.status import BadArgumentsError


def write_json(target: str, document: Mapping[str, Any], option: str) -> None:
    """Write JSON to a file, or to standard output for `-`.

    Raises:
        BadArgumentsError: the file cannot be written
    """
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    if target == "-":
        sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
        return
    try:
        Path(target).write_bytes(text.encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise BadArgumentsError(f"{option}: cannot write {target!r}: {error.strerror or error}") from None
