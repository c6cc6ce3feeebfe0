"""How a request says who asks: one class for each way. A key is only ever put into a header.

`sign` gives the headers that a request needs for that. It gets the whole request because Amazon's way signs
all of it; `blocking` says that it may read files or the network: an asynchronous caller takes a thread.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

from plait.errors import AuthenticationError, ConfigurationError, PlaitError, TransportError


class Unsigned(NamedTuple):
    """A request that is about to be signed."""

    provider: str
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    settings: Mapping[str, str | None]
    key_names: tuple[str, ...]


class Auth(Protocol):
    """A way to sign requests.

    One that reads settings of the provider names them in `needs`, a tuple: they are then looked for.
    """

    @property
    def words(self) -> str:
        """What it is, in a few words for a table."""
        ...

    @property
    def blocking(self) -> bool:
        """Whether `sign` may read files or the network."""
        ...

    def sign(self, request: Unsigned, key: str | None) -> Mapping[str, str]:
        """The headers to add.

        Raises:
            ConfigurationError: there is no key, or an extra is not installed; the message says what to do
            AuthenticationError: credentials were found, and could not be used
            TransportError: the server that gives tokens did not answer
        """
        ...


def _needed(request: Unsigned, key: str | None) -> str:
    if key:
        return key
    env = f", or set {' or '.join(request.key_names)}" if request.key_names else ""
    raise ConfigurationError(f"{request.provider}: expected an API key: pass api_key={env}")


@dataclass(frozen=True, slots=True)
class Bearer:
    """`Authorization: Bearer KEY` (RFC 6750). With `optional`, a server that may want no key at all."""

    optional: bool = False
    blocking: ClassVar[bool] = False

    @property
    def words(self) -> str:
        """`bearer`, and whether it is optional."""
        return "bearer (optional)" if self.optional else "bearer"

    def sign(self, request: Unsigned, key: str | None) -> Mapping[str, str]:
        """The header, or none."""
        if self.optional and not key:
            return {}
        return {"authorization": f"Bearer {_needed(request, key)}"}


@dataclass(frozen=True, slots=True)
class HeaderKey:
    """The key as it is in a header of the provider's own, such as `x-api-key`.

    Attributes:
        header: its name
        tokens: what looks like a token instead of a key (see `is_token`) is sent as `Bearer`: it takes either
        token_env: the environment variable whose value is a token, whatever it looks like
    """

    header: str
    tokens: bool = False
    token_env: str | None = None
    blocking: ClassVar[bool] = False

    @property
    def words(self) -> str:
        """The header's name."""
        return f"{self.header} or bearer token" if self.tokens else self.header

    def sign(self, request: Unsigned, key: str | None) -> Mapping[str, str]:
        """The header."""
        key = _needed(request, key)
        named = self.token_env is not None and os.environ.get(self.token_env, "").strip() == key
        if not (named or (self.tokens and is_token(key))):
            return {self.header: key}
        headers = {"authorization": f"Bearer {key}"}
        if key.startswith(_ANTHROPIC_TOKEN):
            betas = [*filter(None, [request.headers.get("anthropic-beta")]), _ANTHROPIC_TOKEN_BETA]
            headers["anthropic-beta"] = ",".join(betas)
        return headers


GOOGLE_KEYS = r"AIza|AQ\."
"""How Google's API keys begin; its access tokens begin otherwise."""

# Anthropic's OAuth tokens need a beta: `anthropic.lib.credentials` of its SDK, 2.14.
_ANTHROPIC_TOKEN, _ANTHROPIC_TOKEN_BETA = "sk-ant-oat", "oauth-2025-04-20"


def is_token(key: str) -> bool:
    """Whether a credential is a token: a JSON Web Token, Google's access token, Anthropic's OAuth token."""
    return (key.startswith("eyJ") and key.count(".") >= 2) or key.startswith(("ya29.", _ANTHROPIC_TOKEN))


@dataclass(frozen=True, slots=True)
class SigV4:
    """Amazon: a Bedrock key as `Bearer`, else the request signed with the credentials botocore finds.

    The credential chain and the signer are botocore's (extra `bedrock`). The provider's setting `profile`
    names one of the profiles in its files.

    Attributes:
        service: the name it is signed for
    """

    service: str
    _found: dict[str | None, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _lock: Any = field(default_factory=threading.Lock, init=False, repr=False, compare=False)
    blocking: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("region",)
    words: ClassVar[str] = "AWS signature or bearer"

    def sign(self, request: Unsigned, key: str | None) -> Mapping[str, str]:
        """The headers of the signature."""
        if key:
            return {"authorization": f"Bearer {key}"}
        try:
            from botocore.auth import SigV4Auth
            from botocore.awsrequest import AWSRequest
        except ImportError:
            env = " or ".join(request.key_names)
            raise ConfigurationError(
                f"{request.provider}: to sign requests install plait[bedrock]; or use a Bedrock key: "
                f"pass api_key=, or set {env}"
            ) from None
        region = request.settings.get("region")
        if not region:
            raise ConfigurationError(
                f"{request.provider}: expected the region to sign for: pass region=, or set AWS_REGION"
            )
        credentials = self._credentials(request)
        signed = AWSRequest(
            method=request.method,
            url=request.url,
            data=request.body,
            headers={"content-type": request.headers.get("content-type", "application/json")},
        )
        SigV4Auth(credentials, self.service, region).add_auth(signed)
        return {name.lower(): value for name, value in signed.headers.items()}

    def _credentials(self, request: Unsigned) -> Any:
        """Frozen credentials. The chain is asked once for each profile and environment; it renews itself."""
        from botocore.exceptions import BotoCoreError, CredentialRetrievalError
        from botocore.session import Session

        profile = request.settings.get("profile")
        why = "none in the environment, the shared files, or this machine's role"
        with self._lock:
            try:
                environment = _fingerprint("AWS_", "HOME")
                known, found = self._found.get(profile, (None, None))
                if found is None or known != environment:
                    found = Session(profile=profile).get_credentials()
                    self._found[profile] = (environment, found)
                if found is not None:
                    return found.get_frozen_credentials()
            except BotoCoreError as error:
                # What a program that was asked for credentials said may have some in it.
                text = "" if isinstance(error, CredentialRetrievalError) else f": {error}"
                why = f"{type(error).__name__}{text}"
        raise ConfigurationError(
            f"{request.provider}: expected AWS credentials, got {why}; "
            f"or use a Bedrock key: pass api_key=, or set {' or '.join(request.key_names)}"
        )


def _fingerprint(*starts: str) -> int:
    """Changes with the environment variables whose names begin so. It holds none of their values."""
    return hash(frozenset(item for item in os.environ.items() if item[0].startswith(starts)))


_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


@dataclass(frozen=True, slots=True)
class GoogleDefault:
    """Google: a token as `Bearer`, an API key in its header, else application-default credentials.

    These are found and renewed by google-auth (extra `vertex`). https://google.aip.dev/auth/4110
    """

    _found: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)
    _lock: Any = field(default_factory=threading.Lock, init=False, repr=False, compare=False)
    blocking: ClassVar[bool] = True
    words: ClassVar[str] = "Google application-default credentials"

    def sign(self, request: Unsigned, key: str | None) -> Mapping[str, str]:
        """The header of the token."""
        if key and re.match(GOOGLE_KEYS, key):
            return {"x-goog-api-key": key}
        headers = {"authorization": f"Bearer {key or self._token(request)}"}
        quota = getattr(self._found[0], "quota_project_id", None) if self._found and not key else None
        return {**headers, "x-goog-user-project": quota} if quota else headers

    def _token(self, request: Unsigned) -> str:
        try:
            import google.auth
            from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError
            from google.auth.exceptions import TransportError as NoAnswer
            from google.auth.transport.requests import Request
        except ImportError:
            raise ConfigurationError(
                f"{request.provider}: for application-default credentials install plait[vertex]; "
                "or pass api_key=, an access token or a callable that gives one"
            ) from None
        failure: PlaitError
        with self._lock:
            try:
                environment = _fingerprint("GOOGLE_", "CLOUDSDK_", "HOME")
                if not self._found or self._found[1] != environment:
                    self._found[:] = (google.auth.default(scopes=[_SCOPE])[0], environment)
                credentials = self._found[0]
                if not credentials.valid:
                    credentials.refresh(Request())
                return str(credentials.token)
            except DefaultCredentialsError:
                failure = ConfigurationError(
                    f"{request.provider}: no application-default credentials: run "
                    "`gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS, or pass "
                    "api_key=, an access token"
                )
            except NoAnswer:
                failure = TransportError(
                    f"{request.provider}: no answer from the server of Google's tokens",
                    provider=request.provider,
                )
            except GoogleAuthError as error:
                failure = AuthenticationError(
                    f"the application-default credentials could not be renewed: {type(error).__name__}",
                    provider=request.provider,
                )
        raise failure
