"""A collector of OpenTelemetry for tests: takes OTLP over HTTP as JSON, and keeps what it took. It shares no code with
the exporter."""

import http.server
import json
import threading
import time

DEADLINE_SECONDS = 60


class Collector:
    """Listens on a free port. `mode`: "well", "silent" (takes requests and never answers) or a status to answer with."""

    def __init__(self, mode="well"):
        self.mode = mode
        self.lock = threading.Condition()
        self.bodies = []  # (path, headers, body) of all requests
        self.stopping = threading.Event()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                collector.take(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # a client that leaves

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, request):
        """Answers one request."""
        body = request.rfile.read(int(request.headers["Content-Length"]))
        mode = self.mode
        with self.lock:
            self.bodies.append((request.path, dict(request.headers), body.decode() if mode == "well" else ""))
            self.lock.notify_all()
        if mode == "silent":
            self.stopping.wait()
            return
        answer = b"{}"
        request.send_response(200 if mode == "well" else mode)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(answer)))
        request.end_headers()
        request.wfile.write(answer)

    def text(self):
        """All that it took, and with which headers."""
        with self.lock:
            return "\n".join(f"{path} {headers} {body}" for path, headers, body in self.bodies)

    def taken(self, path="/v1/traces"):
        """The JSON that it took there."""
        with self.lock:
            return [json.loads(body) for at, _, body in self.bodies if at == path and body]

    def metrics(self):
        """The data points that came last, by the name of their metric."""
        bodies = self.taken("/v1/metrics")
        last = bodies[-1] if bodies else {"resourceMetrics": []}
        return {metric["name"]: next(part["dataPoints"] for part in metric.values() if isinstance(part, dict))
                for resource in last["resourceMetrics"] for scope in resource["scopeMetrics"]
                for metric in scope["metrics"]}

    def wait_for_metric(self, name, condition):
        """All metrics, once one of that name has come and the condition holds for its points."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not condition((metrics := self.metrics()).get(name, [])):
            if time.monotonic() > deadline:
                raise AssertionError(f"did not come: {name} in {metrics}")
            with self.lock:
                self.lock.wait(0.2)
        return metrics

    def spans(self):
        """All spans, as Span."""
        return [Span(span) for body in self.taken() for resource in body["resourceSpans"]
                for scope in resource["scopeSpans"] for span in scope["spans"]]

    def wait_for(self, condition):
        """The spans, once the condition holds for them."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not condition(spans := self.spans()):
            if time.monotonic() > deadline:
                raise AssertionError(f"did not come: {[str(span) for span in spans]}")
            with self.lock:
                self.lock.wait(0.2)
        return spans

    def close(self):
        """Ends it."""
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()


class Span:
    """A span of OTLP."""

    def __init__(self, span):
        self.trace, self.id, self.parent = span["traceId"], span["spanId"], span.get("parentSpanId")
        self.name, self.kind = span["name"], span["kind"]
        self.begin, self.end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        self.attributes = {each["key"]: next(iter(each["value"].values())) for each in span.get("attributes", [])}
        self.links = [(link["traceId"], link["spanId"]) for link in span.get("links", [])]
        self.failure = span.get("status")

    def __str__(self):
        return f"{self.name} {self.id} below {self.parent} of {self.trace} {self.attributes}"


def named(spans, name):
    """Those with that name."""
    return [span for span in spans if span.name == name]


def children(spans, parent):
    """The names of its children, sorted."""
    return sorted(span.name for span in spans if span.parent == parent.id and span.trace == parent.trace)
