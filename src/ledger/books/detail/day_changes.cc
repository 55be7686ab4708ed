#include "ledger/books/detail/day_changes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace berth::ledger::detail {
namespace {

/// Sorted, those that overlap joined.
std::vector<Interval> joined(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::from_us);
  std::vector<Interval> windows;
  for (const Interval& next : intervals) {
    if (windows.empty() || next.from_us >= windows.back().to_us) {
      windows.push_back(next);
    } else {
      windows.back().to_us = std::max(windows.back().to_us, next.to_us);
    }
  }
  return windows;
}

/// Extends windows to borders that are given one by one.
class Extension {
 public:
  Extension(std::vector<Interval> windows, const Interval& day)
      : windows_(std::move(windows)), extended_(windows_.size(), day) {}

  void see(std::int64_t border_us) {
    const auto begins_after = std::ranges::lower_bound(windows_, border_us, {}, &Interval::from_us);
    if (begins_after != windows_.end()) {
      std::int64_t& from_us = extended_[index_of(begins_after)].from_us;
      from_us = std::max(from_us, border_us);
    }
    const auto ends_after = std::ranges::upper_bound(windows_, border_us, {}, &Interval::to_us);
    if (ends_after != windows_.begin()) {
      std::int64_t& to_us = extended_[index_of(ends_after) - 1].to_us;
      to_us = std::min(to_us, border_us);
    }
  }

  /// Each border was stored at the nearest window only: it is a border for those behind it, too.
  [[nodiscard]] std::vector<Interval> take() {
    for (std::size_t i = 1; i < extended_.size(); ++i) {
      extended_[i].from_us = std::max(extended_[i].from_us, extended_[i - 1].from_us);
    }
    for (std::size_t i = extended_.size(); i-- > 1;) {
      extended_[i - 1].to_us = std::min(extended_[i - 1].to_us, extended_[i].to_us);
    }
    return joined(std::move(extended_));
  }

 private:
  [[nodiscard]] std::size_t index_of(std::vector<Interval>::const_iterator at) const {
    return static_cast<std::size_t>(at - windows_.begin());
  }

  std::vector<Interval> windows_;
  std::vector<Interval> extended_;
};

}  // namespace

bool DayChanges::is_added(const UseRecord& use) const { return std::ranges::binary_search(added, use.position); }

DayChanges find_day_changes(const UseSet& uses, std::span<const UseChange> changes, const Interval& day) {
  DayChanges found;
  std::vector<Interval> touched;
  for (const UseChange& change : changes) {
    touched.push_back({.from_us = std::max(change.use.when.from_us, day.from_us),
                       .to_us = std::min(change.use.when.to_us, day.to_us)});
    if (!change.is_removal) {
      found.added.push_back(change.use.position);
    } else if (std::erase(found.added, change.use.position) == 0) {
      found.removed.push_back(change.use);
    }
  }
  std::ranges::sort(found.added);
  Extension extension(joined(std::move(touched)), day);
  uses.for_each([&](const UseRecord& use) {
    if (found.is_added(use)) return;
    extension.see(use.when.from_us);
    extension.see(use.when.to_us);
  });
  found.windows = extension.take();
  return found;
}

}  // namespace berth::ledger::detail
