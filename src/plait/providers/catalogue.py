"""The providers Plait knows: one row each. To add one, add a row; nothing else needs to change.

Base URLs and environment variables are those of the vendors' own SDKs and documents, named in each row with
the month they were last read. What a server takes and leaves out is in its dialect, in `plait.wire`.
"""

from __future__ import annotations

from plait.providers.auth import GOOGLE_KEYS, Bearer, GoogleDefault, HeaderKey, SigV4
from plait.providers.hosts import (
    azure_resource,
    bedrock_host,
    default_project,
    ollama_host,
    profile_region,
    publisher_model,
    vertex_host,
    vertex_resource,
)
from plait.providers.provider import Endpoint, Paths, Provider, Setting

_LOCAL = Bearer(optional=True)
_CHECKED = "2026-11"


def _mock() -> object:
    from importlib import import_module  # the transport is a layer above: only its name is known here

    return import_module("plait.transport.mock").MockTransport()


_AZURE_AUTH = HeaderKey("api-key", tokens=True, token_env="AZURE_OPENAI_AD_TOKEN")
_AZURE_ENDPOINT = Setting(
    "the resource's URL, such as https://my-resource.openai.azure.com",
    env=("AZURE_OPENAI_ENDPOINT",),
    read=azure_resource,
)
_AZURE_KEYS = ("AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_API_KEY")
_AZURE_DOCS = "https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle"
_ANTHROPIC_VERSION = {"anthropic-version": "2023-06-01"}
_CLAUDE_PATHS = Paths("/model/{model}/invoke-with-response-stream", "/model/{model}/invoke")

_ROWS = (
    Provider(
        "openai",
        wire="openai-responses",
        dialect="openai",
        base_url="{endpoint}",
        settings={
            "endpoint": Setting("the base URL", ("OPENAI_BASE_URL",), default="https://api.openai.com/v1")
        },
        key_env="OPENAI_API_KEY",
        also=(Endpoint("openai-chat", "openai"),),
        docs="https://developers.openai.com/api/docs/api-reference",
        checked=_CHECKED,
    ),
    Provider(
        "azure",
        wire="openai-chat",
        dialect="azure",
        base_url="{endpoint}/openai/v1",
        settings={"endpoint": _AZURE_ENDPOINT},
        key_env=_AZURE_KEYS,
        auth=_AZURE_AUTH,
        also=(Endpoint("openai-responses", "azure"),),
        docs=_AZURE_DOCS,
        checked=_CHECKED,
    ),
    Provider(
        "azure-classic",
        wire="openai-chat",
        dialect="azure",
        base_url="{endpoint}",
        paths=Paths(*["/openai/deployments/{model}/chat/completions?api-version={api_version}"] * 2),
        settings={
            "endpoint": _AZURE_ENDPOINT,
            "api_version": Setting("the API's version", ("OPENAI_API_VERSION",), default="2024-10-21"),
        },
        key_env=_AZURE_KEYS,
        auth=_AZURE_AUTH,
        also=(
            Endpoint(
                "openai-responses",
                "azure",
                paths=Paths(*["/openai/responses?api-version={api_version}"] * 2),
            ),
        ),
        docs=_AZURE_DOCS,
        checked=_CHECKED,
    ),
    Provider(
        "anthropic",
        wire="anthropic-messages",
        dialect="anthropic",
        base_url="{endpoint}",
        settings={
            "endpoint": Setting("the base URL", ("ANTHROPIC_BASE_URL",), default="https://api.anthropic.com")
        },
        key_env=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        auth=HeaderKey("x-api-key", tokens=True, token_env="ANTHROPIC_AUTH_TOKEN"),
        headers=_ANTHROPIC_VERSION,
        docs="https://platform.claude.com/docs/en/api/messages",
        checked=_CHECKED,
    ),
    Provider(
        "bedrock",
        wire="bedrock-converse",
        dialect="bedrock",
        base_url="https://{host}",
        settings={
            "profile": Setting("a profile of the AWS configuration", ("AWS_PROFILE",)),
            "region": Setting(
                "the AWS region, such as us-east-1",
                ("AWS_REGION", "AWS_DEFAULT_REGION"),
                find=profile_region,
            ),
            "host": Setting("the region's host", read=bedrock_host, of="region"),
        },
        key_env="AWS_BEARER_TOKEN_BEDROCK",
        auth=SigV4("bedrock"),
        also=(
            Endpoint("anthropic-messages", "bedrock", paths=_CLAUDE_PATHS),
            Endpoint(
                "openai-responses",
                "bedrock",
                base_url="https://bedrock-mantle.{region}.api.aws/v1",
                auth=SigV4("bedrock-mantle"),
            ),
        ),
        docs="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html",
        checked=_CHECKED,
    ),
    Provider(
        "gemini",
        wire="gemini",
        dialect="google",
        base_url="{endpoint}/v1beta",
        settings={
            "endpoint": Setting(
                "the base URL",
                ("GOOGLE_GEMINI_BASE_URL",),
                default="https://generativelanguage.googleapis.com",
            )
        },
        key_env=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        auth=HeaderKey("x-goog-api-key", tokens=True),
        also=(
            Endpoint(
                "openai-chat",
                "google",
                base_url="{endpoint}/v1beta/openai",
                auth=Bearer(),
            ),
        ),
        docs="https://ai.google.dev/api/generate-content",
        checked=_CHECKED,
    ),
    Provider(
        "vertex",
        wire="gemini",
        dialect="vertex",
        base_url="https://{host}/v1beta1",
        resource=vertex_resource("google"),
        settings={
            "project": Setting(
                "the Google Cloud project",
                ("GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID"),
                find=default_project,
            ),
            "location": Setting(
                "the location", ("GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"), default="global"
            ),
            "host": Setting("the location's host", read=vertex_host, of="location"),
        },
        auth=GoogleDefault(),
        also=(
            Endpoint(
                "gemini",  # "express mode": an API key alone says which project it is
                "vertex",
                base_url="https://aiplatform.googleapis.com/v1beta1",
                resource=publisher_model,
                keys=GOOGLE_KEYS,
                auth=HeaderKey("x-goog-api-key"),
            ),
            Endpoint(
                "anthropic-messages",
                "vertex",
                base_url="https://{host}/v1",
                paths=Paths("/{resource}:streamRawPredict", "/{resource}:rawPredict"),
                resource=vertex_resource("anthropic"),
                models=r"(^|/)claude",
            ),
            Endpoint(
                "openai-chat",
                "google",
                base_url="https://{host}/v1/projects/{project}/locations/{location}/endpoints/openapi",
            ),
        ),
        docs="https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest",
        checked=_CHECKED,
    ),
    Provider(
        "mistral",
        wire="mistral-chat",
        dialect="mistral",
        base_url="https://api.mistral.ai/v1",
        key_env="MISTRAL_API_KEY",
        docs="https://docs.mistral.ai/api",
        checked=_CHECKED,
    ),
    Provider(
        "cohere",
        wire="cohere-chat",
        dialect="cohere",
        base_url="{endpoint}",
        settings={"endpoint": Setting("the base URL", ("CO_API_URL",), default="https://api.cohere.com")},
        key_env=("CO_API_KEY", "COHERE_API_KEY"),
        docs="https://docs.cohere.com/reference/chat-stream",
        checked=_CHECKED,
    ),
    Provider(
        "openrouter",
        wire="openai-chat",
        dialect="openrouter",
        base_url="https://openrouter.ai/api/v1",
        key_env="OPENROUTER_API_KEY",
        also=(Endpoint("openai-responses", "openrouter"),),
        docs="https://openrouter.ai/docs/api/reference/overview",
        checked=_CHECKED,
    ),
    Provider(
        "deepseek",
        wire="openai-chat",
        dialect="deepseek",
        base_url="https://api.deepseek.com",
        key_env="DEEPSEEK_API_KEY",
        also=(
            Endpoint("openai-responses", "deepseek"),
            Endpoint(
                "anthropic-messages",
                base_url="https://api.deepseek.com/anthropic",
                auth=HeaderKey("x-api-key"),
                headers=_ANTHROPIC_VERSION,
            ),
        ),
        docs="https://api-docs.deepseek.com",
        checked=_CHECKED,
    ),
    Provider(
        "groq",
        wire="openai-chat",
        dialect="groq",
        base_url="https://api.groq.com/openai/v1",
        key_env="GROQ_API_KEY",
        docs="https://console.groq.com/docs/api-reference",
        checked=_CHECKED,
    ),
    Provider(
        "xai",
        wire="openai-chat",
        dialect="xai",
        base_url="https://api.x.ai/v1",
        key_env="XAI_API_KEY",
        also=(Endpoint("openai-responses", "xai"),),
        docs="https://docs.x.ai/docs/api-reference",
        checked=_CHECKED,
    ),
    Provider(
        "together",
        wire="openai-chat",
        dialect="together",
        base_url="https://api.together.xyz/v1",
        key_env="TOGETHER_API_KEY",
        docs="https://docs.together.ai/reference/chat-completions-1",
        checked=_CHECKED,
    ),
    Provider(
        "fireworks",
        wire="openai-chat",
        dialect="fireworks",
        base_url="https://api.fireworks.ai/inference/v1",
        key_env="FIREWORKS_API_KEY",
        docs="https://docs.fireworks.ai/api-reference/post-chatcompletions",
        checked=_CHECKED,
    ),
    Provider(
        "perplexity",
        wire="openai-chat",
        dialect="perplexity",
        base_url="https://api.perplexity.ai",
        key_env=("PERPLEXITY_API_KEY", "PPLX_API_KEY"),
        docs="https://docs.perplexity.ai/api-reference",
        checked=_CHECKED,
    ),
    Provider(
        "cerebras",
        wire="openai-chat",
        dialect="cerebras",
        base_url="https://api.cerebras.ai/v1",
        key_env="CEREBRAS_API_KEY",
        docs="https://inference-docs.cerebras.ai/api-reference/chat-completions",
        checked=_CHECKED,
    ),
    Provider(
        "huggingface",
        wire="openai-chat",
        dialect="huggingface",
        base_url="https://router.huggingface.co/v1",
        key_env="HF_TOKEN",
        docs="https://huggingface.co/docs/inference-providers/tasks/chat-completion",
        checked=_CHECKED,
    ),
    Provider(
        "moonshot",
        wire="openai-chat",
        dialect="moonshot",
        base_url="https://api.moonshot.ai/v1",
        key_env="MOONSHOT_API_KEY",
        docs="https://platform.kimi.ai/docs/api/chat",
        checked=_CHECKED,
    ),
    Provider(
        "alibaba",
        wire="openai-chat",
        dialect="alibaba",
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key_env="DASHSCOPE_API_KEY",
        docs="https://www.alibabacloud.com/help/model-studio/qwen-api-reference",
        checked=_CHECKED,
    ),
    Provider(
        "zai",
        wire="openai-chat",
        dialect="zai",
        base_url="https://api.z.ai/api/paas/v4",
        key_env="ZAI_API_KEY",
        docs="https://docs.z.ai/api-reference/llm/chat-completion",
        checked=_CHECKED,
    ),
    Provider(
        "ollama",
        wire="ollama-chat",
        dialect="ollama",
        base_url="{host}",
        settings={
            "host": Setting(
                "the server's address", ("OLLAMA_HOST",), default="127.0.0.1:11434", read=ollama_host
            )
        },
        key_env="OLLAMA_API_KEY",
        auth=_LOCAL,
        also=(Endpoint("openai-chat", "ollama", base_url="{host}/v1"),),
        docs="https://docs.ollama.com/api/chat",
        checked=_CHECKED,
    ),
    Provider(
        "vllm",
        wire="openai-chat",
        dialect="vllm",
        base_url="http://localhost:8000/v1",
        key_env="VLLM_API_KEY",
        auth=_LOCAL,
        also=(Endpoint("openai-responses"),),
        docs="https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
        checked=_CHECKED,
    ),
    Provider(
        "llamacpp",
        wire="openai-chat",
        dialect="llamacpp",
        base_url="http://localhost:8080/v1",
        key_env="LLAMA_API_KEY",
        auth=_LOCAL,
        docs="https://github.com/ggml-org/llama.cpp/tree/master/tools/server",
        checked=_CHECKED,
    ),
    Provider(
        "lmstudio",
        wire="openai-chat",
        dialect="lmstudio",
        base_url="http://localhost:1234/v1",
        key_env="LM_API_TOKEN",
        auth=_LOCAL,
        also=(Endpoint("openai-responses"),),
        docs="https://lmstudio.ai/docs/developer/openai-compat",
        checked=_CHECKED,
    ),
    Provider(
        "openai-compatible",
        wire="openai-chat",
        auth=_LOCAL,
        also=(Endpoint("openai-responses"),),
        docs="https://developers.openai.com/api/docs/api-reference/chat",
        checked=_CHECKED,
    ),
    Provider(
        "mock",
        wire="openai-chat",
        dialect="openai",
        base_url="http://mock.invalid/v1",
        auth=_LOCAL,
        docs="docs/transport.md",
        checked=_CHECKED,
        transport=_mock,
    ),
)

CATALOGUE: dict[str, Provider] = {row.name: row for row in _ROWS}
"""The rows by name, in the order they are listed."""
