#include "serving/gateway/gateway_totals.h"

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace berth::serving {
namespace {

constexpr std::array<std::string_view, kGatewayOutcomeCount> kOutcomeNames = {
    "in_time", "late", "refused", "full", "unanswered", "failed", "client_left"};

MetricSample sample_of(const ServiceKey& key, std::variant<double, MetricHistogram> value) {
  return {.labels = {{"tenant", key.first}, {"service", key.second}}, .value = std::move(value)};
}

}  // namespace

void GatewayTotals::end(const ServiceKey& key, GatewayOutcome outcome, std::optional<Micros> latency) {
  Totals& totals = services_[key];
  ++totals.outcomes[static_cast<std::size_t>(outcome)];
  if (latency) observe(totals.latencies, latency->to_seconds());
}

void GatewayTotals::put_families(std::vector<MetricFamily>& families) const {
  MetricFamily requests{
      .name = "berth_gateway_requests_total", .help = "Requests that ended, by outcome", .kind = MetricKind::kCounter};
  MetricFamily repeats{.name = "berth_gateway_repeats_total",
                       .help = "Times that a request was sent to another replica",
                       .kind = MetricKind::kCounter};
  MetricFamily latencies{.name = "berth_gateway_latency_seconds",
                         .help = "Time from the arrival of a request to the end of its answer",
                         .kind = MetricKind::kHistogram};
  for (const auto& [key, totals] : services_) {
    for (std::size_t i = 0; i < kGatewayOutcomeCount; ++i) {
      requests.samples.push_back(sample_of(key, static_cast<double>(totals.outcomes[i])));
      requests.samples.back().labels.emplace_back("outcome", kOutcomeNames[i]);
    }
    repeats.samples.push_back(sample_of(key, static_cast<double>(totals.repeats)));
    latencies.samples.push_back(sample_of(key, totals.latencies));
  }
  families.push_back(std::move(requests));
  families.push_back(std::move(repeats));
  families.push_back(std::move(latencies));
}

}  // namespace berth::serving
