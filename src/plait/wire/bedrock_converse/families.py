"""What the families of models on Bedrock take and refuse.

Sources: https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html
and the pages of the API's types (`API_runtime_SpecificToolChoice` and others), as of 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

_REGION = re.compile(r"(?:us|eu|apac|jp|au|ca|global|us-gov)\.")
_WITHOUT_SYSTEM = re.compile(
    r"amazon\.titan-text|cohere\.command-(?:light-)?text|mistral\.(?:mistral-7b|mixtral)"
)

IDS = r"[a-zA-Z0-9_.:-]{1,64}"


@dataclass(frozen=True, slots=True)
class Family:
    """What one family takes.

    Attributes:
        name: the vendor in the model's id; `nova` of Amazon's; None where the id does not say it
        mixed: tool results may stand beside other content
        first: the role that may begin a conversation
        ids: ids of tool calls, and the length of those put in place of others
        results: text of a tool's result goes as text, or inside JSON
        status: a tool result may say that it is an error
        signed: it signs its reasoning, and takes it back
        cache: where cache points may stand
        choose: a named tool may be forced
    """

    name: str | None
    mixed: bool = True
    first: Literal["user", "any"] = "user"
    ids: str = IDS
    id_length: int = 24
    results: Literal["text", "json"] = "text"
    status: bool = True
    signed: bool = False
    cache: frozenset[str] = frozenset()
    choose: bool = False


_EVERYWHERE = frozenset({"tools", "system", "messages"})
_UNKNOWN = Family(None, signed=True, cache=_EVERYWHERE, choose=True)
_FAMILIES: Mapping[str, Family] = {
    family.name or "": family
    for family in (
        Family("anthropic", first="any", signed=True, cache=_EVERYWHERE, choose=True),
        Family("nova", cache=frozenset({"system", "messages"}), choose=True),
        Family("meta", mixed=False),
        Family("mistral", mixed=False, ids=r"[a-zA-Z0-9]{9}", id_length=9, results="json"),
        Family("writer", mixed=False, status=False),
        Family("qwen", first="any"),
        Family("zai", first="any"),
        Family("moonshot", first="any"),
        Family("moonshotai", first="any"),
        *map(
            Family, ("ai21", "amazon", "cohere", "deepseek", "google", "luma", "minimax", "nvidia", "openai")
        ),
    )
}


def bare_id(model: str | None) -> str:
    """The model's id without its region and what else an ARN has before it; lower case."""
    return _REGION.sub("", (model or "").lower().rpartition("/")[2], count=1)


def family(model: str | None) -> Family:
    """The family of a model's id. An application's inference profile does not say it."""
    vendor, _, rest = bare_id(model).partition(".")
    if vendor == "amazon" and rest.startswith("nova"):
        vendor = "nova"
    return _FAMILIES.get(vendor, _UNKNOWN)


def takes_system(model: str | None) -> bool:
    """Whether the model takes system text."""
    return _WITHOUT_SYSTEM.match(bare_id(model)) is None
