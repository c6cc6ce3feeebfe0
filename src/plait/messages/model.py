"""What messages and their parts have in common."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, to_jsonable_python

from plait.events import Value
from plait.messages.invalid import invalid


class Model(BaseModel):
    """Base of parts and messages: frozen, closed (no unknown keys), snake_case or camelCase in.

    Making one with wrong values raises `InvalidDataError`. Pydantic's own methods (`model_validate`, a
    `TypeAdapter`) raise pydantic's `ValidationError`; both are a `ValueError`.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )

    _positional: ClassVar[str | None] = None
    """The field that may be given without its name."""

    def __init__(self, /, *args: Any, **data: Any) -> None:
        if args:
            data = self._named(args, data)
        data = self._prepared(data)
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise invalid(error, data) from None

    # Data that pydantic validates does not pass through `__init__` (it does not for BaseModel's own either).
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def _named(cls, args: tuple[Any, ...], data: dict[str, Any]) -> dict[str, Any]:
        name = cls._positional
        if name is None or len(args) > 1:
            taken = f"one positional argument, `{name}`" if name else "keyword arguments only"
            raise TypeError(f"{cls.__name__}() takes {taken}; {len(args)} were given")
        if name in data:
            raise TypeError(f"{cls.__name__}() got `{name}` twice")
        return {name: args[0], **data}

    @classmethod
    def _prepared(cls, data: dict[str, Any]) -> dict[str, Any]:
        """What Python code may write that stored data may not."""
        return data

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        # What tells stored parts and roles apart has a default in Python, but is not optional in JSON.
        schema = handler(core_schema)
        own = handler.resolve_ref_schema(schema)
        tags = [name for name in ("role", "type") if name in own.get("properties", {})]
        own["required"] = list(dict.fromkeys([*tags, *own.get("required", [])]))
        return schema

    def to_dict(self, *, camel: bool = False) -> dict[str, Any]:
        """JSON data without what is absent, in snake_case or, with `camel`, in camelCase.

        Keys of metadata and of other opaque JSON stay as they are.
        """
        # Not `model_dump(exclude_none=True)`: that drops nulls inside opaque JSON too, which is replayed.
        return {
            to_camel(name) if camel else name: _to_json(value, camel)
            for name, value in self
            if value is not None
        }


def _to_json(value: Any, camel: bool) -> Any:
    if isinstance(value, Model):
        return value.to_dict(camel=camel)
    if isinstance(value, Value):
        data = value.to_dict()
        return {to_camel(key): item for key, item in data.items()} if camel else data
    if isinstance(value, list):
        return [_to_json(item, camel) for item in value]
    if value is None or isinstance(value, str | int | float | dict):
        return value
    return to_jsonable_python(value, by_alias=True)  # metadata of a type of the user's
