"""What can be asked of any model: one typed model of options, each under the field's usual name.

An adapter writes an option under the name its target wants. What the target does not have is dropped with
a note; nothing is silently ignored. Options are checked before anything is built; unknown ones are refused.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from plait.errors import InvalidDataError

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def _no_parameters() -> dict[str, JsonValue]:
    return {"type": "object", "properties": {}}


class ToolDefinition(_Closed):
    """A tool the model may call."""

    name: str = Field(min_length=1)
    description: str | None = None
    parameters: dict[str, JsonValue] = Field(default_factory=_no_parameters)
    """JSON schema of the arguments, an object."""
    strict: bool | None = None
    """Ask the provider to keep to the schema exactly, where it can."""
    kind: Literal["function", "custom"] = "function"
    """A `custom` tool takes free text instead of JSON (OpenAI)."""
    format: dict[str, JsonValue] | None = None
    """Grammar of a custom tool's text, in OpenAI's Responses shape."""


class NamedTool(_Closed):
    """The model must call this tool."""

    name: str


class Reasoning(_Closed):
    """How much the model may think, and what of it is shown."""

    effort: Effort | None = None
    budget_tokens: int | None = Field(default=None, ge=0)
    """At most this many tokens, for targets that count."""
    enabled: bool | None = None
    summary: Literal["auto", "concise", "detailed", "none"] | None = None


class UserLocation(_Closed):
    """Roughly where the user is."""

    city: str | None = None
    region: str | None = None
    country: str | None = None
    timezone: str | None = None


class WebSearch(_Closed):
    """Let the provider search the web."""

    context_size: Literal["low", "medium", "high"] | None = None
    allowed_domains: list[str] | None = None
    blocked_domains: list[str] | None = None
    max_uses: int | None = Field(default=None, ge=1)
    user_location: UserLocation | None = None


class PromptCache(_Closed):
    """Cache the prompt's beginning: tools, system text, and the history so far."""

    key: str | None = None
    """Requests with the same key share a cache (OpenAI)."""
    ttl: Literal["5m", "30m", "1h", "24h"] | None = None


class OutputSchema(_Closed):
    """The answer's form: JSON that keeps to a schema."""

    json_schema: dict[str, JsonValue]
    name: str = Field(default="output", pattern=r"^[A-Za-z0-9_-]{1,64}$")
    description: str | None = None
    strict: bool | None = True


class RequestOptions(_Closed):
    """Everything `plait.build_request` takes beside the wire and the messages."""

    model: str | None = None
    """The model's id in the provider's own spelling. Where the URL names it, it is left out of the body."""
    tools: list[ToolDefinition] = Field(default_factory=list)
    tool_choice: Literal["auto", "none", "required"] | NamedTool | None = None
    parallel_tool_calls: bool | None = None
    output: OutputSchema | Literal["json"] | None = None
    """Structured output: a pydantic model, a JSON schema, an `OutputSchema`, or `json` for any JSON."""
    max_output_tokens: int | None = Field(default=None, ge=1)
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    top_p: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    top_k: int | None = Field(default=None, ge=0)
    presence_penalty: float | None = Field(default=None, allow_inf_nan=False)
    frequency_penalty: float | None = Field(default=None, allow_inf_nan=False)
    stop: list[str] | None = None
    seed: int | None = None
    reasoning: Reasoning | None = None
    """Effort (`"low"`), a budget, or both; a bare effort string is accepted."""
    web_search: WebSearch | None = None
    """True lets the provider search with its defaults."""
    prompt_cache: PromptCache | None = None
    """True caches with the provider's defaults."""
    metadata: dict[str, str] | None = None
    """Tags kept with the request at the provider; never shown to the model."""
    user: str | None = None
    """A stable, opaque id of the end user, for abuse detection."""
    store: bool | None = None
    """Whether the provider keeps the response, where that can be chosen."""
    previous_response_id: str | None = None
    """Continue a response the provider kept (OpenAI Responses)."""
    service_tier: str | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    stream: bool = False
    include_usage: bool | None = None
    """Ask for usage at the end of a stream. None: wherever that needs to be asked for and may be."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Put into the body as it is, over what was built."""

    @field_validator("tools", mode="before")
    @classmethod
    def _tools(cls, value: Any) -> Any:
        return [getattr(tool, "definition", tool) for tool in value] if value is not None else []

    @field_validator("tool_choice", mode="before")
    @classmethod
    def _choice(cls, value: Any) -> Any:
        return (
            {"name": value} if isinstance(value, str) and value not in ("auto", "none", "required") else value
        )

    @field_validator("output", mode="before")
    @classmethod
    def _output(cls, value: Any) -> Any:
        if isinstance(value, type) and issubclass(value, BaseModel):
            return {"json_schema": value.model_json_schema(), "name": value.__name__}
        if isinstance(value, dict) and "json_schema" not in value:
            return {"json_schema": value}
        return value

    @field_validator("stop", mode="before")
    @classmethod
    def _stop(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("reasoning", mode="before")
    @classmethod
    def _reasoning(cls, value: Any) -> Any:
        if isinstance(value, bool):
            return {"enabled": value}
        return {"effort": value} if isinstance(value, str) else value

    @field_validator("web_search", "prompt_cache", mode="before")
    @classmethod
    def _switch(cls, value: Any) -> Any:
        return ({} if value else None) if isinstance(value, bool) else value

    @classmethod
    def of(cls, options: dict[str, Any]) -> RequestOptions:
        """The options given by name.

        Raises:
            InvalidDataError: an option that does not exist, or a value it does not take; the message names it
        """
        try:
            return cls.model_validate(options)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            path = ".".join(str(step) for step in first["loc"])
            if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
                known = ", ".join(sorted(cls.model_fields))
                raise InvalidDataError(
                    f"unknown option {path!r}; the options are {known}. "
                    "What only one provider knows goes in extra={...}"
                ) from None
            raise InvalidDataError(f"option {path}: {first['msg']}") from None
