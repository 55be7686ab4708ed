#include "planner/packing/detail/gpu_filler.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/core/ensure.h"
#include "base/solver/linear.h"

namespace berth::packing::detail {
namespace {

/// Divisible by 1 to 16, so that prices such as 2/7 of a GPU are whole numbers.
constexpr std::int64_t kRowScale = 720'720;
constexpr std::size_t kRowsMax = 64;
constexpr std::size_t kKnownMax = 100'000;
/// Nodes of one depth-first search; counts that need more are left with a gap.
constexpr std::int64_t kFillNodesMax = 3'000;
constexpr std::int64_t kQuickNodesMax = 60;
/// The cost of one node of it, and of one relaxation, in nodes of the whole search.
constexpr std::int64_t kFillNodeCost = 10;
constexpr std::int64_t kRelaxationCost = 500;
/// From this many GPUs on most are partitioned as in the relaxation.
constexpr std::int64_t kManyGpus = 20;

std::int64_t weight_of(const std::vector<std::int64_t>& weights, const Counts& counts) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) sum += weights[k] * counts[k];
  return sum;
}

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

bool is_none(const Counts& counts) {
  return std::ranges::all_of(counts, [](std::int32_t n) { return n == 0; });
}

/// The rest of the counts after GPUs of this partition have taken theirs.
Counts less(const Counts& counts, const Counts& partition, std::int64_t gpus) {
  Counts rest = counts;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    rest[k] = static_cast<std::int32_t>(std::max<std::int64_t>(0, counts[k] - gpus * partition[k]));
  }
  return rest;
}

}  // namespace

GpuFiller::GpuFiller(const Instance& instance, std::uint32_t offer)
    : instance_(instance), partitions_(instance.offers[offer].partitions) {
  rows_.reserve(kRowsMax);  // guide_ points into it
  GpuRow lengths{std::vector<std::int64_t>(instance.kinds.size(), 0), 1};
  for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
    if (instance.kinds[k].offer != offer) continue;
    kinds_.push_back(k);
    lengths.weights[k] = std::max(1, instance.kinds[k].length);
  }
  for (const Counts& partition : partitions_)
    lengths.value = std::max(lengths.value, weight_of(lengths.weights, partition));
  rows_.push_back(lengths);
  for (const std::size_t k : kinds_) {
    GpuRow most{std::vector<std::int64_t>(instance.kinds.size(), 0), 1};
    most.weights[k] = 1;
    for (const Counts& partition : partitions_) most.value = std::max<std::int64_t>(most.value, partition[k]);
    if (rows_.size() < kRowsMax / 2) rows_.push_back(most);
  }
}

std::int64_t GpuFiller::row_bound(const GpuRow& row, const Counts& counts) const {
  return divided_up(weight_of(row.weights, counts), row.value);
}

std::int64_t GpuFiller::bound_for(const Counts& counts) const {
  std::int64_t bound = 0;
  for (const GpuRow& row : rows_) bound = std::max(bound, row_bound(row, counts));
  return bound;
}

std::vector<double> GpuFiller::relax_partitions(const Counts& counts) {
  solver::LinearModel model;
  model.columns.assign(partitions_.size(), {.cost = 1});
  model.rows.reserve(kinds_.size());
  for (const std::size_t k : kinds_) {
    solver::Row row;
    row.lower = static_cast<double>(counts[k]);
    for (std::size_t c = 0; c < partitions_.size(); ++c) {
      if (partitions_[c][k] > 0) row.entries.push_back({static_cast<int>(c), static_cast<double>(partitions_[c][k])});
    }
    model.rows.push_back(std::move(row));
  }
  solver::LpAnswer answer = solver::solve_lp(model);
  if (answer.status != solver::Status::kOptimal) return std::vector<double>(partitions_.size(), 0);
  keep_row(answer.row_prices, counts);
  return std::move(answer.values);
}

/// The best row for these counts is the dual of the relaxation. Rounded it is still a row, with its value after
/// rounding.
void GpuFiller::keep_row(const std::vector<double>& prices, const Counts& counts) {
  if (rows_.size() == kRowsMax) return;
  GpuRow learned{std::vector<std::int64_t>(instance_.kinds.size(), 0), 1};
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const double price = std::clamp(prices[i], 0.0, 1.0);
    learned.weights[kinds_[i]] = std::llround(price * static_cast<double>(kRowScale));
  }
  for (const Counts& partition : partitions_)
    learned.value = std::max(learned.value, weight_of(learned.weights, partition));
  if (row_bound(learned, counts) > bound_for(counts)) rows_.push_back(std::move(learned));
}

GpusNeeded GpuFiller::gpus_for(const Counts& counts, Budget& budget) {
  Counts own(counts.size(), 0);
  for (const std::size_t k : kinds_) own[k] = counts[k];
  if (const auto known = known_.find(own); known != known_.end()) return known->second;
  GpusNeeded needed = search(own, budget);
  if (known_.size() >= kKnownMax) known_.clear();
  known_.emplace(std::move(own), needed);
  return needed;
}

void GpuFiller::choose_guide(const Counts& counts) {
  guide_ = &*std::ranges::max_element(rows_, {}, [&](const GpuRow& row) {
    return static_cast<double>(weight_of(row.weights, counts)) / static_cast<double>(row.value);
  });
}

GpusNeeded GpuFiller::search(const Counts& counts, Budget& budget) {
  if (is_none(counts)) return {};
  choose_guide(counts);
  const std::int64_t bound = bound_for(counts);
  if (bound < kManyGpus) {
    // Usually the first descent ends at the bound, and no further search is needed.
    const Fitting answer = try_to_fill(counts, bound, kQuickNodesMax, budget);
    if (answer == Fitting::kFits) return {.gpus = bound, .bound = bound, .partitions = chosen_uses()};
  }
  budget.nodes += kRelaxationCost;
  const std::vector<double> gpus_by_partition = relax_partitions(counts);
  choose_guide(counts);
  return bound_for(counts) < kManyGpus ? search_few(counts, budget) : search_many(counts, gpus_by_partition, budget);
}

GpuFiller::Fitting GpuFiller::try_to_fill(const Counts& counts, std::int64_t gpus, std::int64_t nodes_max,
                                          Budget& budget) {
  failed_.clear();
  chosen_.clear();
  nodes_left_ = nodes_max;
  return fill(counts, gpus, budget);
}

std::vector<PartitionUse> GpuFiller::chosen_uses() const {
  std::vector<PartitionUse> uses;
  uses.reserve(chosen_.size());
  for (const std::size_t partition : chosen_) uses.push_back({partition, 1});
  return uses;
}

GpusNeeded GpuFiller::search_few(const Counts& counts, Budget& budget) {
  GpusNeeded needed{.gpus = 0, .bound = bound_for(counts), .partitions = {}};
  for (std::int64_t gpus = needed.bound;; ++gpus) {
    const Fitting answer = try_to_fill(counts, gpus, kFillNodesMax, budget);
    if (answer == Fitting::kFits) {
      needed.gpus = gpus;
      needed.partitions = chosen_uses();
      return needed;
    }
    if (answer == Fitting::kDoesNot && needed.bound == gpus) needed.bound = gpus + 1;
  }
}

/// Whole GPUs of the relaxation, then the rest. With a few GPUs fewer of each partition the rest has more choices.
GpusNeeded GpuFiller::search_many(const Counts& counts, const std::vector<double>& gpus_by_partition, Budget& budget) {
  constexpr int kTriesMax = 3;
  const std::int64_t bound = bound_for(counts);
  GpusNeeded best;
  for (int less_by = 0; less_by < kTriesMax && (less_by == 0 || best.gpus > bound); ++less_by) {
    GpusNeeded needed{.gpus = 0, .bound = bound, .partitions = {}};
    Counts left = counts;
    for (std::size_t c = 0; c < partitions_.size(); ++c) {
      const std::int64_t gpus = static_cast<std::int64_t>(std::floor(gpus_by_partition[c] + 1e-9)) - less_by;
      if (gpus <= 0) continue;
      needed.partitions.push_back({c, gpus});
      needed.gpus += gpus;
      left = less(left, partitions_[c], gpus);
    }
    // If nothing was removed (the relaxation has no whole GPU) the rest is searched directly.
    const GpusNeeded rest = left == counts ? search_few(counts, budget) : gpus_for(left, budget);
    needed.gpus += rest.gpus;
    needed.partitions.insert(needed.partitions.end(), rest.partitions.begin(), rest.partitions.end());
    if (less_by == 0 || needed.gpus < best.gpus) best = std::move(needed);
  }
  return best;
}

std::size_t GpuFiller::hardest_kind(const Counts& counts) const {
  std::size_t hardest = instance_.kinds.size();
  for (const std::size_t k : kinds_) {
    if (counts[k] == 0) continue;
    if (hardest == instance_.kinds.size() || guide_->weights[k] > guide_->weights[hardest] ||
        (guide_->weights[k] == guide_->weights[hardest] &&
         instance_.kinds[k].length > instance_.kinds[hardest].length)) {
      hardest = k;
    }
  }
  ENSURE(hardest < instance_.kinds.size());
  return hardest;
}

/// The partitions with this kind, first the one that covers most of the counts.
std::vector<std::size_t> GpuFiller::partitions_to_try(const Counts& counts, std::size_t kind) const {
  struct Way {
    std::int64_t taken_weight = 0;
    Counts taken;
    std::size_t partition = 0;
  };
  std::vector<Way> ways;
  for (std::size_t c = 0; c < partitions_.size(); ++c) {
    if (partitions_[c][kind] == 0) continue;
    Way way{0, counts, c};
    for (std::size_t k = 0; k < counts.size(); ++k) way.taken[k] = std::min(counts[k], partitions_[c][k]);
    way.taken_weight = weight_of(guide_->weights, way.taken);
    ways.push_back(std::move(way));
  }
  std::ranges::sort(ways, [](const Way& a, const Way& b) {
    return std::tie(b.taken_weight, b.taken, a.partition) < std::tie(a.taken_weight, a.taken, b.partition);
  });
  std::vector<std::size_t> partitions;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (i == 0 || ways[i].taken != ways[i - 1].taken) partitions.push_back(ways[i].partition);
  }
  return partitions;
}

GpuFiller::Fitting GpuFiller::fill(const Counts& counts, std::int64_t gpus, Budget& budget) {
  if (is_none(counts)) return Fitting::kFits;
  if (bound_for(counts) > gpus || failed_.contains({gpus, counts})) return Fitting::kDoesNot;
  if (nodes_left_-- <= 0) return Fitting::kUnknown;
  budget.nodes += kFillNodeCost;
  for (const std::size_t partition : partitions_to_try(counts, hardest_kind(counts))) {
    chosen_.push_back(partition);
    const Fitting answer = fill(less(counts, partitions_[partition], 1), gpus - 1, budget);
    if (answer == Fitting::kFits) return answer;
    chosen_.pop_back();
    if (answer == Fitting::kUnknown) return answer;
  }
  failed_.emplace(gpus, counts);
  return Fitting::kDoesNot;
}

}  // namespace berth::packing::detail
