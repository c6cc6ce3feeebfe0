"""What generations of Gemini models take otherwise, by their names.

Sources, as of 2026-11: https://ai.google.dev/gemini-api/docs/thinking, .../thought-signatures,
.../function-calling and .../structured-output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Model:
    """What one generation takes.

    Attributes:
        thinking: what its thinking is set by; None: it does not think
        always_thinks: thinking cannot be turned off
        json_schema: JSON schemas as they are; else only the subset that `schemas.openapi_schema` writes
        result_media: images and files may stand in a function's response
        ids: function calls and their responses carry the provider's ids on every server
        signs: the first function call of each step must be signed
        mixes: functions, and the provider's own tools or JSON output, in one request; None: not known
        system: system instructions are taken; else they go into the first user text
    """

    thinking: Literal["level", "budget"] | None = "level"
    always_thinks: bool = False
    json_schema: bool = True
    result_media: bool = False
    ids: bool = False
    signs: bool = False
    mixes: bool | None = None
    system: bool = True


_2_5 = Model(thinking="budget", mixes=False)
_OLD = Model(thinking=None, json_schema=False, mixes=False)

_MODELS: tuple[tuple[str, Model], ...] = (
    (r"gemma", replace(_OLD, system=False)),
    (r"gemini-2\.0.*image", replace(_OLD, system=False)),
    (r"gemini-2\.0", replace(_OLD, json_schema=True)),
    (r"gemini-1", _OLD),
    (r"gemini-2\.5-pro", replace(_2_5, always_thinks=True)),
    (r"gemini-2\.5", _2_5),
    (r"gemini-([3-9]|\d\d)", Model(result_media=True, ids=True, signs=True, mixes=True)),
)


def model(name: str | None) -> Model:
    """What this model takes; of an unknown one, what the current models do."""
    last = (name or "").rpartition("/")[2]
    return next((found for pattern, found in _MODELS if re.match(pattern, last)), Model())
