#include "surface/up_metrics/metrics_page.h"

#include <fmt/format.h>

#include <string_view>

#include "surface/up_metrics/metric_table.h"
#include "surface/up_metrics/metrics_book.h"
#include "surface/up_metrics/up_families.h"

namespace berth::metrics {
namespace {

constexpr const char* kBegin = R"(# Metrics of `berth up`

<!-- Written by `berth config metrics > docs/reference/metrics.md`: change src/surface/up_metrics/metric_table.cc and
metrics_page.cc there instead. -->

`GET /metrics` gives the figures of a running engine in the text format of Prometheus (0.0.4). It needs the key, like
`/v1`:

```yaml
scrape_configs:
  - job_name: berth
    authorization: {credentials_file: /var/lib/berth/admin.key}
    static_configs: [{targets: ["127.0.0.1:8642"]}]
```

- A scrape is one moment. What is read of the world is read at once; counters of services, SM-time and GPU-time cover
  the seconds of the world before `berth_world_second`.
- Counters begin at 0 with each process. Nothing of them is stored: the past is in [series.md](series.md) and
  `/v1/usage`.
- Times are seconds of the world, which runs `--speed` times as fast as the wall clock, but for those of the planner and
  the process that end in `_seconds` and are histograms, and for `process_*`.
- What is unknown has no sample. Without simulated load (`--world local` without `--load simulated`) nothing is known of
  the requests of services.
- The metrics of `berth serve` are in [serve.md](serve.md).

)";

std::string_view heading(MetricArea area) {
  switch (area) {
    case MetricArea::kFleet:
      return "Fleet";
    case MetricArea::kService:
      return "Services";
    case MetricArea::kPlanner:
      return "Planner";
    case MetricArea::kProcess:
      return "Process";
  }
  return "";
}

std::string_view word(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return "";
}

std::string labels_of(const MetricRow& row) {
  std::string labels;
  for (const std::string_view label : row.labels) {
    if (!label.empty()) labels += fmt::format("{}`{}`", labels.empty() ? "" : ", ", label);
  }
  return labels;
}

std::string tables() {
  std::string text;
  const MetricRow* before = nullptr;
  for (const MetricRow& row : metric_table()) {
    if (before == nullptr || before->area != row.area) {
      text += fmt::format("{}## {}\n\n| Name | Kind | Labels | Meaning | No sample if |\n|---|---|---|---|---|\n",
                          before == nullptr ? "" : "\n", heading(row.area));
    }
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} |\n", row.name, word(row.kind), labels_of(row), row.help, row.missing);
    before = &row;
  }
  return text;
}

std::string limits() {
  std::string summed;
  for (const MetricRow& row : metric_table()) {
    if (row.is_summed) summed += fmt::format("{}`{}`", summed.empty() ? "" : ", ", row.name);
  }
  return fmt::format(R"(
## How many series

A scrape has at most `metrics.series_max` series ([config.md](config.md)), where each line of a histogram counts. A
service takes {}, and one more for each `berth_service_speed_factor`; a tenant takes {}. Services and tenants are listed
by name in the order in which they came, while they fit. None changes sides until the process ends: one that is gone
keeps its counters, and continues with them if it is created again with its name. The rest is summed with empty
`tenant` and `service` and the label `overflow="true"`, in {}.

An eighth of the series is for `berth_http_request_seconds`, and up to a quarter for `berth_gpus` and `berth_slices`:
label sets that do not fit there are summed likewise.
)",
                     kServiceSeries, kTenantSeries, summed);
}

}  // namespace

std::string metrics_page() { return kBegin + tables() + limits(); }

}  // namespace berth::metrics
