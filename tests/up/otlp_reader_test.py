#!/usr/bin/env python3
"""The spans and metrics that a `berth up` sends, read by opentelemetry-proto, which nobody here wrote: every field is
known to it and has the right type. Skipped where it is not installed (scripts/setup test).

protobuf's JSON has bytes as base64, OTLP has ids as hexadecimal: those are converted first."""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
except ImportError as missing:
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    python = pathlib.Path(os.environ.get("BERTH_CLIENTS_PYTHON") or cache / "berth/python-clients/bin/python")
    if python.exists() and pathlib.Path(sys.prefix) != python.parents[1]:
        sys.exit(subprocess.run([python, *sys.argv], check=False).returncode)
    print(f"skipped: {missing}: scripts/setup test installs it")
    sys.exit(SKIPPED)

from collector import Collector  # noqa: E402
from local_up import Up  # noqa: E402

MESSAGES = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest}
ID_BYTES = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def with_base64(value):
    """The same with ids as protobuf wants them."""
    if isinstance(value, list):
        return [with_base64(each) for each in value]
    if not isinstance(value, dict):
        return value
    converted = {}
    for key, each in value.items():
        if key in ID_BYTES:
            raw = bytes.fromhex(each)
            assert len(raw) == ID_BYTES[key] and any(raw), (key, each)
            converted[key] = base64.b64encode(raw).decode()
        else:
            converted[key] = with_base64(each)
    return converted


def read(collector, path):
    """All requests of that path, as messages."""
    return [json_format.ParseDict(with_base64(body), MESSAGES[path]()) for body in collector.taken(path)]


class OtlpReader(unittest.TestCase):
    def test_all_that_is_sent_is_read(self):
        collector = Collector()
        self.addCleanup(collector.close)
        environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_METRICS_EXPORTER": "otlp",
                       "OTEL_SERVICE_NAME": "berth of a test"}
        with tempfile.TemporaryDirectory() as folder:
            up = Up(pathlib.Path(folder) / "state", ["--speed", "20"], environment).ready()
            self.addCleanup(up.process.stdout.close)
            self.addCleanup(up.process.kill)
            up.send("PUT", "v1/tenants/t", {})
            up.send("POST", "v1/gpus/gpu-0/drain", {"reason": "a test"})
            up.send("DELETE", "v1/tenants/none")
            collector.wait_for(lambda _: collector.taken("/v1/metrics"))
            up.process.terminate()
            self.assertEqual(up.process.wait(60), 0, up.stderr())
        spans = [span for message in read(collector, "/v1/traces") for resource in message.resource_spans
                 for scope in resource.scope_spans for span in scope.spans]
        names = {span.name for span in spans}
        self.assertLessEqual({"PUT /v1/tenants/{t}", "POST /v1/gpus/{id}/drain", "journal.commit", "plan", "solve"}, names)
        [resource] = read(collector, "/v1/traces")[0].resource_spans
        attributes = {each.key: each.value.string_value for each in resource.resource.attributes}
        self.assertEqual(attributes["service.name"], "berth of a test")
        metrics = [metric for message in read(collector, "/v1/metrics") for resource in message.resource_metrics
                   for scope in resource.scope_metrics for metric in scope.metrics]
        [items] = [metric for metric in metrics if metric.name == "berth_otlp_items_total"][:1]
        self.assertTrue(items.sum.is_monotonic)
        made = [point.as_double for point in items.sum.data_points
                if {label.key: label.value.string_value for label in point.attributes} ==
                {"signal": "traces", "outcome": "made"}]
        self.assertGreaterEqual(made[0], 4)
        for metric in metrics:
            for point in getattr(metric, metric.WhichOneof("data")).data_points:
                self.assertGreater(point.time_unix_nano, 10**18)


if __name__ == "__main__":
    unittest.main()
