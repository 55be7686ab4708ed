#include "ledger/books/detail/use_set.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::ledger::detail {

UseSet::Place UseSet::lower_bound(NameId slice, std::int64_t from_us) const {
  if (chunks_.empty()) return {};
  const auto chunk =
      std::ranges::partition_point(chunks_, [&](const Chunk& uses) { return is_before(uses.back(), slice, from_us); });
  if (chunk == chunks_.end()) return {.chunk = chunks_.size() - 1, .entry = chunks_.back().size()};
  const auto entry =
      std::ranges::partition_point(*chunk, [&](const UseRecord& use) { return is_before(use, slice, from_us); });
  return {.chunk = static_cast<std::size_t>(chunk - chunks_.begin()),
          .entry = static_cast<std::size_t>(entry - chunk->begin())};
}

const UseRecord* UseSet::use_at(Place place) const {
  if (chunks_.empty() || place.entry == chunks_[place.chunk].size()) return nullptr;
  return &chunks_[place.chunk][place.entry];
}

const UseRecord* UseSet::use_before(Place place) const {
  if (place.entry > 0) return &chunks_[place.chunk][place.entry - 1];
  return place.chunk > 0 ? &chunks_[place.chunk - 1].back() : nullptr;
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
  if (chunks_.empty()) chunks_.emplace_back();
  Chunk& chunk = chunks_[place.chunk];
  chunk.insert(chunk.begin() + static_cast<std::ptrdiff_t>(place.entry), use);
  if (chunk.size() > kChunkMax) split(place.chunk);
  return true;
}

void UseSet::split(std::size_t chunk) {
  // Uses in order are appended to the last chunk, which is then left full.
  const std::size_t kept = chunk + 1 == chunks_.size() ? kChunkMax - 1 : kChunkMax / 2;
  const auto middle = chunks_[chunk].begin() + static_cast<std::ptrdiff_t>(kept);
  Chunk upper(middle, chunks_[chunk].end());
  chunks_[chunk].erase(middle, chunks_[chunk].end());
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk) + 1, std::move(upper));
}

const UseRecord* UseSet::find(NameId slice, std::int64_t from_us) const {
  const UseRecord* const use = use_at(lower_bound(slice, from_us));
  return use != nullptr && use->slice == slice && use->when.from_us == from_us ? use : nullptr;
}

void UseSet::erase(NameId slice, std::int64_t from_us) {
  const Place place = lower_bound(slice, from_us);
  ENSURE(find(slice, from_us) != nullptr);
  Chunk& chunk = chunks_[place.chunk];
  chunk.erase(chunk.begin() + static_cast<std::ptrdiff_t>(place.entry));
  if (chunk.empty()) chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(place.chunk));
}

}  // namespace berth::ledger::detail
