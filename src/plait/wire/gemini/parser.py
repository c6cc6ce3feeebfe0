"""Gemini's chunks -> moves. Each part of a chunk is added to the message; there are no starts and stops.

Consecutive text parts without a signature are one part of the message, and so are thoughts. A signed part
stays by itself, since its signature goes back with exactly this part. A response is over when the body is:
what says that it is whole, a finish reason, may be followed by more of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from copy import copy
from typing import Any, Literal

import msgspec

from plait import json_text
from plait.errors import PlaitError
from plait.events import TokenUsage
from plait.wire.assembler import Assembler
from plait.wire.errors import error_facts, typed_error
from plait.wire.gemini import mapping, wire
from plait.wire.gemini.grounding import GroundingReader
from plait.wire.gemini.partial_args import MisplacedError, PartialArguments
from plait.wire.translation import Translator

_CUT = frozenset({"length", "content_filter", "malformed_output", "error"})
"""Finish reasons after which a call that promised more of itself was cut."""


class _OpenCall:
    """A function call of which more may come. Without `writer` its arguments have come whole."""

    __slots__ = ("broken", "id", "key", "writer")

    def __init__(self, key: Hashable, id: str | None, writer: PartialArguments | None) -> None:
        self.key = key
        self.id = id
        self.writer = writer
        self.broken = False


class GeminiTranslator(Translator):
    """Reads `gemini`."""

    name = "gemini"
    types = wire.Chunk
    response_type = wire.Chunk
    terminal = "a finishReason or a promptFeedback.blockReason, and the end of the body"
    framings = ("sse", "json-array")

    def __init__(self, assembler: Assembler, unknown: Counter[str], *, count_fields: bool = False) -> None:
        # `count_fields` is the parser's reader's business: here no document is read by itself.
        super().__init__(assembler, unknown)
        self._named = False
        self._usage: wire.Usage | None = None
        self._run: Literal["text", "thought"] | None = None  # what a part without signature would continue
        self._key = 0  # of the newest part
        self._texts: list[Hashable] = []
        self._call: _OpenCall | None = None
        self._tools = 0  # how many code blocks and URLs have got an id from us
        self._code_id = ""
        self._urls: set[str] = set()
        self._cut = False
        self._grounding = GroundingReader(assembler)
        assembler.usage_from(self._token_usage)

    def read(self, chunk: wire.Chunk) -> None:
        """One chunk of a stream."""
        if not self._named or chunk.error:
            self._read_start(chunk)
        for candidate in chunk.candidates or ():
            if candidate.index:
                self.unknown[f"candidate:{candidate.index}"] += 1
                continue
            content = candidate.content
            if content is not None and content.parts:
                for part in content.parts:
                    self._read_part(part)
            if candidate.finish_reason:
                self._finish(candidate.finish_reason)
            if candidate.grounding_metadata is not None:
                self._grounding.add(candidate.grounding_metadata)
            if candidate.url_context_metadata is not None:
                self._read_urls(candidate.url_context_metadata)
            if candidate.citation_metadata is not None:
                self._grounding.recite(candidate.citation_metadata)
        if chunk.prompt_feedback is not None:
            self._read_feedback(chunk.prompt_feedback)
        if chunk.usage_metadata is not None:
            if self._usage is not None:
                chunk.usage_metadata.keep(self._usage)
            self._usage = chunk.usage_metadata

    def read_response(self, body: wire.Chunk) -> None:
        """A whole answer."""
        self.read(body)
        self.end_of_body()

    def read_error(self, document: dict[str, Any], event: str | None = None) -> PlaitError | None:
        """Google's `{"error": {code, message, status, details}}`."""
        if document.get("error") or event == "error":
            return typed_error(error_facts(document), mapping.ERRORS, provider="google")
        return None

    def end_of_body(self) -> None:
        """The body is over: so is the response, when it has said why it finished."""
        if not self.assembler.finish_seen:
            return
        if self._call is not None:
            self._close_call(cut=self._cut)
        self._grounding.end(self._texts)
        self.assembler.end()

    # Response

    def _read_start(self, chunk: wire.Chunk) -> None:
        if chunk.error:
            error, chunk.error = self.read_error({"error": chunk.error}), None
            assert error is not None
            self.read(chunk)
            raise error
        if chunk.response_id or chunk.model_version:
            self.assembler.started(chunk.response_id, chunk.model_version)
            self._named = bool(chunk.response_id and chunk.model_version)

    def _read_feedback(self, feedback: wire.PromptFeedback) -> None:
        if feedback.block_reason and not self._says_nothing(feedback.block_reason):
            if feedback.block_reason not in mapping.BLOCK_REASONS:
                self.unknown[f"block_reason:{feedback.block_reason}"] += 1
            self.assembler.finished("content_filter", feedback.block_reason)

    def _says_nothing(self, raw: str) -> bool:
        """Whether this is protobuf's default, which a gateway that prints defaults puts into every chunk."""
        if raw not in mapping.UNSPECIFIED:
            return False
        self.unknown[f"finish_reason:{raw}"] += 1
        return True

    def _finish(self, raw: str) -> None:
        if self._says_nothing(raw):
            return
        reason = mapping.FINISH_REASONS.get(raw)
        if reason is None:
            self.unknown[f"finish_reason:{raw}"] += 1
        self._cut = reason in _CUT
        self.assembler.finished(reason or "other", raw)

    def _token_usage(self) -> TokenUsage | None:
        return None if self._usage is None else mapping.token_usage(self._usage)

    # Parts

    def _read_part(self, part: wire.Part) -> None:
        text = part.text
        signature = part.thought_signature
        call = part.function_call
        if call is not None:
            self._function_part(part, call)
            return
        if text is None and signature is not None and part == wire.Part(thought_signature=signature):
            text = ""
        if text is not None:
            if part.thought:
                self._thought(text, signature)
            elif signature is None:
                if text:
                    if self._run != "text":
                        self._texts.append(self._next())
                        self._run = "text"
                    self.assembler.text(text, self._key)
            else:
                self._texts.append(self._next())
                self.assembler.text(text, self._key)
                self.assembler.text_signed(signature, self._key)
        if part.inline_data is not None or part.file_data is not None:
            self._file(part)
        if part.executable_code is not None:
            self._code(part, part.executable_code)
        if part.code_execution_result is not None:
            self._code_result(part, part.code_execution_result)
        if part.tool_call is not None:
            self._tool_call(part, part.tool_call)
        if part.tool_response is not None:
            self._tool_response(part, part.tool_response)
        if part.other is not None:
            self._other(part, part.other)

    def _next(self) -> int:
        """The key of a part that follows, whatever came before."""
        if self._run == "thought":
            self.assembler.reasoning_done(self._key)
        self._run = None
        self._key += 1
        return self._key

    def _thought(self, text: str, signature: str | None) -> None:
        if not text and signature is None:
            return
        if self._run != "thought" or signature is not None:
            self._next()
            self._run = "thought"
        self.assembler.reasoning(text, self._key, type="summary", format=mapping.FORMAT, signature=signature)
        if signature is not None:
            self._next()

    def _file(self, part: wire.Part) -> None:
        blob, file = part.inline_data, part.file_data
        if part.thought:
            self._keep(part)  # a draft, not the answer
            return
        self._next()
        signature = part.thought_signature
        if blob is not None:
            media_type = blob.mime_type or "application/octet-stream"
            self.assembler.file(media_type, data=blob.data or "", signature=signature)
        if file is not None:
            media_type = file.mime_type or "application/octet-stream"
            self.assembler.file(media_type, url=file.file_uri or "", signature=signature)

    # Function calls

    def _function_part(self, part: wire.Part, call: wire.FunctionCall) -> None:
        """A function call, perhaps beside other data (gateways do that); the signature is the call's."""
        rest = copy(part)
        rest.function_call = rest.thought_signature = rest.other = None
        if rest != wire.Part():
            self._read_part(rest)
        self._function_call(call, part.thought_signature)

    def _function_call(self, call: wire.FunctionCall, signature: str | None) -> None:
        open_ = self._call
        if call.name and (open_ is None or call.id is None or call.id != open_.id):
            open_ = self._start_call(call.name, call)
        if open_ is None:
            self.unknown["part:functionCall without a name"] += 1
            if not call.args and not call.id:
                return
            open_ = self._start_call("", call)
        if signature is not None:
            self.assembler.tool_call_extra(open_.key, signature=signature)
        for arg in call.partial_args or ():
            self._partial_arg(open_, arg)
        if not call.will_continue:
            self._close_call()

    def _start_call(self, name: str, call: wire.FunctionCall) -> _OpenCall:
        if self._call is not None:
            self._close_call()
        key = self._next()
        self.assembler.tool_call_started(key, name=name, call_id=call.id)
        arguments = json_text.object_text(call.args) if call.args else "null"
        whole = "{}" if arguments == "null" else arguments
        if whole == "{}" and (call.partial_args or call.will_continue):
            self._call = _OpenCall(key, call.id, PartialArguments())
        else:
            self._call = _OpenCall(key, call.id, None)
            self.assembler.tool_call_arguments(key, whole)
        return self._call

    def _partial_arg(self, call: _OpenCall, arg: wire.PartialArg) -> None:
        if call.broken:
            return
        try:
            if call.writer is None:
                raise MisplacedError
            self.assembler.tool_call_arguments(call.key, call.writer.write(arg))
        except MisplacedError:
            call.broken = True
            self.unknown["partialArgs:a path that cannot be written"] += 1

    def _close_call(self, *, cut: bool = False) -> None:
        call, self._call = self._call, None
        assert call is not None
        if call.writer is not None and not call.broken and not cut:
            end = call.writer.close()
            self.assembler.tool_call_arguments(call.key, end or "")
            cut = end is None
        self.assembler.tool_call_done(call.key, cut=cut or call.broken)

    # What the provider does by itself

    def _code(self, part: wire.Part, code: Any) -> None:
        key = self._keep(part)
        id_, code = _split_id(code)
        self._code_id = id_ or self._new_id(mapping.CODE_TOOL)
        self.assembler.server_tool_call(key, self._code_id, mapping.CODE_TOOL, code)

    def _code_result(self, part: wire.Part, result: Any) -> None:
        key = self._keep(part)
        id_, result = _split_id(result)
        id_ = id_ or self._code_id or self._new_id(mapping.CODE_TOOL)
        self.assembler.server_tool_result(key, id_, mapping.CODE_TOOL, result)

    def _tool_call(self, part: wire.Part, call: Any) -> None:
        key = self._keep(part)
        id_, name = _named(call)
        arguments = call.get("args") if isinstance(call, dict) else None
        if name == mapping.SEARCH_TOOL:
            queries = arguments.get("queries") if isinstance(arguments, dict) else None
            known = queries if isinstance(queries, list) else []
            self._grounding.searching(key, [query for query in known if isinstance(query, str)])
        else:
            self.assembler.server_tool_call(key, id_ or self._new_id(name), name.lower(), arguments)

    def _tool_response(self, part: wire.Part, response: Any) -> None:
        key = self._keep(part)
        id_, name = _named(response)
        if name == mapping.SEARCH_TOOL:
            self._grounding.searched(key)
        else:
            output = response.get("response") if isinstance(response, dict) else None
            self.assembler.server_tool_result(key, id_ or self._new_id(name), name.lower(), output)

    def _read_urls(self, context: wire.UrlContext) -> None:
        for page in context.url_metadata or ():
            if page.retrieved_url is not None and page.retrieved_url not in self._urls:
                self._urls.add(page.retrieved_url)
                self._grounding.fetched = True
                output = {"url": page.retrieved_url, "status": page.url_retrieval_status}
                id_ = self._new_id(mapping.URL_TOOL)
                self.assembler.server_tool_result(None, id_, mapping.URL_TOOL, output)

    def _other(self, part: wire.Part, other: dict[str, Any]) -> None:
        """Fields that nobody knows. Beside known data they say nothing; else they are the part's data."""
        if part == wire.Part(thought=part.thought, thought_signature=part.thought_signature, other=other):
            self._keep(part)
            for name in other:
                self.unknown[f"part:{name}"] += 1

    def _keep(self, part: wire.Part) -> int:
        """The part as it came, for replay."""
        key = self._next()
        self.assembler.provider_block(key, mapping.FORMAT, to_wire(part))
        return key

    def _new_id(self, name: str) -> str:
        self._tools += 1
        return f"{name.lower()}_{self._tools}"


def to_wire(part: wire.Part) -> dict[str, Any]:
    """A part as it was on the wire."""
    data: dict[str, Any] = msgspec.to_builtins(part)
    other = data.pop("*", None) or {}
    return {name: value for name, value in data.items() if value is not None} | other


def _split_id(data: Any) -> tuple[str | None, Any]:
    """The `id` of a code part, and the rest of it."""
    if not isinstance(data, dict):
        return None, data
    id_ = data.get("id")
    rest = {name: value for name, value in data.items() if name != "id"}
    return (id_ if isinstance(id_, str) and id_ else None), rest


def _named(data: Any) -> tuple[str | None, str]:
    """The `id` and the `toolType` of a server tool's part."""
    if not isinstance(data, dict):
        return None, ""
    id_, name = data.get("id"), data.get("toolType")
    return (id_ if isinstance(id_, str) and id_ else None), name if isinstance(name, str) else ""
