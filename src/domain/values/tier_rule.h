/// On which GPU model a service runs: the rules of its spec and of the scenario, and what was chosen by them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "domain/values/slice.h"

namespace berth {

/// The rules of one service: on which GPU model its slices are, and on which models its performance is known at first.
struct TierRule {
  bool is_auto = false;                    ///< `tier: auto`: the engine chooses `gpu` among the fleet's models
  std::string gpu = {};                    ///< full name of the only model for its slices; empty: any
  std::vector<std::string> known_on = {};  ///< full names, ascending; empty: all rows of its table are known
  /// In what the engine's stages see: the models whose rows are predicted. Never in a scenario.
  std::vector<std::string> predicted_on = {};
  /// Likewise: GPU models and profiles, by name, ascending, on which measured speed factors leave no point within the
  /// limit of the service's target, and the quickest point serves.
  std::vector<std::pair<std::string, std::string>> slow_on = {};

  [[nodiscard]] bool has_effect() const { return is_auto || !gpu.empty() || !known_on.empty(); }
  /// Whether slices of the service may be on GPUs of a model of that name.
  [[nodiscard]] bool allows(const std::string& model) const { return gpu.empty() || gpu == model; }

  /// Nothing: whoever writes specs as bytes saves it apart, as earlier versions have none.
  template <class Archive, class Self>
  static void archive_fields(Archive& /*archive*/, Self& /*self*/) {}
  friend bool operator==(const TierRule&, const TierRule&) = default;
};

/// How rows that were not measured are predicted, for all services of a scenario.
struct TierSettings {
  Decimal sure = Decimal(9, 10);  ///< `tier_sure`, above 0, below 1: the probability with which a prediction is kept
  std::string forest_file = {};   ///< `tier_model`; empty: predictions go by the GPUs' compute throughput
  std::shared_ptr<const std::string> forest = nullptr;  ///< the content of that file
};

/// A model that was not chosen, and why: a sentence.
struct RejectedTier {
  std::string gpu;
  std::string why;
  friend bool operator==(const RejectedTier&, const RejectedTier&) = default;
};

/// The GPU model that the engine chose for a service.
struct TierChoice {
  ServiceId service;
  Instant at;
  std::string gpu;            ///< full name; empty: none keeps the target surely enough, and none was chosen before
  bool is_predicted = false;  ///< its rows on that model are predicted
  double probability = 0;     ///< of keeping the target there, in [0, 1]
  double usd_per_hour = 0;    ///< of the slices for the expected rate
  std::string reason;         ///< why it was chosen now
  std::vector<RejectedTier> rejected;
  friend bool operator==(const TierChoice&, const TierChoice&) = default;
};

/// In words: "A30-24GB (predicted): REASON; probability 0.9, 1.1 USD per hour; not T4-16GB: WHY".
[[nodiscard]] std::string text_of(const TierChoice& choice);

}  // namespace berth
