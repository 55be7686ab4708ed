#include "ledger/books/detail/use_set.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::ledger::detail {

UseSet::Place UseSet::lower_bound(NameId slice, std::int64_t from_us) const {
  std::size_t chunk = 0;
  if (!more_.empty() && is_before(first_.back(), slice, from_us)) {
    const auto other =
        std::ranges::partition_point(more_, [&](const Chunk& uses) { return is_before(uses.back(), slice, from_us); });
    if (other == more_.end()) return {.chunk = more_.size(), .entry = more_.back().size()};
    chunk = static_cast<std::size_t>(other - more_.begin()) + 1;
  }
  const Chunk& uses = chunk_at(chunk);
  const auto entry =
      std::ranges::partition_point(uses, [&](const UseRecord& use) { return is_before(use, slice, from_us); });
  return {.chunk = chunk, .entry = static_cast<std::size_t>(entry - uses.begin())};
}

const UseRecord* UseSet::use_at(Place place) const {
  const Chunk& uses = chunk_at(place.chunk);
  return place.entry == uses.size() ? nullptr : &uses[place.entry];
}

const UseRecord* UseSet::use_before(Place place) const {
  if (place.entry > 0) return &chunk_at(place.chunk)[place.entry - 1];
  return place.chunk > 0 ? &chunk_at(place.chunk - 1).back() : nullptr;
}

bool UseSet::has_overlap(NameId slice, const Interval& when) const {
  return has_overlap_at(lower_bound(slice, when.from_us), slice, when);
}

bool UseSet::has_overlap_at(Place place, NameId slice, const Interval& when) const {
  const UseRecord* const next = use_at(place);
  if (next != nullptr && next->slice == slice && next->when.from_us < when.to_us) return true;
  const UseRecord* const previous = use_before(place);
  return previous != nullptr && previous->slice == slice && previous->when.to_us > when.from_us;
}

bool UseSet::insert(const UseRecord& use) {
  const Place place = lower_bound(use.slice, use.when.from_us);
  if (has_overlap_at(place, use.slice, use.when)) return false;
  Chunk& chunk = chunk_at(place.chunk);
  chunk.insert(chunk.begin() + static_cast<std::ptrdiff_t>(place.entry), use);
  if (chunk.size() > kChunkMax) split(place.chunk);
  return true;
}

void UseSet::split(std::size_t chunk) {
  // Uses in order are appended to the last chunk, which is then left full.
  const std::size_t kept = chunk == more_.size() ? kChunkMax - 1 : kChunkMax / 2;
  Chunk& lower = chunk_at(chunk);
  const auto middle = lower.begin() + static_cast<std::ptrdiff_t>(kept);
  Chunk upper(middle, lower.end());
  lower.erase(middle, lower.end());
  more_.insert(more_.begin() + static_cast<std::ptrdiff_t>(chunk), std::move(upper));
}

const UseRecord* UseSet::find(NameId slice, std::int64_t from_us) const {
  const UseRecord* const use = use_at(lower_bound(slice, from_us));
  return use != nullptr && use->slice == slice && use->when.from_us == from_us ? use : nullptr;
}

void UseSet::erase(NameId slice, std::int64_t from_us) {
  const Place place = lower_bound(slice, from_us);
  ENSURE(find(slice, from_us) != nullptr);
  Chunk& chunk = chunk_at(place.chunk);
  chunk.erase(chunk.begin() + static_cast<std::ptrdiff_t>(place.entry));
  if (!chunk.empty() || more_.empty()) return;
  if (place.chunk == 0) first_ = std::move(more_.front());
  more_.erase(more_.begin() + static_cast<std::ptrdiff_t>(place.chunk == 0 ? 0 : place.chunk - 1));
}

}  // namespace berth::ledger::detail
