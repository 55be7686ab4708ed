/// The limits of one pass of the search, and what it spent and left out.
#pragma once

#include <algorithm>
#include <cstdint>

#include "planner/one_gpu/detail/service_bound.h"

namespace berth::planner {

/// How much a pass may leave out.
struct PassLimits {
  int width = 8;              ///< labels that are kept in a slot
  int changes_max = 8;        ///< of a label in a slot, counted by the services' shares
  int placings_max = 8;       ///< of one such change
  bool with_moves = false;    ///< also changes that only move pieces, or destroy unused ones
  bool is_from_pool = false;  ///< only changes to configurations of the pool
  int stride = 1;  ///< changes begin in the first slot, in every stride-th one, and where a retraining is due
  std::int64_t nodes_max = 0;
};

class PassBudget {
 public:
  /// Begins a pass: nothing is left out yet.
  void begin(const PassLimits& limits);
  [[nodiscard]] const PassLimits& limits() const { return limits_; }

  /// Nodes are counted over all passes; `is_spent` refers to those of this pass.
  void count(std::int64_t nodes) { nodes_ += nodes; }
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }
  [[nodiscard]] bool is_spent() const { return nodes_ >= nodes_end_; }

  /// Records that something with at most this bound was not searched.
  void leave_out(double bound) { left_out_ = std::max(left_out_, bound); }
  [[nodiscard]] double left_out() const { return left_out_; }

 private:
  PassLimits limits_;
  std::int64_t nodes_ = 0;
  std::int64_t nodes_end_ = 0;
  double left_out_ = kNever;
};

inline void PassBudget::begin(const PassLimits& limits) {
  limits_ = limits;
  left_out_ = kNever;
  nodes_end_ = nodes_ + limits.nodes_max;
}

}  // namespace berth::planner
