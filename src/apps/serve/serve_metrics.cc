#include "apps/serve/serve_metrics.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "serving/figures/metric_families.h"

namespace berth::serve {
namespace {

void put_counts(MetricFamily& family, const std::string& signal, const edges::OtlpCounts& counts) {
  for (const auto& [outcome, items] : {std::pair("made", counts.made), std::pair("sent", counts.sent),
                                       std::pair("refused", counts.refused), std::pair("dropped", counts.dropped)}) {
    family.samples.push_back(
        {.labels = {{"signal", signal}, {"outcome", outcome}}, .value = static_cast<double>(items)});
  }
}

}  // namespace

std::vector<MetricFamily> telemetry_families(const edges::Telemetry* telemetry) {
  if (telemetry == nullptr) return {};
  MetricFamily family{
      .name = "berth_otlp_items_total",
      .help = "Spans and data points for a collector (made), and what became of them (sent, refused, dropped)",
      .kind = MetricKind::kCounter};
  put_counts(family, "traces", telemetry->span_counts());
  put_counts(family, "metrics", telemetry->metric_counts());
  return {std::move(family)};
}

std::vector<MetricFamily> server_families(const serving::FigureService& service, const edges::Telemetry* telemetry) {
  std::vector<MetricFamily> families = serving::metric_families(service.counters());
  std::ranges::move(telemetry_families(telemetry), std::back_inserter(families));
  return families;
}

}  // namespace berth::serve
