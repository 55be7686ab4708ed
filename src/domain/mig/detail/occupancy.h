/// The instances on one GPU while a search adds and removes them: all rules of a legal set in one constant-time
/// check.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/mig/geometry.h"
#include "domain/values/gpu.h"

namespace berth::mig::detail {

/// A legal placement and the units that it covers.
struct Candidate {
  Placement placement;
  std::uint32_t units = 0;
};

/// Bit u for each unit u of [start, start + length). Requires: within 32 units.
[[nodiscard]] std::uint32_t unit_mask(int start, int length);
/// The units of an instance; all 32 for `full`, so that nothing fits with it.
[[nodiscard]] std::uint32_t units_of(const GpuModel& model, const Placement& placement);
/// Every legal placement of the rules' profiles, by profile, then start.
[[nodiscard]] std::vector<Candidate> candidates_of(const GpuModel& model, const Rules& rules);
/// Whether an instance uses up the GPU's only budget of media engines.
[[nodiscard]] bool takes_media_budget(const MigProfile& profile);

/// The instances on one GPU, as a bit mask and counts.
class Occupancy {
 public:
  Occupancy(const GpuModel& model, bool is_before_r510);

  /// Whether the set stays legal with this instance. Requires: the candidate itself is legal.
  [[nodiscard]] bool accepts(const Candidate& candidate) const;
  void add(const Candidate& candidate) { count(candidate, 1); }
  /// Requires: it was added.
  void remove(const Candidate& candidate) { count(candidate, -1); }
  [[nodiscard]] std::uint32_t units() const { return units_; }

 private:
  void count(const Candidate& candidate, int by);

  const GpuModel* model_;
  bool is_before_r510_;
  std::uint32_t units_ = 0;
  std::vector<int> instance_counts_;  ///< by profile
  int media_count_ = 0;
  int three_slice_count_ = 0;
  int four_slice_count_ = 0;
};

}  // namespace berth::mig::detail
