/// How soon a service answers that had no load: what is kept ready for it, and how long its clients wait.
#pragma once

#include <cstdint>
#include <optional>

#include "base/core/instant.h"

namespace berth {

/// `warm_pool`: what is kept ready without load, and at what price. Only the policy `berth` obeys it.
struct WarmPool {
  std::int64_t slices_min = 0;                          ///< kept ready whatever comes, >= 0
  std::optional<std::int64_t> slices_max;               ///< ready without load at most, >= slices_min
  std::optional<std::int64_t> cold_micro_usd;           ///< what a cold start costs, >= 0
  std::optional<std::int64_t> idle_micro_usd_per_hour;  ///< the most that its idle slices may cost, >= 0
  friend bool operator==(const WarmPool&, const WarmPool&) = default;
};

/// The rules of one service.
struct Readiness {
  std::optional<WarmPool> warm_pool;
  /// `answer_seconds`: requests that would be answered later are dropped; absent: the latency target. At least the
  /// target: an answer between both is late.
  std::optional<Micros> answer;
  /// The part of ServiceSpec::start that the model takes (`start_seconds: {runtime, model}`); the rest: its runtime.
  std::optional<Micros> start_of_model;

  [[nodiscard]] bool has_effect() const { return warm_pool || answer || start_of_model; }

  /// Nothing: whoever writes specs as bytes saves it apart, as earlier versions have none.
  template <class Archive, class Self>
  static void archive_fields(Archive& /*archive*/, Self& /*self*/) {}
  friend bool operator==(const Readiness&, const Readiness&) = default;
};

}  // namespace berth
