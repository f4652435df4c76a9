"""A server of the Open Traffic Generator API for tests, with a device of given behaviour behind it.

What it is sent is read by the model's own library, snappi, which refuses what the model does not
have, and what it answers is written by that. How it behaves otherwise than a generator, a test says
by fields.
"""

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import snappi

from qospec.dataclass import dataclass

FRAME_OVERHEAD_BITS = 160
"""Preamble and gap."""


@dataclass
class Mock:
    """A generator, and what it is told to do wrong.

    Attributes:
        lose: Of a flow of the model, how many of a number of frames do not arrive.
        latency_ns: Least, mean and greatest; None if it does not tell.
        speed_bps: Of its ports.
        version: Of its API.
        answers: By path, a code and bytes with which it answers in place of its own.
        edit: Changes an entry of a flow before it is sent.
        sends_for_ever: Whether flows never end.
        gone_after: After how many readings of counters its answers arrive no more; 0: never.
        configurations: What it was told, in order.
        states: What it was told to do, in order.
        asked: The paths that were asked, in order.
    """

    lose: Callable[[Any, int], int] = lambda _flow, _sent: 0
    latency_ns: tuple[float, float, float] | None = (10_000.0, 20_000.0, 40_000.0)
    speed_bps: int = 10**9
    version: str = "1.40.0"
    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    edit: Callable[[dict[str, Any]], None] = lambda _entry: None
    sends_for_ever: bool = False
    gone_after: int = 0
    configurations: list[snappi.Config] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    began_s: float = 0.0
    readings: int = 0
    url: str = ""

    def answer(self, path: str, body: str) -> tuple[int, bytes]:
        """Return the code and the bytes of an answer."""
        self.asked.append(path)
        if path in self.answers:
            return self.answers[path]
        if path == "/capabilities/version":
            said = snappi.Version(api_spec_version=self.version, app_version="mock 0.1")
            return 200, said.serialize().encode()
        try:
            return 200, getattr(self, f"_{path.strip('/').replace('/', '_')}")(body).encode()
        except Exception as error:  # noqa: BLE001 -- what snappi raises of a wrong body
            return 400, json.dumps({"code": 400, "errors": [str(error)]}).encode()

    def _config(self, body: str) -> str:
        configuration = snappi.Config()
        configuration.deserialize(body)
        for port in configuration.ports:
            if not port.location:
                raise ValueError(f"port {port.name} has no location")
        self.configurations.append(configuration)
        return json.dumps({"warnings": []})

    def _control_state(self, body: str) -> str:
        state = snappi.ControlState()
        state.deserialize(body)
        self.states.append(state.traffic.flow_transmit.state)
        self.began_s = time.monotonic()
        return "{}"

    def _monitor_metrics(self, body: str) -> str:
        asked = snappi.MetricsRequest()
        asked.deserialize(body)
        self.readings += 1
        answer = snappi.MetricsResponse()
        answer.choice = "flow_metrics"
        for flow in self.configurations[-1].flows:
            if flow.name in asked.flow.flow_names:
                self._count(flow, answer.flow_metrics.add(name=flow.name))
        said = json.loads(answer.serialize())
        for entry in said["flow_metrics"]:
            self.edit(entry)
        return json.dumps(said)

    def _count(self, flow: Any, entry: Any) -> None:
        seconds = flow.duration.fixed_seconds.seconds
        sent = round(seconds * self._compute_rate(flow))
        done = not self.sends_for_ever and time.monotonic() - self.began_s >= seconds
        lost = self.lose(flow, sent)
        frame_bytes = self._compute_frame_bytes(flow)
        entry.frames_tx, entry.frames_rx = sent, sent - lost
        entry.bytes_tx, entry.bytes_rx = (
            round(sent * frame_bytes),
            round((sent - lost) * frame_bytes),
        )
        entry.transmit = "stopped" if done else "started"
        if flow.metrics.latency.enable and self.latency_ns is not None:
            latency = entry.latency
            latency.minimum_ns, latency.average_ns, latency.maximum_ns = self.latency_ns

    def _compute_rate(self, flow: Any) -> float:
        rate, line_bits = flow.rate, 8 * self._compute_frame_bytes(flow) + FRAME_OVERHEAD_BITS
        if rate.choice == "pps":
            return float(rate.pps)
        if rate.choice == "bps":
            return float(rate.bps / line_bits)
        return float(rate.percentage / 100 * self.speed_bps / line_bits)

    def _compute_frame_bytes(self, flow: Any) -> float:
        if flow.size.choice == "fixed":
            return float(flow.size.fixed)
        pairs = [(pair.size, pair.weight) for pair in flow.size.weight_pairs.custom]
        return sum(size * weight for size, weight in pairs) / sum(weight for _, weight in pairs)


@contextmanager
def serve(mock: Mock, certificate: Path | None = None) -> Iterator[str]:
    """Serve a mock, and yield where, as `HOST:PORT`; with a certificate and its key by HTTPS."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Print nothing."""

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode()
            is_gone = bool(mock.gone_after) and mock.readings >= mock.gone_after
            code, answer = mock.answer(self.path, body)
            if is_gone:
                self.close_connection = True
                return
            self.send_response(code)
            if code // 100 == 3:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        mock.url = f"127.0.0.1:{server.server_address[1]}"
        yield mock.url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
