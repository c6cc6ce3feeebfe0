"""What can be asked of a provider, in one of its wire formats: what a request there can say.

It is what Plait's request adapters write for the wire and its dialect, no more: whether a model does it is
the model's affair, and `plait.plan_request` says what a target makes of one request. Of a server without a
dialect nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from plait.wire import dialects
from plait.wire.openai_chat.models import RULES


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a request can say beside text.

    Attributes:
        tools: tools may be offered
        forced_tools: the model can be made to call one (`tool_choice`)
        output: forms of structured output: `json_schema`, `json_object`
        media: kinds of parts that a user's message takes: `image`, `audio`, `video`, `file`
        reasoning: how reasoning is controlled: by `effort`, `budget` (tokens) or `switch` (on and off)
        web_search: the provider can be let search the web
    """

    tools: bool = True
    forced_tools: bool = True
    output: tuple[str, ...] = ("json_schema", "json_object")
    media: tuple[str, ...] = ("image",)
    reasoning: tuple[str, ...] = ("effort", "switch")
    web_search: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """All of it in words, for a table."""
        return (
            *(["tools"] if self.tools else []),
            *(["forced tools"] if self.forced_tools else []),
            *(form.replace("_", " ").replace("json", "JSON") for form in self.output),
            *self.media,
            *([f"reasoning ({', '.join(self.reasoning)})"] if self.reasoning else []),
            *(["web search"] if self.web_search else []),
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)


_WIRES: Mapping[str, Capabilities] = {
    "openai-responses": Capabilities(media=("image", "file"), web_search=True),
    "anthropic-messages": Capabilities(
        output=("json_schema",),
        media=("image", "file"),
        reasoning=("effort", "budget", "switch"),
        web_search=True,
    ),
    # Sound, films and searching: Nova alone.
    "bedrock-converse": Capabilities(
        output=("json_schema",),
        media=("image", "audio", "video", "file"),
        reasoning=("effort", "budget", "switch"),
        web_search=True,
    ),
    "gemini": Capabilities(
        media=("image", "audio", "video", "file"), reasoning=("effort", "budget", "switch"), web_search=True
    ),
    "cohere-chat": Capabilities(reasoning=("budget", "switch")),
    "mistral-chat": Capabilities(media=("image", "audio", "file")),
    "ollama-chat": Capabilities(forced_tools=False),
}
"""What `request.py` of each wire format writes; `openai-chat` has it in the rows of its dialects."""


def capabilities_of(wire: str, dialect: str | None) -> Capabilities | None:
    """What can be asked in this wire format of the server with this dialect; None: the server is not known.

    Raises:
        KeyError: no such wire format or dialect
    """
    if dialect is None:
        return None
    row = dialects(wire)[dialect]
    special = _BY_ROW.get(wire)
    return special(dialect, row) if special is not None else _WIRES[wire]


_MEDIA = {"image-data": "image", "file-url": "file", "file_url": "file"}


def _chat(dialect: str, row: Any) -> Capabilities:
    refused = {
        what for rule in RULES if dialect in rule.dialects and rule.models == ".+" for what in rule.what
    }
    media = {_MEDIA.get(kind, kind) for kind in row.media}
    thinking = row.thinking
    controls = {"effort": thinking.effort, "budget": thinking.budget, "switch": thinking.switch}
    if thinking.effort is not None and "none" in thinking.efforts:
        controls["switch"] = thinking.effort
    return Capabilities(
        tools=row.tools,
        forced_tools="required" in row.tool_choices,
        output=tuple(row.outputs),
        media=tuple(kind for kind in ("image", "audio", "video", "file") if kind in media),
        reasoning=tuple(name for name, path in controls.items() if path is not None),
        web_search=row.search is not None and "web_search" not in refused,
    )


def _responses(dialect: str, row: Any) -> Capabilities:
    whole = _WIRES["openai-responses"]
    chat = dialects("openai-chat").get(dialect)
    if chat is not None and not chat.media:
        whole = replace(whole, media=())  # its models read text alone, whatever the format
    if row.only is None:
        return whole
    return replace(
        whole,
        output=whole.output if "output" in row.only else (),
        web_search="web_search" in row.only,
    )


def _anthropic(dialect: str, row: Any) -> Capabilities:
    return replace(_WIRES["anthropic-messages"], web_search=dialect != "bedrock")  # it runs no server tools


_BY_ROW: Mapping[str, Callable[[str, Any], Capabilities]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _anthropic,
}
