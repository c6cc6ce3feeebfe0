"""Messages: roles and content parts. Importing this package imports pydantic."""

from plait.events import ReasoningPart, TokenUsage
from plait.messages.content import TextCitation, TextPart, UserContent, UserPart
from plait.messages.json_value import MAX_DEPTH, check_json
from plait.messages.media import Content, DataSource, FilePart, ImagePart, UrlSource
from plait.messages.parts import AssistantPart, ProviderPart, ReasoningContent, ToolCallPart
from plait.messages.results import (
    ContentOutput,
    ErrorJson,
    ErrorText,
    ExecutionDenied,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolResultPart,
)
from plait.messages.roles import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from plait.messages.schema import (
    MessageSchema,
    NotParsed,
    Parsed,
    create_message_schema,
    is_message,
    parse_message,
    parse_messages,
    safe_parse,
)
from plait.messages.transcript import Problem, ProblemKind, check_transcript

__all__ = [
    "MAX_DEPTH",
    "AssistantContent",
    "AssistantMessage",
    "AssistantPart",
    "Content",
    "ContentOutput",
    "DataSource",
    "ErrorJson",
    "ErrorText",
    "ExecutionDenied",
    "FilePart",
    "ImagePart",
    "JsonOutput",
    "Message",
    "MessageSchema",
    "NotParsed",
    "Parsed",
    "Problem",
    "ProblemKind",
    "ProviderPart",
    "ReasoningContent",
    "ReasoningPart",
    "SystemMessage",
    "TextCitation",
    "TextOutput",
    "TextPart",
    "TokenUsage",
    "ToolCallPart",
    "ToolMessage",
    "ToolOutput",
    "ToolResultPart",
    "UrlSource",
    "UserContent",
    "UserMessage",
    "UserPart",
    "check_json",
    "check_transcript",
    "create_message_schema",
    "is_message",
    "parse_message",
    "parse_messages",
    "safe_parse",
]
