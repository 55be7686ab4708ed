/// Exact prices of the space of one GPU for a range of slots in which nothing changes.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/gpu_case.h"

namespace berth::planner {

/// Solves, for values v[s][r] of service s with room r (-infinity: unusable),
///     max  sum v[s][r] x[s][r]
///     s.t. for each kind: sum count(r) x[s][r] <= sum count(r) y[r],  sum_r x[s][r] = 1,  sum y[r] = 1
/// by the primal simplex method with a dense inverse of the basis (kinds + services + 1 rows). Its dual prices of the
/// kinds minimise the bound "most expensive room + the best gain of each service alone". The next call starts from the
/// last basis: the rows stay, values change.
class BlockPrices {
 public:
  /// Keeps a reference to the case.
  explicit BlockPrices(const GpuCase& gpu_case);

  /// Prices of the kinds, >= 0; near-optimal if the limit of pivots is reached.
  [[nodiscard]] std::vector<double> solve(const std::vector<std::vector<double>>& values);

 private:
  /// A variable: a service has a room, the GPU is a room, or a kind is left over.
  struct RoomChoice {
    enum class Of { kService, kGpu, kSlack };
    Of of = Of::kSlack;
    ServiceIndex service = ServiceIndex(0);  ///< of kService
    RoomIndex room = RoomIndex(0);           ///< for kService and kGpu
    KindIndex kind = KindIndex(0);           ///< for kSlack
  };
  [[nodiscard]] double value_of(const RoomChoice& column, const std::vector<std::vector<double>>& values) const;
  void fill(const RoomChoice& column, std::vector<double>& entries) const;
  [[nodiscard]] std::vector<double> duals(const std::vector<std::vector<double>>& values) const;
  [[nodiscard]] bool price(const std::vector<std::vector<double>>& values, const std::vector<double>& dual,
                           bool takes_first, RoomChoice& best) const;
  [[nodiscard]] bool pivot(const RoomChoice& column);

  const GpuCase& case_;
  int kinds_;
  int services_;
  int rows_;
  std::vector<RoomChoice> basis_;  ///< [row]
  std::vector<double> inverse_;    ///< [row x rows + row]
  std::vector<double> levels_;     ///< [row], of the basic columns
};

}  // namespace berth::planner
