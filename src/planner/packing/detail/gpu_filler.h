/// How many GPUs of one offer hold given numbers of slices, and how these are partitioned.
///
/// Model: y[c] GPUs have partition c; sum_c partition[c][k] y[c] >= counts[k]; y whole. Any weights w >= 0 with
/// w . partition[c] <= value for every partition c prove w . counts <= value x GPUs: such a row of weights answers most
/// questions without a search.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "planner/packing/detail/covers.h"
#include "planner/packing/detail/instance.h"

namespace berth::packing::detail {

/// Weights such that no GPU of the offer holds more than `value` in total; > 0.
struct GpuRow {
  std::vector<std::int64_t> weights;  ///< by kind of the instance
  std::int64_t value = 1;
};

/// A number of GPUs with the same partition.
struct PartitionUse {
  std::size_t partition = 0;
  std::int64_t gpus = 0;
};

/// The fewest GPUs found, and the number below which it is impossible.
struct GpusNeeded {
  std::int64_t gpus = 0;
  std::int64_t bound = 0;
  std::vector<PartitionUse> partitions;
};

class GpuFiller {
 public:
  /// Requires: the instance outlives the filler.
  GpuFiller(const Instance& instance, std::uint32_t offer);

  /// GPUs for these slices (only the offer's own kinds count); answers are cached. Few GPUs are filled by a depth-first
  /// search; if there are many, all but the last ones are partitioned as in the relaxation.
  [[nodiscard]] GpusNeeded gpus_for(const Counts& counts, Budget& budget);

  /// The bound without a search: the greatest of all rows. O(rows x kinds).
  [[nodiscard]] std::int64_t bound_for(const Counts& counts) const;

  [[nodiscard]] const std::vector<GpuRow>& rows() const { return rows_; }

 private:
  enum class Fitting { kFits, kDoesNot, kUnknown };

  /// The relaxation's GPUs by partition; a row that it proves is kept if it is new.
  [[nodiscard]] std::vector<double> relax_partitions(const Counts& counts);
  void keep_row(const std::vector<double>& prices, const Counts& counts);
  [[nodiscard]] std::int64_t row_bound(const GpuRow& row, const Counts& counts) const;
  [[nodiscard]] GpusNeeded search(const Counts& counts, Budget& budget);
  [[nodiscard]] GpusNeeded search_few(const Counts& counts, Budget& budget);
  [[nodiscard]] GpusNeeded search_many(const Counts& counts, const std::vector<double>& gpus_by_partition,
                                       Budget& budget);
  void choose_guide(const Counts& counts);
  [[nodiscard]] Fitting try_to_fill(const Counts& counts, std::int64_t gpus, std::int64_t nodes_max, Budget& budget);
  [[nodiscard]] std::vector<PartitionUse> chosen_uses() const;
  [[nodiscard]] Fitting fill(const Counts& counts, std::int64_t gpus, Budget& budget);
  [[nodiscard]] std::vector<std::size_t> partitions_to_try(const Counts& counts, std::size_t kind) const;
  [[nodiscard]] std::size_t hardest_kind(const Counts& counts) const;

  const Instance& instance_;
  const std::vector<Counts>& partitions_;
  std::vector<std::size_t> kinds_;  ///< of the offer
  std::vector<GpuRow> rows_;
  const GpuRow* guide_ = nullptr;  ///< orders the partitions while a search runs
  std::map<Counts, GpusNeeded> known_;
  std::set<std::pair<std::int64_t, Counts>> failed_;
  std::vector<std::size_t> chosen_;
  std::int64_t nodes_left_ = 0;
};

}  // namespace berth::packing::detail
