"""The vendors' own SDKs, unmodified: each streams one answer through a transport that it is given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx
import httpx2
import openai
from google import genai
from guarded_bodies import ANTHROPIC, CHAT, GEMINI, RESPONSES, Body

ASKED: Any = [{"role": "user", "content": "Say it."}]


@dataclass(frozen=True)
class Sdk:
    """One way to stream with one SDK.

    Attributes:
        library: the HTTP library that it is used with
        body: what its server answers
        stream: from a base URL and a transport to the SDK's own events, as JSON
        astream: the same, asynchronous
    """

    library: Any
    body: Body
    stream: Callable[[Any, str, Any], Iterator[str]]
    astream: Callable[[Any, str, Any], AsyncIterator[str]]


def _openai(library: Any, base: str, transport: Any) -> openai.OpenAI:
    http = library.Client(transport=transport)
    return openai.OpenAI(api_key="k", base_url=f"{base}/v1", http_client=http, max_retries=0)


def _aopenai(library: Any, base: str, transport: Any) -> openai.AsyncOpenAI:
    http = library.AsyncClient(transport=transport)
    return openai.AsyncOpenAI(api_key="k", base_url=f"{base}/v1", http_client=http, max_retries=0)


def chat(library: Any, base: str, transport: Any) -> Iterator[str]:
    """Chat Completions of the openai SDK."""
    with _openai(library, base, transport) as client:
        for chunk in client.chat.completions.create(model="m", messages=ASKED, stream=True):
            yield chunk.model_dump_json()


async def achat(library: Any, base: str, transport: Any) -> AsyncIterator[str]:
    """The same, asynchronous."""
    async with _aopenai(library, base, transport) as client:
        async for chunk in await client.chat.completions.create(model="m", messages=ASKED, stream=True):
            yield chunk.model_dump_json()


def responses(library: Any, base: str, transport: Any) -> Iterator[str]:
    """Responses of the openai SDK."""
    with _openai(library, base, transport) as client:
        for event in client.responses.create(model="m", input="Say it.", stream=True):
            yield event.model_dump_json()


async def aresponses(library: Any, base: str, transport: Any) -> AsyncIterator[str]:
    """The same, asynchronous."""
    async with _aopenai(library, base, transport) as client:
        async for event in await client.responses.create(model="m", input="Say it.", stream=True):
            yield event.model_dump_json()


def messages(library: Any, base: str, transport: Any) -> Iterator[str]:
    """Messages of the anthropic SDK."""
    http = library.Client(transport=transport)
    with anthropic.Anthropic(api_key="k", base_url=base, http_client=http, max_retries=0) as client:
        for event in client.messages.create(model="m", max_tokens=9, messages=ASKED, stream=True):
            yield event.model_dump_json()


async def amessages(library: Any, base: str, transport: Any) -> AsyncIterator[str]:
    """The same, asynchronous."""
    http = library.AsyncClient(transport=transport)
    async with anthropic.AsyncAnthropic(
        api_key="k", base_url=base, http_client=http, max_retries=0
    ) as client:
        async for event in await client.messages.create(model="m", max_tokens=9, messages=ASKED, stream=True):
            yield event.model_dump_json()


def generate(library: Any, base: str, transport: Any) -> Iterator[str]:
    """generateContent of the google-genai SDK."""
    with library.Client(transport=transport) as http:
        options: Any = {"base_url": base, "httpx_client": http}
        client = genai.Client(api_key="k", http_options=options)
        for chunk in client.models.generate_content_stream(model="m", contents="Say it."):
            yield _without_headers(chunk)


async def agenerate(library: Any, base: str, transport: Any) -> AsyncIterator[str]:
    """The same, asynchronous."""
    async with library.AsyncClient(transport=transport) as http:
        options: Any = {"base_url": base, "httpx_async_client": http}
        client = genai.Client(api_key="k", http_options=options)
        async for chunk in await client.aio.models.generate_content_stream(model="m", contents="Say it."):
            yield _without_headers(chunk)


def _without_headers(chunk: Any) -> str:
    text: str = chunk.model_dump_json(exclude={"sdk_http_response"})
    return text


SDKS: dict[str, Sdk] = {
    "openai chat": Sdk(httpx2, CHAT, chat, achat),
    "openai chat, httpx": Sdk(httpx, CHAT, chat, achat),
    "openai responses": Sdk(httpx2, RESPONSES, responses, aresponses),
    "anthropic messages": Sdk(httpx2, ANTHROPIC, messages, amessages),
    "google-genai": Sdk(httpx2, GEMINI, generate, agenerate),
    "google-genai, httpx": Sdk(httpx, GEMINI, generate, agenerate),
}
"""Every SDK with the HTTP library it comes with, and with the other one where it takes that, too."""
