#include "models/optimize/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/core/ensure.h"
#include "models/optimize/keep_rules.h"

namespace berth::models {
namespace {

constexpr double kMiB = 1 << 20;

/// Less than what a process's memory differs by from start to start, whatever it loads.
constexpr std::int64_t kMemoryNoiseBytes = 1 << 20;

VerifiedFigure verify_bytes(const std::string& variant, std::string figure, std::int64_t recorded,
                            std::int64_t measured) {
  const double difference = std::abs(static_cast<double>(measured - recorded));
  const double allowed = std::max(kMemoryTolerance * static_cast<double>(recorded), double{kMemoryNoiseBytes});
  return {
      .variant = variant,
      .figure = std::move(figure),
      .wanted = fmt::format("{:.2f} MiB within {:.0f} %", static_cast<double>(recorded) / kMiB, kMemoryTolerance * 100),
      .found = fmt::format("{:.2f} MiB", static_cast<double>(measured) / kMiB),
      .holds = difference <= allowed};
}

VerifiedFigure verify_latency(const std::string& variant, const BatchLatency& recorded, const BatchLatency& measured) {
  ENSURE(recorded.batch == measured.batch);
  const double off = std::abs(measured.ratio.value - recorded.ratio.value);
  return {.variant = variant,
          .figure = fmt::format("time at batch {}", recorded.batch),
          .wanted = fmt::format("{:.3f} x within {:.0f} %", recorded.ratio.value, kLatencyTolerance * 100),
          .found = fmt::format("{:.3f} x", measured.ratio.value),
          .holds = off <= kLatencyTolerance * recorded.ratio.value};
}

VerifiedFigure verify_loss(const std::string& variant, std::string figure, const LossFigure& recorded,
                           const LossFigure& measured, Metric metric) {
  const double loss = measured.loss.value;
  return {
      .variant = variant,
      .figure = std::move(figure),
      .wanted = fmt::format("{} to {}", loss_text(recorded.loss.low, metric), loss_text(recorded.loss.high, metric)),
      .found = loss_text(loss, metric),
      .holds = recorded.loss.low <= loss && loss <= recorded.loss.high};
}

}  // namespace

bool Verification::holds() const { return std::ranges::all_of(figures, &VerifiedFigure::holds); }

VerifiedFigure verify_sum(std::string variant, std::string figure, const std::string& wanted,
                          const std::string& found) {
  return {.variant = std::move(variant),
          .figure = std::move(figure),
          .wanted = wanted,
          .found = found,
          .holds = wanted == found};
}

std::vector<VerifiedFigure> verify_memory(const std::string& variant, const ModelFigures& recorded,
                                          const ModelFigures& measured) {
  return {verify_bytes(variant, "memory after the load", recorded.loaded_bytes, measured.loaded_bytes),
          verify_bytes(variant, "memory at the largest batch", recorded.run_bytes, measured.run_bytes)};
}

std::vector<VerifiedFigure> verify_figures(const std::string& variant, const VariantFigures& recorded,
                                           const VariantFigures& measured, Metric metric) {
  ENSURE(recorded.latency.size() == measured.latency.size());
  std::vector<VerifiedFigure> figures;
  for (std::size_t i = 0; i < recorded.latency.size(); ++i) {
    figures.push_back(verify_latency(variant, recorded.latency[i], measured.latency[i]));
  }
  for (VerifiedFigure& memory : verify_memory(variant, recorded.model, measured.model)) {
    figures.push_back(std::move(memory));
  }
  figures.push_back(verify_loss(variant, "loss on the rows that choose", recorded.choosing, measured.choosing, metric));
  figures.push_back(verify_loss(variant, "loss on the rows that judge", recorded.judging, measured.judging, metric));
  return figures;
}

}  // namespace berth::models
