"""Names of the OpenTelemetry semantic conventions for generative AI, as tables.

Sources, read 2026-11: opentelemetry-semantic-conventions 0.66b2 (`_incubating.attributes.gen_ai_attributes`,
`_incubating.metrics.gen_ai_metrics`, `server_attributes`, `error_attributes`); the conventions have moved to
https://github.com/open-telemetry/semantic-conventions-genai, whose newer names, bucket boundaries and form of
messages are taken from opentelemetry-util-genai 1.3b0. All are "in development": names may still change.
"""

from __future__ import annotations

from typing import NamedTuple

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_STREAM = "gen_ai.request.stream"
REASONING_LEVEL = "gen_ai.request.reasoning.level"  # util-genai 1.3b0
OUTPUT_TYPE = "gen_ai.output.type"
RESPONSE_ID = "gen_ai.response.id"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
TIME_TO_FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
TOKEN_TYPE = "gen_ai.token.type"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
ERROR_TYPE = "error.type"
HTTP_STATUS = "http.response.status_code"

SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
TOOL_DEFINITIONS = "gen_ai.tool.definitions"

INCOMPLETE = "plait.incomplete"
"""Ours: true when a call ended without an error and without a finish reason, as when its caller left."""
RETRY = "plait.retry"
"""Ours: the event of an attempt that failed and is made again."""
RETRY_ATTEMPT = "plait.retry.attempt"
RETRY_WAIT = "plait.retry.wait"

REQUEST_OPTIONS = {
    "gen_ai.request.max_tokens": "max_output_tokens",
    "gen_ai.request.temperature": "temperature",
    "gen_ai.request.top_p": "top_p",
    "gen_ai.request.top_k": "top_k",
    "gen_ai.request.stop_sequences": "stop",
    "gen_ai.request.seed": "seed",
    "gen_ai.request.presence_penalty": "presence_penalty",
    "gen_ai.request.frequency_penalty": "frequency_penalty",
    "gen_ai.request.previous_response.id": "previous_response_id",  # util-genai 1.3b0
}
"""Attributes of a request and the options (fields of `RequestOptions`) that they tell."""

USAGE = {
    "gen_ai.usage.input_tokens": "input_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cache_read_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "cache_write_tokens",
    "gen_ai.usage.cache_write.input_tokens": "cache_write_tokens",  # the newer name (util-genai 1.3b0)
    "gen_ai.usage.reasoning.output_tokens": "reasoning_tokens",
}
"""Attributes of a response's usage and the fields of `TokenUsage` that they tell."""

TOKEN_TYPES = {"input": "input_tokens", "output": "output_tokens"}
"""Values of `gen_ai.token.type` and the fields of `TokenUsage` that they stand for."""

PROVIDERS = {
    "anthropic": "anthropic",
    "azure": "azure.ai.openai",
    "azure-classic": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "gemini": "gcp.gemini",
    "groq": "groq",
    "mistral": "mistral_ai",
    "openai": "openai",
    "perplexity": "perplexity",
    "vertex": "gcp.vertex_ai",
    "xai": "x_ai",
}
"""Well-known values of `gen_ai.provider.name` by our providers' names; other providers keep ours."""

OPERATIONS = {"gemini": "generate_content"}
"""`gen_ai.operation.name` by wire format; all others are `chat`."""

FINISHES = {"tool_calls": "tool_call"}
"""Finish reasons for which the conventions have another word; the others are the same, or only ours."""

SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)


class Metric(NamedTuple):
    """A histogram as the conventions describe it."""

    name: str
    unit: str
    buckets: tuple[float, ...]
    description: str


DURATION = Metric("gen_ai.client.operation.duration", "s", SECONDS, "GenAI operation duration.")
TOKEN_USAGE = Metric(
    "gen_ai.client.token.usage", "{token}", TOKENS, "Number of input and output tokens used."
)
FIRST_CHUNK = Metric(
    "gen_ai.client.operation.time_to_first_chunk",
    "s",
    SECONDS,
    "Time to receive the first chunk, measured from when the client issues the generation request to when "
    "the first chunk is received in the response stream.",
)
PER_CHUNK = Metric(
    "gen_ai.client.operation.time_per_output_chunk",
    "s",
    SECONDS,
    "Time per output chunk, recorded for each chunk received after the first one, measured as the time "
    "elapsed from the end of the previous chunk to the end of the current chunk.",
)
