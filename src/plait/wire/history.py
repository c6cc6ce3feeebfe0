"""A conversation -> what one target takes: pairs, ids, roles and parts, by that target's rules.

The rules of history are the same few on every wire, with different values: which ids and names are taken,
where system text may stand, whether roles must alternate, what a tool result may hold. They are data
(`HistoryRules`); everything the target does not take is an error that says what to do, or a note.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from plait import json_text
from plait.errors import InvalidDataError
from plait.messages import (
    AssistantMessage,
    ContentOutput,
    ErrorJson,
    ErrorText,
    ExecutionDenied,
    FilePart,
    ImagePart,
    JsonOutput,
    Message,
    ProviderPart,
    ReasoningContent,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolOutput,
    ToolResultPart,
    UserMessage,
)
from plait.wire.plan import Notes

INTERRUPTED = "Tool call interrupted before completion."
"""What answers, with `repair`, a call that has no result."""

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class HistoryRules:
    """What one target takes.

    Attributes:
        sends: whether the target takes back what was made under this format
        late_system: system text after the first user or assistant turn stays where it is (`inline`), or is
            sent as the user's (`user`)
        one_system: the leading system messages become one
        merge: roles of which two turns in a row become one
        id_pattern: ids of tool calls that the target takes as they are
        id_length: length of the ids put in place of others
        unique_ids: no two calls of the whole history may have the same id
        name_pattern: names of tools that the target takes
        object_arguments: a call's arguments must be a JSON object
        custom_tools: calls with free text instead of JSON are taken
        result_media: images and files may stand in a tool result; else they follow as the user's
        continues: the history goes on one that the provider keeps, so a result may answer a call of that
    """

    sends: Callable[[str], bool] = lambda _format: False
    late_system: Literal["inline", "user"] = "inline"
    one_system: bool = False
    merge: frozenset[Role] = frozenset()
    id_pattern: str = r".+"
    id_length: int = 24
    unique_ids: bool = False
    name_pattern: str = r"[a-zA-Z0-9_-]{1,64}"
    object_arguments: bool = False
    custom_tools: bool = False
    result_media: bool = True
    continues: bool = False


@dataclass(slots=True)
class Call:
    """A tool call, ready for the target. `id` is what goes on the wire; `native_id` the provider's own.

    `item_id` is the id of the item that was the call, where that is another one (OpenAI Responses).
    """

    path: str
    id: str
    native_id: str | None
    name: str
    arguments: str
    kind: Literal["function", "custom"] = "function"
    signature: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    item_id: str | None = None

    @property
    def input(self) -> Any:
        """The arguments as JSON data."""
        return json_text.loads(self.arguments)


@dataclass(slots=True)
class Result:
    """A tool's result, with the id and name of the call it answers."""

    path: str
    call: Call
    output: ToolOutput

    @property
    def is_error(self) -> bool:
        """Whether the tool failed or was not allowed to run."""
        return isinstance(self.output, ErrorText | ErrorJson | ExecutionDenied)

    @property
    def text(self) -> str:
        """The output as text; JSON as JSON text, parts as the text among them."""
        match self.output:
            case TextOutput(value=value) | ErrorText(value=value):
                return value
            case JsonOutput(value=data) | ErrorJson(value=data):
                return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
            case ExecutionDenied():
                reason = getattr(self.output, "reason", None) or getattr(self.output, "value", None)
                return (
                    f"The call was not allowed to run: {reason}"
                    if reason
                    else "The call was not allowed to run."
                )
            case ContentOutput(value=parts):
                return "\n".join(part.text for part in parts if isinstance(part, TextPart))
        raise AssertionError(self.output)

    @property
    def marked_text(self) -> str:
        """The output as text that itself says when it is a failure: for targets with no mark for that."""
        match self.output:
            case ErrorText(value=text):
                return text if text.lower().startswith("error") else f"Error: {text}"
            case ErrorJson(value=data):
                return json.dumps({"error": data}, ensure_ascii=False, separators=(",", ":"))
        return self.text

    @property
    def parts(self) -> list[TextPart | ImagePart | FilePart]:
        """The output as parts: those it has, or its text as one."""
        if isinstance(self.output, ContentOutput):
            return [part for part in self.output.value if not isinstance(part, TextPart) or part.text]
        return [TextPart(text=self.text)] if self.text else []


Item: TypeAlias = TextPart | ImagePart | FilePart | ReasoningContent | ProviderPart | Call | Result


@dataclass(slots=True)
class Turn:
    """One turn: its role, its items, and the path of each in the messages (`messages[2].content[0]`)."""

    role: Role
    items: list[Item]
    paths: list[str]


def prepare(
    messages: Sequence[Message], rules: HistoryRules, notes: Notes, *, repair: bool = False
) -> list[Turn]:
    """The turns a target takes.

    Reasoning and provider parts keep only details whose format the target sends; empty text and turns go;
    results stand in the order of their calls, directly after them.

    Args:
        messages: the conversation, already of message types
        rules: the target's
        notes: where everything that is not sent as it stands is noted
        repair: mend what the target would refuse, with a note, instead of raising

    Raises:
        InvalidDataError: what the target would refuse; the message names the message by index
    """
    return _Preparation(rules, notes, repair).run(messages)


class _Preparation:
    def __init__(self, rules: HistoryRules, notes: Notes, repair: bool) -> None:
        self._rules = rules
        self._notes = notes
        self._repair = repair
        self._used: set[tuple[int, int]] = set()  # results that answer a call, by message and part
        self._ids: set[str] = set()

    def run(self, messages: Sequence[Message]) -> list[Turn]:
        turns: list[Turn] = []
        for index, message in enumerate(messages):
            match message:
                case SystemMessage():
                    turns += self._system(index, message, turns)
                case UserMessage():
                    turns += self._user(index, message)
                case AssistantMessage():
                    turn = self._assistant(index, message)
                    turns += [turn] if turn is not None else []
                    if turn is not None:
                        turns += self._results(index, message, turn, messages)
                case ToolMessage():  # else taken with the calls it answers
                    turns += self._kept_results(index, message) if self._rules.continues else []
        self._orphans(messages)
        return self._merged(turns)

    # Roles

    def _system(self, index: int, message: SystemMessage, before: list[Turn]) -> list[Turn]:
        path = f"messages[{index}]"
        if not message.content.strip():
            self._notes.add("dropped", path, "a system message without text says nothing")
            return []
        late = any(turn.role != "system" for turn in before)
        if late and self._rules.late_system == "user":
            self._notes.add("moved", path, "system text after the first turn is sent as the user's")
            return [Turn("user", [TextPart(text=message.content)], [path])]
        return [Turn("system", [TextPart(text=message.content)], [path])]

    def _user(self, index: int, message: UserMessage) -> list[Turn]:
        items: list[Item] = []
        paths: list[str] = []
        for number, part in enumerate(message.content):
            path = f"messages[{index}].content[{number}]"
            if not isinstance(part, TextPart) or self._says_something(path, part):
                items.append(part)
                paths.append(path)
        if items:
            return [Turn("user", items, paths)]
        self._refuse(f"messages[{index}]", "a user message needs content", "remove it")
        self._notes.add("dropped", f"messages[{index}]", "a user message needs content")
        return []

    def _assistant(self, index: int, message: AssistantMessage) -> Turn | None:
        turn = Turn("assistant", [], [])
        for number, part in enumerate(message.content):
            path = f"messages[{index}].content[{number}]"
            item: Item | None
            match part:
                case TextPart():
                    item = self._text(path, part)
                case ReasoningContent():
                    item = self._reasoning(path, part)
                case ProviderPart():
                    item = self._provider(path, part)
                case ToolCallPart():
                    item = self._call(path, part)
                case _:
                    item = part
            if item is not None:
                turn.items.append(item)
                turn.paths.append(path)
        if turn.items:
            return turn
        self._notes.add("dropped", f"messages[{index}]", "nothing in this assistant message can be sent")
        return None

    # Parts

    def _text(self, path: str, part: TextPart) -> TextPart | None:
        own = part.format is not None and self._rules.sends(part.format)
        if not own and (part.signature or part.extra or part.format):
            for name in ("signature", "extra"):
                if getattr(part, name):
                    self._notes.add(
                        "dropped", f"{path}.{name}", f"made by {part.format!r}: only it takes it back"
                    )
            part = part.model_copy(update={"signature": None, "extra": None, "format": None})
        if part.citations:
            kept = [one for one in part.citations if one.format is not None and self._rules.sends(one.format)]
            if len(kept) < len(part.citations):
                self._notes.add("dropped", f"{path}.citations", "this target does not take them back")
            part = part.model_copy(update={"citations": kept or None})
        return part if part.signature or part.extra or self._says_something(path, part) else None

    def _says_something(self, path: str, part: TextPart) -> bool:
        """Whether there is more than white space: providers refuse that, and without it nothing is lost."""
        if part.text and not part.text.strip():
            self._notes.add("dropped", path, "text of white space alone")
        return bool(part.text.strip())

    def _reasoning(self, path: str, part: ReasoningContent) -> ReasoningContent | None:
        kept = []
        for number, detail in enumerate(part.details):
            if detail.format is not None and self._rules.sends(detail.format):
                kept.append(detail)
            else:
                made = f"made as {detail.format!r}" if detail.format else "kept for display only"
                self._notes.add(
                    "dropped",
                    f"{path}.details[{number}]",
                    f"reasoning {made}: this target does not take it back",
                )
        return part.model_copy(update={"details": kept}) if kept or not part.details else None

    def _provider(self, path: str, part: ProviderPart) -> ProviderPart | None:
        if self._rules.sends(part.format):
            return part
        self._notes.add(
            "dropped", path, f"a block made as {part.format!r}: only its own provider takes it back"
        )
        return None

    def _call(self, path: str, part: ToolCallPart) -> Call:
        own = part.format is not None and self._rules.sends(part.format)
        given = part.call_id or part.tool_call_id
        call = Call(
            path,
            self._id(path, given),
            part.call_id,
            self._name(path, part.tool_name),
            part.arguments,
            part.kind,
            part.signature if own else None,
            dict(part.extra or {}) if own else {},
            part.tool_call_id if part.call_id and part.call_id != part.tool_call_id else None,
        )
        self._fit_arguments(call, part)
        return call

    def _fit_arguments(self, call: Call, part: ToolCallPart) -> None:
        where = f"{call.path}.arguments"
        if not json_text.is_json(call.arguments) or (
            self._rules.object_arguments and not _is_finite(call.input)
        ):
            call.kind, call.arguments = "function", json.dumps({"raw": call.arguments}, ensure_ascii=False)
            self._notes.add(
                "demoted", where, 'not JSON: sent as {"raw": <the text>}, for a target takes only JSON'
            )
            return
        if call.kind == "custom" and not self._rules.custom_tools:
            call.kind, call.arguments = "function", json.dumps({"input": call.input}, ensure_ascii=False)
            self._notes.add("demoted", where, 'the text of a custom tool: sent as {"input": <the text>}')
        if self._rules.object_arguments and not isinstance(call.input, dict):
            call.arguments = json.dumps({"value": call.input}, ensure_ascii=False)
            self._notes.add("demoted", where, 'not a JSON object: sent as {"value": <the arguments>}')

    def _id(self, path: str, given: str) -> str:
        made, why = given, "is no id here"
        if not re.fullmatch(self._rules.id_pattern, given):
            made = short_id(given, self._rules.id_length)
        while self._rules.unique_ids and made in self._ids:
            made = short_id(f"{given} {len(self._ids)}", self._rules.id_length)
            why = "is taken by another call"
        self._ids.add(made)
        if made != given:
            self._notes.add("renamed", f"{path}.call_id", f"{given[:64]!r} {why}: sent as {made!r}")
        return made

    def _name(self, path: str, given: str) -> str:
        made = sent_name(given, self._rules.name_pattern)
        if made != given:
            self._notes.add(
                "renamed", f"{path}.tool_name", f"{given[:64]!r} is no name here: sent as {made!r}"
            )
        return made

    # Results

    def _results(
        self, index: int, message: AssistantMessage, turn: Turn, messages: Sequence[Message]
    ) -> Iterable[Turn]:
        """The results of a turn's calls, in the order of the calls, as the turn after it."""
        parts = [part for part in message.content if isinstance(part, ToolCallPart)]
        calls = [item for item in turn.items if isinstance(item, Call)]
        answers = Turn("tool", [], [])
        near = index + 1
        while near < len(messages) and isinstance(messages[near], ToolMessage):
            near += 1
        for part, call in zip(parts, calls, strict=True):
            found = self._find(part, messages, index + 1)
            if found is None:
                self._refuse(
                    f"messages[{index}]",
                    f"tool call {part.tool_call_id!r} has no result",
                    "add a tool message with its result directly after it",
                )
                self._notes.add("added", call.path, f"the call has no result: answered with {INTERRUPTED!r}")
                answers.items.append(Result(call.path, call, ErrorText(value=INTERRUPTED)))
                answers.paths.append(call.path)
                continue
            at, number, result = found
            path = f"messages[{at}].content[{number}]"
            if at >= near:
                self._refuse(
                    f"messages[{at}]",
                    f"the result of tool call {part.tool_call_id!r} does not directly follow "
                    f"messages[{index}], which asked for it",
                    "move it there",
                )
                self._notes.add("moved", path, f"to directly after messages[{index}], which asked for it")
            answers.items.append(Result(path, call, result.output))
            answers.paths.append(path)
        if not answers.items:
            return []
        return [answers] if self._rules.result_media else self._without_media(answers)

    def _find(
        self, call: ToolCallPart, messages: Sequence[Message], start: int
    ) -> tuple[int, int, ToolResultPart] | None:
        for at in range(start, len(messages)):
            message = messages[at]
            if isinstance(message, AssistantMessage):
                if any(part.tool_call_id == call.tool_call_id for part in message.tool_calls):
                    return None  # the id is used again: what follows answers that call
            elif isinstance(message, ToolMessage):
                for number, part in enumerate(message.content):
                    if (at, number) not in self._used and part.tool_call_id == call.tool_call_id:
                        self._used.add((at, number))
                        return at, number, part
        return None

    def _kept_results(self, index: int, message: ToolMessage) -> list[Turn]:
        """Results of calls that only the provider still has."""
        turn = Turn("tool", [], [])
        for number, part in enumerate(message.content):
            if (index, number) not in self._used:
                self._used.add((index, number))
                path = f"messages[{index}].content[{number}]"
                given = part.call_id or part.tool_call_id
                turn.items.append(
                    Result(path, Call(path, given, part.call_id, part.tool_name, "{}"), part.output)
                )
                turn.paths.append(path)
        return [turn] if turn.items else []

    def _orphans(self, messages: Sequence[Message]) -> None:
        for at, message in enumerate(messages):
            if isinstance(message, ToolMessage):
                for number, part in enumerate(message.content):
                    if (at, number) not in self._used:
                        path = f"messages[{at}].content[{number}]"
                        self._refuse(
                            path,
                            f"no open tool call before it has the id {part.tool_call_id!r}",
                            "remove it, or put the assistant message that asked for it before it",
                        )
                        self._notes.add("dropped", path, "a result without its call")

    def _without_media(self, turn: Turn) -> list[Turn]:
        """Results whose images and files follow as the user's, tagged with the call they belong to."""
        media = Turn("user", [], [])
        for number, item in enumerate(turn.items):
            assert isinstance(item, Result)
            output = item.output
            if not isinstance(output, ContentOutput):
                continue
            moved = [part for part in output.value if not isinstance(part, TextPart)]
            if not moved:
                continue
            tag = f"Result of tool call {item.call.id} ({item.call.name}):"
            media.items += [TextPart(text=tag), *moved]
            media.paths += [turn.paths[number]] * (len(moved) + 1)
            texts = [part for part in output.value if isinstance(part, TextPart) and part.text]
            texts = texts or [TextPart(text="The result is in the next message.")]
            turn.items[number] = replace(item, output=ContentOutput(value=list(texts)))
            self._notes.add(
                "moved", turn.paths[number], "images and files of a result follow in a user message"
            )
        return [turn, media] if media.items else [turn]

    # Turns

    def _merged(self, turns: list[Turn]) -> list[Turn]:
        merged: list[Turn] = []
        for turn in turns:
            last = merged[-1] if merged else None
            joins = last is not None and last.role == turn.role
            if last is not None and joins and turn.role == "system" and self._rules.one_system:
                text = "\n\n".join(
                    item.text for item in (*last.items, *turn.items) if isinstance(item, TextPart)
                )
                last.items = [TextPart(text=text)]
            elif last is not None and joins and turn.role in self._rules.merge:
                last.items += turn.items
                last.paths += turn.paths
            else:
                merged.append(turn)
        return merged

    def _refuse(self, path: str, problem: str, remedy: str) -> None:
        if not self._repair:
            raise InvalidDataError(f"{path}: {problem}; {remedy}, or pass repair=True")


def _is_finite(value: Any) -> bool:
    """Whether JSON data can be written as JSON again: a number beyond a double was read as infinity."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def sent_name(given: str, pattern: str) -> str:
    """The name a tool has in its definition, its choice and its calls: its own where it fits `pattern`."""
    if re.fullmatch(pattern, given):
        return given
    return re.sub(r"[^a-zA-Z0-9_-]", "_", given)[:64] or "tool"


def short_id(given: str, length: int) -> str:
    """An id of letters and digits that stands for `given`: always the same one."""
    number = int.from_bytes(hashlib.sha256(given.encode("utf-8", "surrogatepass")).digest())
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)
