"""Asks the server of a traffic generator, by HTTP or HTTPS and JSON.

Source: Open Traffic Generator API 1.62 (paths, Error, Version, Control.State, Flow.Metric).
"""

from __future__ import annotations

import json
import ssl
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import (
    BaseHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    ProxyHandler,
    Request,
    build_opener,
)

from qospec.backend import BackendError
from qospec.visible import make_visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.document import Document

ANSWER_S = 120
"""How long an answer may take: ports are reserved and set up before a configuration is answered."""
MOST_ANSWER_BYTES = 64 << 20
SHOWN = 400
"""Characters of an answer that are shown."""
MAJOR = "1"
"""The version of the API that is spoken here; what it adds from 1.x to 1.y is not needed."""


class Client:
    """Asks one server."""

    def __init__(self, url: str) -> None:
        """Take the URL of a server; nothing is sent yet."""
        self._url = url
        # A generator is in the laboratory: no proxy is asked.
        handlers: list[BaseHandler] = [ProxyHandler({}), _Stay()]
        if url.startswith("https:"):
            handlers.append(HTTPSHandler(context=ssl.create_default_context()))
        self._opener = build_opener(*handlers)

    def get_version(self) -> dict[str, str]:
        """Return the versions of the API, and of the program that serves it.

        Raises:
            BackendError: Nothing answers, or not as a generator of this API does.
        """
        answer = self._ask("GET", "/capabilities/version", None)
        names = {"api_spec_version": "API", "app_version": "program", "sdk_version": "library"}
        found = {word: str(answer[name]) for name, word in names.items() if answer.get(name)}
        version = found.get("API", "")
        if version.partition(".")[0] != MAJOR:
            raise BackendError(
                f"{self._url} speaks version {version or 'nothing'} of its API, and here version"
                f" {MAJOR} is spoken: use a release of the generator that does"
            )
        return found

    def set_configuration(self, configuration: Document) -> None:
        """Replace what the generator has been told by a configuration."""
        self._ask("POST", "/config", configuration)

    def set_transmission(self, state: str) -> None:
        """Start all flows, whose counters are 0 then, or stop them."""
        transmit = {"choice": "flow_transmit", "flow_transmit": {"state": state}}
        self._ask("POST", "/control/state", {"choice": "traffic", "traffic": transmit})

    def read_flows(self, names: Sequence[str]) -> dict[str, Document]:
        """Return what the generator has counted of flows, by their names."""
        asked = {"choice": "flow", "flow": {"flow_names": list(names)}}
        answer = self._ask("POST", "/monitor/metrics", asked)
        entries = answer.get("flow_metrics")
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise self._complain("POST /monitor/metrics", json.dumps(answer))
        found: dict[str, Document] = {}
        for entry in entries:
            if entry.get("name") in found:
                raise BackendError(f"{self._url} counts the flow `{entry['name']}` twice")
            found[str(entry.get("name"))] = entry
        missing = [name for name in names if name not in found]
        if missing:
            raise BackendError(
                f"{self._url} counts nothing of the flow `{missing[0]}`: it tells of"
                f" {', '.join(map(_quote, found)) or 'none'}"
            )
        return found

    def _ask(self, method: str, path: str, body: Document | None) -> Document:
        """Return what the server answers; raises BackendError if it does not do so."""
        asked = Request(  # noqa: S310 -- of HTTP or HTTPS alone
            self._url + path,
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json", "Accept": "application/json"},
            method=method,
        )
        try:
            with self._opener.open(asked, timeout=ANSWER_S) as answer:
                read = answer.read(MOST_ANSWER_BYTES + 1)
        except HTTPError as error:
            with error:
                raise self._explain_refusal(f"{method} {path}", error) from None
        except (URLError, OSError, HTTPException) as error:
            raise self._explain_silence(error) from None
        if not read.strip():
            return {}
        return self._parse(f"{method} {path}", read)

    def _parse(self, what: str, read: bytes) -> Document:
        try:
            answer: Any = json.loads(read) if len(read) <= MOST_ANSWER_BYTES else None
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self._complain(what, read[:SHOWN].decode("utf-8", "replace"))
        return answer

    def _complain(self, what: str, answer: str) -> BackendError:
        """Return what to say of an answer that is none of the API."""
        return BackendError(
            f"{self._url} answers {what} otherwise than the Open Traffic Generator API does: is"
            f" another program there? It says {_show(answer)}"
        )

    def _explain_refusal(self, what: str, error: HTTPError) -> BackendError:
        """Return what to say of an answer with a code of HTTP that is an error."""
        try:
            read = error.read(MOST_ANSWER_BYTES)
        except (OSError, HTTPException):
            read = b""
        try:
            said = json.loads(read)["errors"]
            words = "; ".join(map(str, said))
        except (ValueError, KeyError, TypeError, RecursionError):
            words = ""
        if words:
            return RefusedError(f"the generator refuses {what}: {_show(words)}")
        text = read.decode("utf-8", "replace")
        if "HTTPS" in text and self._url.startswith("http:"):
            return BackendError(f"{self._url} speaks HTTPS: write `otg+https://…`")
        return self._complain(f"{what} with code {error.code}", text)

    def _explain_silence(self, error: Exception) -> BackendError:
        """Return what to say of a server that does not answer."""
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            return BackendError(
                f"{self._url} has a certificate that is not trusted ({reason.verify_message}): name"
                " a file with that of its authority in SSL_CERT_FILE"
            )
        if isinstance(reason, ssl.SSLError):
            return BackendError(f"{self._url} speaks no TLS ({reason.reason}): write `otg://…`")
        if isinstance(reason, TimeoutError):
            return BackendError(
                f"{self._url} has not answered for {ANSWER_S} s: restart its server"
            )
        words = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        return BackendError(
            f"no generator answers at {self._url} ({_show(words)}): start its server, or correct"
            " the address"
        )


class _Stay(HTTPRedirectHandler):
    """Goes nowhere else: a generator answers where it is, and the record names that address."""

    def redirect_request(self, *_: Any) -> None:
        """Return no other request, so that the answer is an error."""


class RefusedError(BackendError):
    """The generator says what is wrong with what it was sent."""


def _show(text: str) -> str:
    """Return what a server said, on one line and not too long."""
    line = " ".join(make_visible(text).split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


def _quote(name: str) -> str:
    return f"`{_show(name)}`"
