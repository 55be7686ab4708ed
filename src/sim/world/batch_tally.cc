#include "sim/world/batch_tally.h"

#include <algorithm>

namespace berth::sim {

BatchTally::BatchTally(const Scenario& scenario) : scenario_(scenario) {
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) read_spec({index});
}

void BatchTally::read_spec(ServiceId service) {
  const TierRule& rule = scenario_.services[service.index].tier;
  if (is_counted_.size() <= service.index) is_counted_.resize(service.index + std::size_t{1}, false);
  if (is_counted_[service.index])
    std::erase_if(batches_, [&](const auto& each) { return each.first.first == service; });
  is_counted_[service.index] = !rule.known_on.empty();
  for (const std::string& gpu : rule.known_on) batches_[{service, gpu}] = kKnownBatches;
}

void BatchTally::add(ServiceId service, GpuId gpu, double batches) {
  const std::string& model = scenario_.model_of(gpu).name;
  double& sum = batches_[{service, model}];
  if (sum == kKnownBatches) return;
  sum += batches;
  if (sum < kMeasuringBatches) return;
  sum = kKnownBatches;
  measured_.push_back({.service = service, .gpu = model});
}

std::map<std::string, double> BatchTally::counted(ServiceId service) const {
  std::map<std::string, double> counted;
  if (!counts(service)) return counted;
  const std::vector<std::string>& known = scenario_.services[service.index].tier.known_on;
  for (const auto& [place, batches] : batches_) {
    const bool is_its = place.first == service && std::ranges::find(known, place.second) == known.end();
    if (is_its) counted[place.second] = std::min(batches, static_cast<double>(kMeasuringBatches));
  }
  return counted;
}

void BatchTally::restore(ServiceId service, const std::map<std::string, double>& counted) {
  if (!counts(service)) return;
  for (const auto& [gpu, batches] : counted) {
    double& sum = batches_[{service, gpu}];
    sum = std::max(sum, batches);
  }
}

}  // namespace berth::sim
