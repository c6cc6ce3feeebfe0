"""What providers make of a setting or a model's id: hosts, paths, and where to look for a setting."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from ipaddress import IPv6Address
from urllib.parse import urlsplit, urlunsplit


def vertex_host(location: str) -> str:
    """`europe-west1` has a host of its own, `global` the bare one, `eu` and `us` one each."""
    if location == "global":
        return "aiplatform.googleapis.com"
    if location in ("eu", "us"):
        return f"aiplatform.{location}.rep.googleapis.com"
    return f"{location}-aiplatform.googleapis.com"


def publisher_model(model: str, publisher: str = "google") -> str:
    """`gemini-x`, `meta/llama-x` and `publishers/google/models/gemini-x` as a path, as google-genai does."""
    if model.startswith(("publishers/", "models/")):
        return model
    owner, _, name = model.rpartition("/")
    return f"publishers/{owner or publisher}/models/{name}"


def vertex_resource(publisher: str) -> Callable[[str], str]:
    """Of a model its path, by the project and location that are asked; `publisher` is of ids without one."""

    def resource(model: str) -> str:
        if model.startswith("projects/"):  # an endpoint or a tuned model, by its full name
            return model
        return "projects/{project}/locations/{location}/" + publisher_model(model, publisher)

    return resource


def default_project(settings: Mapping[str, str | None]) -> str | None:
    """The project of the application-default credentials, when google-auth finds some."""
    try:
        import google.auth
        from google.auth.exceptions import GoogleAuthError
    except ImportError:
        return None
    try:
        project = google.auth.default()[1]
    except GoogleAuthError:
        return None
    return str(project) if project else None


def profile_region(settings: Mapping[str, str | None]) -> str | None:
    """The region of the profile in the AWS configuration files, when botocore is there to read them."""
    try:
        from botocore.exceptions import BotoCoreError
        from botocore.session import Session
    except ImportError:
        return None
    try:
        region = Session(profile=settings.get("profile")).get_config_variable("region")
    except BotoCoreError:
        return None
    return str(region) if region else None


# The partitions of botocore's endpoints.json; all other regions are of amazonaws.com.
_AWS_DOMAINS = {
    "cn-": "amazonaws.com.cn",
    "eusc-": "amazonaws.eu",
    "us-iso-": "c2s.ic.gov",
    "us-isob-": "sc2s.sgov.gov",
    "us-isof-": "csp.hci.ic.gov",
    "eu-isoe-": "cloud.adc-e.uk",
}


def bedrock_host(region: str) -> str:
    """Other partitions than Amazon's usual one have other domains."""
    domain = next((domain for start, domain in _AWS_DOMAINS.items() if region.startswith(start)), None)
    return f"bedrock-runtime.{region}.{domain or 'amazonaws.com'}"


def ollama_host(text: str) -> str:
    """OLLAMA_HOST as a URL, by Ollama's own rules.

    Without a scheme it is http; without a scheme and a port the port is 11434; a server that listens on all
    addresses (0.0.0.0) is called on this machine's own.

    Raises:
        ValueError: it is no address
    """
    text = text.strip().strip("'\"")
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "http", text
    with suppress(ValueError):
        rest = f"[{IPv6Address(rest)}]"  # a bare one, without the brackets that a port would need
    parts = urlsplit(f"{scheme}://{rest}")
    if "@" in parts.netloc:
        raise ValueError("one without a user name")
    host = _OWN_ADDRESS.get(parts.hostname, parts.hostname)
    port = parts.port or (None if separator else 11434)
    host = f"[{host}]" if host is not None and ":" in host else host
    return urlunsplit((parts.scheme, f"{host}:{port}" if port else host, parts.path.rstrip("/"), "", ""))


_OWN_ADDRESS = {None: "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


def azure_resource(endpoint: str) -> str:
    """Azure's endpoint as the portal shows it, with or without a path, or only the resource's name."""
    if re.fullmatch(r"[A-Za-z0-9-]+", endpoint):
        return f"https://{endpoint}.openai.azure.com"
    return re.sub(r"((?<![:/])/(openai|models)(/[^?]*)?)?/*(\?.*)?$", "", endpoint)
