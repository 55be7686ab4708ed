#include "ledger/usage/detail/usage_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "live/session/object_names.h"

namespace berth::ledger::detail {
namespace {

using Intervals = std::vector<const live::UsageInterval*>;

/// The instants at which cells begin or end within a stretch, its own ends included.
std::vector<Instant> borders_of(const Stretch& stretch, const Intervals& intervals) {
  std::vector<Instant> borders = {stretch.from, stretch.to};
  for (const live::UsageInterval* interval : intervals) {
    for (const Instant border : {interval->what.from, interval->to}) {
      if (border > stretch.from && border < stretch.to) borders.push_back(border);
    }
  }
  std::ranges::sort(borders);
  const auto same = std::ranges::unique(borders);
  borders.erase(same.begin(), same.end());
  return borders;
}

/// Whether parts in the order of their starts cover each of the units once.
bool is_whole(const Intervals& parts, std::int32_t units) {
  std::int32_t covered = 0;
  for (const live::UsageInterval* part : parts) {
    if (part->what.part.start != covered) return false;
    covered += part->what.part.units;
  }
  return covered == units;
}

/// Walks through the intervals of a GPU, border by border.
class Sweep {
 public:
  /// Requires: sorted by `from`.
  explicit Sweep(const Intervals& intervals) : intervals_(intervals) {}

  /// The parts present from a border to the next, by start.
  const Intervals& parts_at(Instant border) {
    std::erase_if(parts_, [&](const live::UsageInterval* part) { return part->to <= border; });
    for (; next_ < intervals_.size() && intervals_[next_]->what.from <= border; ++next_) {
      if (intervals_[next_]->to > border) parts_.push_back(intervals_[next_]);
    }
    std::ranges::sort(parts_, {}, [](const live::UsageInterval* part) {
      return std::tuple(part->what.part.start, part->what.from, part->what.sequence);
    });
    return parts_;
  }

 private:
  const Intervals& intervals_;
  std::size_t next_ = 0;
  Intervals parts_;
};

}  // namespace

Result<std::vector<UsageCell>> CellMaker::cells_of(const Stretch& stretch, std::span<const live::UsageInterval> usage) {
  std::vector<Intervals> by_gpu(has_begun_.size());
  for (const live::UsageInterval& interval : usage) by_gpu[interval.gpu.index].push_back(&interval);
  std::vector<UsageCell> cells;
  for (std::uint32_t gpu = 0; gpu < by_gpu.size(); ++gpu) {
    Intervals& intervals = by_gpu[gpu];
    std::ranges::sort(intervals, {}, [](const live::UsageInterval* each) {
      return std::tuple(each->what.from, each->what.part.start, each->what.sequence);
    });
    const std::int32_t units = live::usage_units(fleet_.model_of({gpu}));
    const std::vector<Instant> borders = borders_of(stretch, intervals);
    Sweep sweep(intervals);
    for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
      const Intervals& parts = sweep.parts_at(borders[i]);
      if (!is_whole(parts, units)) {
        if (!has_begun_[gpu]) continue;
        return fail(ErrorCode::kUnavailable,
                    fmt::format("usage of {}: wanted each unit exactly once, found a gap or an overlap",
                                live::gpu_name({gpu})));
      }
      has_begun_[gpu] = true;
      cells.push_back({.gpu = {gpu}, .from = borders[i], .to = borders[i + 1], .parts = parts});
    }
  }
  std::ranges::sort(cells, {}, [](const UsageCell& cell) { return std::pair(cell.to, cell.gpu); });
  return cells;
}

}  // namespace berth::ledger::detail
