"""Recorded requests of OpenAI's formats, Mistral and Cohere are rebuilt from normalized messages.

A reader of our own (`request_reading`) says what a request means in messages and options; `plan_request`
makes a request of that again. Both must be equal, but for `request_reading.chat_equivalences`.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest

import plait
from recordings import Recording, recordings
from request_reading import cohere_chat, mistral_chat, openai_chat, openai_responses
from request_reading.chat_equivalences import EQUIVALENCES
from request_reading.expressible import NotExpressible

Json = dict[str, Any]

READERS: dict[str, Callable[[Json, str | None], tuple[list[Json], Json]]] = {
    "openai-chat": openai_chat.read,
    "openai-responses": openai_responses.read,
    "mistral-chat": mistral_chat.read,
    "cohere-chat": cohere_chat.read,
}

DIALECTS = {
    ("openai-chat", "api.openai.com"): "openai",
    ("openai-chat", "resource.openai.azure.com"): "azure",
    ("openai-chat", "openrouter.ai"): "openrouter",
    ("openai-chat", "api.groq.com"): "groq",
    ("openai-chat", "api.deepseek.com"): "deepseek",
    ("openai-chat", "api.cerebras.ai"): "cerebras",
    ("openai-chat", "router.huggingface.co"): "huggingface",
    ("openai-chat", "ollama.com"): "ollama",
    ("openai-chat", "localhost:11434"): "ollama",
    ("openai-chat", "generativelanguage.googleapis.com"): "google",
    ("openai-chat", "account.snowflakecomputing.com"): "snowflake",
    ("openai-chat", "api.z.ai"): "zai",
    ("openai-responses", "api.openai.com"): "openai",
    ("openai-responses", "resource.openai.azure.com"): "azure",
    ("openai-responses", "openrouter.ai"): "openrouter",
    ("openai-responses", "api.deepseek.com"): "deepseek",
    ("openai-responses", "bedrock-mantle.us-east-1.api.aws"): "bedrock",
}
"""The dialect of a server; of the others, none is named."""


# The requests


def _entries(wire: str) -> list[Recording]:
    kinds = ("stream", "json", "error")
    return [entry for kind in kinds for entry in recordings(wire, kind) if entry.request is not None]


def _normal(body: Json, equivalences: Iterable[Callable[[Json], None]]) -> Json:
    made: Json = copy.deepcopy(body)
    for equivalence in equivalences:
        equivalence(made)
    return made


def _difference(wanted: Any, got: Any, path: str = "") -> Iterator[str]:
    """Where two bodies differ, one line each."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for name in sorted(wanted.keys() | got.keys()):
            yield from _difference(wanted.get(name, "(absent)"), got.get(name, "(absent)"), f"{path}.{name}")
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for at, (one, other) in enumerate(zip(wanted, got, strict=True)):
            yield from _difference(one, other, f"{path}[{at}]")
    elif wanted != got:
        yield f"{path}: {json.dumps(wanted)[:200]} != {json.dumps(got)[:200]}"


_ELIDED = re.compile(r"<base64 elided, \d+ chars>")
_KINDS = {"video_url": "video/mp4", "image_url": "image/png"}


def _filled(value: Any, key: str = "", name: str = "") -> Any:
    """The request with data again where the recording has a note in its place."""
    if isinstance(value, dict):
        name = value.get("filename", "")
        inside = {one: key if one == "url" else one for one in value}
        return {one: _filled(two, inside[one], name) for one, two in value.items()}
    if isinstance(value, list):
        return [_filled(one, key) for one in value]
    if not isinstance(value, str) or not _ELIDED.fullmatch(value):
        return value
    if key in ("data", "encrypted_content"):
        return "AAAA"
    kind = "audio/mpeg" if name.endswith(".mp3") else _KINDS.get(key, "application/pdf")
    return f"data:{kind};base64,AAAA"


class Outcomes:
    """What became of the requests of a wire."""

    def __init__(self) -> None:
        self.equal: list[str] = []
        self.unequal: dict[str, str] = {}
        self.not_expressible: Counter[str] = Counter()
        self.extra: Counter[str] = Counter()
        self.pairs: list[tuple[Json, Json]] = []
        self.warned: dict[str, int] = {}


@cache
def outcomes(wire: str) -> Outcomes:
    """Reads and rebuilds every request of a wire once."""
    made = Outcomes()
    for entry in _entries(wire):
        request = _filled(entry.request)
        dialect = DIALECTS.get((wire, urlsplit(entry.url).netloc))
        try:
            messages, options = READERS[wire](request, dialect)
        except NotExpressible as reason:
            made.not_expressible[str(reason)] += 1
            continue
        made.extra.update(options["extra"].keys())
        try:
            plan = plait.plan_request(wire, messages, dialect=dialect, **options)
        except plait.InvalidDataError as error:
            made.unequal[entry.id] = f"refused: {error}"
            continue
        if any(note.kind == "will_be_refused" for note in plan.notes):
            made.warned[entry.id] = entry.status
        wanted, got = _normal(request, EQUIVALENCES[wire]), _normal(plan.body, EQUIVALENCES[wire])
        if wanted == got:
            made.equal.append(entry.id)
            made.pairs.append((request, plan.body))
        else:
            made.unequal[entry.id] = "; ".join(_difference(wanted, got))
    return made


# What is expected of them

EQUAL = {"openai-chat": 475, "openai-responses": 367, "mistral-chat": 66, "cohere-chat": 14}
"""At least as many requests are rebuilt to an equal body."""

NOT_EXPRESSIBLE = {
    "openai-chat": {
        "system content of several or marked parts": 8,
        "text part: cache_control": 6,
        "image_url part: cache_control": 1,
        "text part: prompt_cache_breakpoint": 2,
        "file part by the provider's id": 2,
    },
    "openai-responses": {
        "input_text: prompt_cache_breakpoint": 4,
        "input_file by the provider's id": 2,
        "input_image by the provider's id": 3,
    },
    "mistral-chat": {},
    "cohere-chat": {},
}
"""What the vocabulary has no place for, and in how many requests: marks where a cache ends (it asks for a
cache of everything that comes before the answer), and files that were uploaded before."""

EXTRA = {
    "openai-chat": {
        "n", "reasoning_format", "reasoning_effort", "thinking", "clear_thinking", "moderation", "models",
        "provider", "transforms", "preset", "usage", "tools", "tool_choice",
    },
    "openai-responses": {
        "include", "reasoning", "background", "context_management", "conversation", "moderation",
        "truncation", "tools", "tool_choice", "text",
    },
    "mistral-chat": {"n"},
    "cohere-chat": set(),
}  # fmt: skip
"""Fields that a caller gives as `extra`: those that no option names, values that no option has, and all tools
where one of them is the provider's own."""

_STRICT = "strict schemas are closed, as OpenAI demands of them; the caller left that out for other models"
_SOUND = "the server refused a sound as an input file (400), and we do before it is sent"
UNEQUAL = {
    "pydantic-ai/openai-chat/test_ref_sibling_wire_contract--test_ref_sibling_wire_contract-"
    "qwen-nested-model.0": _STRICT,
    "pydantic-ai/openai-chat/test_openrouter--test_openrouter_google_nested_schema.0": _STRICT,
    "pydantic-ai/openai-chat/test_openrouter--test_openrouter_google_nested_schema.1": _STRICT,
    "pydantic-ai/openai-responses/test_openai_responses--"
    "test_openai_responses_runs_with_instructions_only.0": "an empty user message is refused",
    "pydantic-ai-sdist/openai-responses/test_openai_responses--"
    "test_openai_responses_model_thinking_part.1": "reasoning by id, which nothing follows, is left out",
    "pydantic-ai/openai-responses/test_multimodal_tool_returns--test_multimodal_tool_return_matrix-"
    "direct-url_force_download-audio-openai_responses.2": _SOUND,
    "pydantic-ai/openai-responses/test_multimodal_tool_returns--test_multimodal_tool_return_matrix-"
    "tool_return_content-url_force_download-audio-openai_responses.2": _SOUND,
    "pydantic-ai-sdist/openai-responses/test_openai_responses--"
    "test_audio_as_binary_content_input.0": "a file without a name, refused (400): we add one",
    "pydantic-ai/openai-responses/test_openai_responses--"
    "test_openai_responses_model_http_error.0": "a temperature below 0, refused (400), and by us too",
}
"""Requests that are not rebuilt as they were, and why not."""


@pytest.mark.parametrize("wire", READERS)
def test_requests_are_rebuilt(wire: str) -> None:
    """Each request that the vocabulary can express is rebuilt to an equal body, but for those listed."""
    made = outcomes(wire)
    unexpected = {id: why for id, why in made.unequal.items() if id not in UNEQUAL}
    assert unexpected == {}
    assert len(made.equal) >= EQUAL[wire]


def test_listed_differences_are_still_there() -> None:
    """A request that is listed as unequal is so."""
    unequal = {id for wire in READERS for id in outcomes(wire).unequal}
    assert unequal == UNEQUAL.keys()


@pytest.mark.parametrize("wire", READERS)
def test_what_cannot_be_expressed_is_known(wire: str) -> None:
    """Nothing else than what is listed is left out of the comparison, and it is there to be left out."""
    made = outcomes(wire).not_expressible
    assert made.keys() == NOT_EXPRESSIBLE[wire].keys()
    assert {reason: count for reason, count in made.items() if count < NOT_EXPRESSIBLE[wire][reason]} == {}


@pytest.mark.parametrize("wire", READERS)
def test_extra_is_only_what_no_option_says(wire: str) -> None:
    """A reader gives as `extra` nothing but the fields that are listed."""
    assert outcomes(wire).extra.keys() == EXTRA[wire]


@pytest.mark.parametrize(
    ("wire", "equivalence"),
    [
        pytest.param(wire, one, id=f"{wire}-{one.__name__.strip('_')}")
        for wire, listed in EQUIVALENCES.items()
        for one in listed
    ],
)
def test_each_equivalence_is_needed(wire: str, equivalence: Callable[[Json], None]) -> None:
    """Without it, some request would not be rebuilt to an equal body."""
    others = [one for one in EQUIVALENCES[wire] if one is not equivalence]
    pairs = outcomes(wire).pairs
    assert any(_normal(wanted, others) != _normal(got, others) for wanted, got in pairs)


def test_warnings_are_true() -> None:
    """A request with a note that it will be refused was refused."""
    statuses = [status for wire in READERS for status in outcomes(wire).warned.values()]
    assert len(statuses) >= 3
    assert {status for status in statuses if status < 400} == set()
