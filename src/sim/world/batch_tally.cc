#include "sim/world/batch_tally.h"

#include <limits>

namespace berth::sim {
namespace {

constexpr double kReported = std::numeric_limits<double>::infinity();

}  // namespace

BatchTally::BatchTally(const Scenario& scenario) : scenario_(scenario) {
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) read_spec({index});
}

void BatchTally::read_spec(ServiceId service) {
  const TierRule& rule = scenario_.services[service.index].tier;
  if (is_counted_.size() <= service.index) is_counted_.resize(service.index + std::size_t{1}, false);
  if (is_counted_[service.index])
    std::erase_if(batches_, [&](const auto& each) { return each.first.first == service; });
  is_counted_[service.index] = !rule.known_on.empty();
  for (const std::string& gpu : rule.known_on) batches_[{service, gpu}] = kReported;
}

void BatchTally::add(ServiceId service, GpuId gpu, double batches) {
  const std::string& model = scenario_.model_of(gpu).name;
  double& sum = batches_[{service, model}];
  if (sum == kReported) return;
  sum += batches;
  if (sum < kMeasuringBatches) return;
  sum = kReported;
  measured_.push_back({.service = service, .gpu = model});
}

}  // namespace berth::sim
