"""The stream of the Responses API -> moves. What whole items say is read in `response.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

from plait.errors import BadRequestError, PlaitError, ProviderError, ServerError
from plait.wire.assembler import Assembler
from plait.wire.errors import ErrorFacts, error_facts, typed_error
from plait.wire.openai_responses import mapping, wire
from plait.wire.openai_responses.items import Item
from plait.wire.openai_responses.response import Output
from plait.wire.translation import Translator


class ResponsesTranslator(Translator):
    """Reads `openai-responses`."""

    name = "openai-responses"
    types = wire.StreamEvent
    response_type = wire.Response
    terminal = "response.completed, response.incomplete or response.failed"
    ignored = frozenset(mapping.IGNORED)

    def __init__(self, assembler: Assembler, unknown: Counter[str], *, count_fields: bool = False) -> None:
        super().__init__(assembler, unknown)
        self._output = Output(assembler, unknown, count_fields=count_fields)
        self._find = self._output.items.find
        # Where the last piece went, so that the next one need not look for its item.
        self._last: Item | None = None
        self._last_index: int | None = None
        self._last_id: str | None = None
        self._last_part = 0
        self._last_key: Hashable = None

    def read(self, document: Any) -> bool | None:
        """One stream event."""
        handler = self._on.get(document.__class__)
        if handler is None:
            self.assembler.quiet += document.__struct_config__.tag.endswith(".delta")
            return True
        if document.error:
            self._read_beside(document)
        handler(self, document)
        return None

    def read_response(self, body: wire.Response) -> None:
        """A whole response. One that goes on in the background is not ended."""
        status = body.status
        if status is None and body.output is not None:
            status = "completed"
        if status is None or status in mapping.RUNNING_STATUSES:
            self._start(body)
            self._output.finish(body.output or (), cut=True)
            if body.error:
                raise self._failure(body)
            self.assembler.finished(None, status)
        else:
            self._end(body, status)

    def read_error(self, document: dict[str, Any], event: str | None = None) -> PlaitError | None:
        """An error of any shape; a response that failed is not one here: it may hold output."""
        kind = document.get("type")
        if event == "error" or kind in _ERROR_EVENTS:
            # Flat events have no type of their own: "error" only says that they are one.
            flat = {
                name: value
                for name, value in document.items()
                if name != "type" or value not in _ERROR_EVENTS
            }
            return self._typed(error_facts(flat), document, ServerError)
        is_event = isinstance(kind, str) and (kind.startswith("response.") or ":" in kind)
        is_response = document.get("object") == "response" or "output" in document
        if document.get("error") and not is_event and not is_response:
            return self._typed(error_facts(document), document, ProviderError)
        return None

    def _read_beside(self, document: Any) -> None:
        """An error beside an event: what the event says is read, but it does not end the response well."""
        if type(document) not in _TERMINAL:
            self._on[type(document)](self, document)
        raise self._typed(error_facts({"error": document.error}), document.error, ServerError)

    # Content

    def _text(self, event: wire.OutputTextDelta) -> None:
        if (
            self._last is None
            or event.item_id != self._last_id
            or event.output_index != self._last_index
            or event.content_index != self._last_part
            or self._last.kind != "message"
        ):
            item = self._look_up("message", event)
            self._last_part = event.content_index
            self._last_key = self._output.text_key(item, event.content_index)
        self.assembler.text(event.delta, self._last_key)

    def _look_up(self, kind: str, event: wire.ItemEvent) -> Item:
        self._last = self._find(kind, event.output_index, event.item_id)
        self._last_id, self._last_index = event.item_id, event.output_index
        return self._last

    def _text_done(self, event: wire.OutputTextDone) -> None:
        item = self._find("message", event.output_index, event.item_id)
        self._output.whole_text(item, event.content_index, event.text)

    def _refusal(self, event: wire.RefusalDelta) -> None:
        item = self._find("message", event.output_index, event.item_id)
        self._output.refusal(item, event.content_index, event.delta)

    def _refusal_done(self, event: wire.RefusalDone) -> None:
        item = self._find("message", event.output_index, event.item_id)
        self._output.whole_text(item, event.content_index, event.refusal, refusal=True)

    def _annotation(self, event: wire.AnnotationAdded) -> None:
        item = self._find("message", event.output_index, event.item_id)
        self._output.cite(item, event.content_index, event.annotation)

    def _part_done(self, event: wire.ContentPartDone) -> None:
        part = event.part
        if part is None:
            return
        if part.type == "reasoning_text":
            item = self._find("reasoning", event.output_index, event.item_id)
            self._output.whole_reasoning(item, ("text", event.content_index), part.text)
        else:
            item = self._find("message", event.output_index, event.item_id)
            self._output.whole_part(item, event.content_index, part)

    # Reasoning

    def _reasoning_text(self, event: wire.ReasoningTextDelta) -> None:
        item = self._find("reasoning", event.output_index, event.item_id)
        self._output.reasoning(item, ("text", event.content_index), event.delta)

    def _reasoning_text_done(self, event: wire.ReasoningTextDone) -> None:
        item = self._find("reasoning", event.output_index, event.item_id)
        self._output.whole_reasoning(item, ("text", event.content_index), event.text)

    def _summary(self, event: wire.ReasoningSummaryDelta) -> None:
        item = self._last
        if (
            item is None
            or event.item_id != self._last_id
            or event.output_index != self._last_index
            or item.kind != "reasoning"
        ):
            item = self._look_up("reasoning", event)
        self._output.reasoning(item, ("summary", event.summary_index), event.delta)

    def _summary_done(self, event: wire.ReasoningSummaryDone) -> None:
        item = self._find("reasoning", event.output_index, event.item_id)
        self._output.whole_reasoning(item, ("summary", event.summary_index), event.text)

    def _summary_part_done(self, event: wire.SummaryPartDone) -> None:
        if event.part is not None:
            item = self._find("reasoning", event.output_index, event.item_id)
            self._output.whole_reasoning(item, ("summary", event.summary_index), event.part.text)

    # Tool calls

    def _arguments(self, event: wire.ArgumentsDelta) -> None:
        item = self._last
        if (
            item is None
            or event.item_id != self._last_id
            or event.output_index != self._last_index
            or item.kind != "function_call"
        ):
            item = self._look_up("function_call", event)
        self._output.arguments(item, event.delta)

    def _arguments_done(self, event: wire.ArgumentsDone) -> None:
        item = self._find("function_call", event.output_index, event.item_id)
        self._output.whole_arguments(item, mapping.text_of(event.arguments))

    def _input(self, event: wire.CustomInputDelta) -> None:
        item = self._find("custom_tool_call", event.output_index, event.item_id)
        self._output.arguments(item, event.delta)

    def _input_done(self, event: wire.CustomInputDone) -> None:
        item = self._find("custom_tool_call", event.output_index, event.item_id)
        self._output.whole_arguments(item, mapping.text_of(event.input))

    # Items

    def _item_added(self, event: wire.OutputItemAdded) -> None:
        self._last = None
        self._output.added(event.item, event.output_index)

    def _item_done(self, event: wire.OutputItemDone) -> None:
        self._last = None
        self._output.done(event.item, event.output_index)

    def _search_in_progress(self, event: wire.SearchInProgress) -> None:
        item = self._find("web_search_call", event.output_index, event.item_id)
        self._output.search_status(item, "in_progress")

    def _search_searching(self, event: wire.SearchSearching) -> None:
        item = self._find("web_search_call", event.output_index, event.item_id)
        self._output.search_status(item, "searching")

    def _search_completed(self, event: wire.SearchCompleted) -> None:
        item = self._find("web_search_call", event.output_index, event.item_id)
        self._output.search_status(item, "completed")

    # Response

    def _response(self, event: wire.ResponseCreated | wire.ResponseQueued | wire.ResponseInProgress) -> None:
        if event.response is not None:
            self._start(event.response)
            if event.response.error:
                raise self._failure(event.response)

    def _completed(self, event: wire.ResponseCompleted) -> None:
        self._end(event.response or wire.Response(), "completed")

    def _incomplete(self, event: wire.ResponseIncomplete) -> None:
        self._end(event.response or wire.Response(), "incomplete")

    def _failed(self, event: wire.ResponseFailed) -> None:
        self._end(event.response or wire.Response(), "failed")

    def _start(self, response: wire.Response) -> None:
        self.assembler.started(response.id, response.model)

    def _end(self, response: wire.Response, named: str) -> None:
        """The terminal event, or a whole body. Of its status and the event's name the worse one counts."""
        said = {named, response.status}
        reason = (response.incomplete_details.reason or None) if response.incomplete_details else None
        failed = "failed" in said or bool(response.error)
        incomplete = "incomplete" in said or reason is not None
        self._start(response)
        self._output.finish(response.output or (), cut=failed or incomplete or "cancelled" in said)
        if response.usage is not None and (usage := mapping.token_usage(response.usage)) is not None:
            self.assembler.usage(usage)
        if failed:
            raise self._failure(response)
        if incomplete:
            if reason is not None and reason not in mapping.INCOMPLETE_REASONS:
                self.unknown[f"finish_reason:{reason}"] += 1
            self.assembler.finished(
                mapping.INCOMPLETE_REASONS.get(reason or "", "other"), reason or "incomplete"
            )
        elif "cancelled" in said:
            self.assembler.finished("other", "cancelled")
        else:
            if response.status not in mapping.FINAL_STATUSES | mapping.RUNNING_STATUSES | {None}:
                self.unknown[f"status:{response.status}"] += 1
            word = named if response.status in mapping.RUNNING_STATUSES else response.status or named
            finish, refusal = self._output.finish_reason()
            self.assembler.finished(finish, refusal or word)
        self.assembler.end()

    # Errors

    def _failure(self, response: wire.Response) -> ProviderError:
        document = {"error": response.error}
        facts = error_facts(document) if response.error else ErrorFacts("the response failed")
        return self._typed(facts, response.error, ServerError)

    def _error(self, event: wire.ErrorEvent) -> None:
        fields = {"error": event.error, "code": event.code, "message": event.message, "param": event.param}
        document = {"type": "error", **{name: value for name, value in fields.items() if value is not None}}
        error = self.read_error(document, "error")
        assert error is not None
        raise error

    def _typed(self, facts: ErrorFacts, raw: Any, default: type[ProviderError]) -> ProviderError:
        """`default` is the class of an error whose code nobody knows (in a stream: the provider failed)."""
        facts.raw = raw
        if facts.type == "invalid_request_error":
            default = BadRequestError
        return typed_error(
            facts, mapping.ERRORS, provider=self.name, retry_after=_retry_after(raw), default=default
        )

    _on: ClassVar[dict[type, Callable[[Any, Any], None]]] = {
        wire.OutputTextDelta: _text,
        wire.RefusalDelta: _refusal,
        wire.ReasoningTextDelta: _reasoning_text,
        wire.ReasoningSummaryDelta: _summary,
        wire.ArgumentsDelta: _arguments,
        wire.CustomInputDelta: _input,
        wire.OutputTextDone: _text_done,
        wire.RefusalDone: _refusal_done,
        wire.ReasoningTextDone: _reasoning_text_done,
        wire.ReasoningSummaryDone: _summary_done,
        wire.ArgumentsDone: _arguments_done,
        wire.CustomInputDone: _input_done,
        wire.ContentPartDone: _part_done,
        wire.SummaryPartDone: _summary_part_done,
        wire.AnnotationAdded: _annotation,
        wire.SearchInProgress: _search_in_progress,
        wire.SearchSearching: _search_searching,
        wire.SearchCompleted: _search_completed,
        wire.OutputItemAdded: _item_added,
        wire.OutputItemDone: _item_done,
        wire.ResponseCreated: _response,
        wire.ResponseQueued: _response,
        wire.ResponseInProgress: _response,
        wire.ResponseCompleted: _completed,
        wire.ResponseIncomplete: _incomplete,
        wire.ResponseFailed: _failed,
        wire.ErrorEvent: _error,
    }


_ERROR_EVENTS = ("error", "response.error")
_TERMINAL = (wire.ResponseCompleted, wire.ResponseIncomplete, wire.ResponseFailed)


def _retry_after(raw: Any) -> float | None:
    """Seconds in the `headers` that OpenAI puts into the error of an event."""
    error = raw.get("error", raw) if isinstance(raw, dict) else None
    headers = error.get("headers") if isinstance(error, dict) else None
    if not isinstance(headers, dict):
        return None
    from plait.wire.http_errors import retry_after  # reading dates is a slow import, and rarely needed

    return retry_after({name.lower(): str(value) for name, value in headers.items()})
