/// Which labels need not be searched because another one is at least as good.
#pragma once

#include <optional>
#include <vector>

#include "planner/one_gpu/detail/labels.h"

namespace berth::planner {

class Dominance {
 public:
  /// Keeps references.
  Dominance(const GpuCase& gpu_case, const Labels& labels);

  /// Whether `a`, with the same arrangement up to symmetries, is worth at least as much as `b` whatever follows from
  /// slot t on. Not every such pair is found.
  [[nodiscard]] bool covers(const Label& a, const Label& b, SlotIndex t) const;

 private:
  [[nodiscard]] std::optional<double> lead_needed(const ModelState& a, const ModelState& b, ServiceIndex service,
                                                  SlotIndex t) const;

  const GpuCase& case_;
  const Labels& labels_;
  std::vector<char> after_helps_;  ///< [service], no variant is less accurate after retraining
};

}  // namespace berth::planner
