/// When a search ends whose steps cannot be cut short.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "base/core/instant.h"

namespace berth::models {

/// A step is what happens from one question for time to the next. There is time for one that is as long as the longest
/// of the last three.
class StepClock {
 public:
  StepClock(Instant start, Instant deadline) : start_(start), deadline_(deadline) {}

  [[nodiscard]] bool has_time(Instant now);
  /// What passed before the first question: what the search needs before it can try anything. Nothing: none yet.
  [[nodiscard]] std::optional<Micros> preparation() const { return preparation_; }

 private:
  Instant start_;
  Instant deadline_;
  std::optional<Instant> asked_ = std::nullopt;
  std::optional<Micros> preparation_ = std::nullopt;
  std::array<Micros, 3> steps_ = {};
  std::size_t step_count_ = 0;
};

}  // namespace berth::models
