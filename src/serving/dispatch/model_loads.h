/// Which model Berth's policy loads next, and which models make room for it.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "serving/dispatch/device_state.h"
#include "serving/dispatch/model_demand.h"
#include "serving/dispatch/terms.h"

namespace berth::serving {

class WarmDemand;

/// What should happen now.
struct LoadDecision {
  std::vector<ModelIndex> victims = {};  ///< leave at once
  std::vector<ModelIndex> leaving = {};  ///< take no new requests, and leave when those that they have are answered
  std::optional<ModelIndex> load = std::nullopt;
};

/// The load time that a byte of a model's memory saves per second, in seconds: the least valuable makes room first.
[[nodiscard]] double load_value(const ServedModel& model, const ModelDemand& demand, Instant now);

/// What models are compared by at one instant when one must make room.
struct ModelValues {
  const DeviceState& device;
  std::span<const ModelDemand> demand;
  const WarmDemand* warm = nullptr;  ///< of EvictionRule::kWarm
  Instant now;

  [[nodiscard]] double of(ModelIndex index) const;
};

class ModelLoads {
 public:
  explicit ModelLoads(EvictionRule rule) : rule_(rule) {}

  /// A request was rejected that would have been in time, were the model resident.
  void want(ModelIndex index) { wanted_.insert(index); }
  void learn_load(ModelIndex index) { wanted_.erase(index); }

  [[nodiscard]] LoadDecision choose(const ModelValues& values) const;

 private:
  /// Of the models that may load: one that was asked for, else the one with the most urgent request, else the most
  /// valuable that is wanted.
  [[nodiscard]] std::optional<ModelIndex> next_load(const ModelValues& values) const;
  /// Whether a load should not begin yet: models of less value than the victims are idle soon, and what that saves is
  /// more than the time until then.
  [[nodiscard]] static bool is_better_later(const ModelValues& values, std::int64_t bytes,
                                            const std::vector<ModelIndex>& order,
                                            const std::vector<ModelIndex>& victims);
  /// Resident models in the order in which they make room.
  [[nodiscard]] std::vector<ModelIndex> victim_order(const ModelValues& values) const;

  EvictionRule rule_;
  std::set<ModelIndex> wanted_;
};

}  // namespace berth::serving
