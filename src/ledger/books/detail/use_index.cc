#include "ledger/books/detail/use_index.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace berth::ledger::detail {

UseIndex::Place UseIndex::lower_bound(NameId slice, std::int64_t from_us) const {
  if (chunks_.empty()) return {};
  const auto chunk = std::ranges::partition_point(
      chunks_, [&](const Chunk& entries) { return is_before(entries.back(), slice, from_us); });
  if (chunk == chunks_.end()) return {.chunk = chunks_.size() - 1, .entry = chunks_.back().size()};
  const auto entry =
      std::ranges::partition_point(*chunk, [&](const Entry& other) { return is_before(other, slice, from_us); });
  return {.chunk = static_cast<std::size_t>(chunk - chunks_.begin()),
          .entry = static_cast<std::size_t>(entry - chunk->begin())};
}

const UseIndex::Entry* UseIndex::entry_at(Place place) const {
  if (chunks_.empty() || place.entry == chunks_[place.chunk].size()) return nullptr;
  return &chunks_[place.chunk][place.entry];
}

const UseIndex::Entry* UseIndex::entry_before(Place place) const {
  if (place.entry > 0) return &chunks_[place.chunk][place.entry - 1];
  return place.chunk > 0 ? &chunks_[place.chunk - 1].back() : nullptr;
}

bool UseIndex::insert(NameId slice, const Interval& when, UseNumber use) {
  const Place place = lower_bound(slice, when.from_us);
  const Entry* const next = entry_at(place);
  if (next != nullptr && next->slice == slice && next->from_us < when.to_us) return false;
  const Entry* const previous = entry_before(place);
  if (previous != nullptr && previous->slice == slice && previous->to_us > when.from_us) return false;
  if (chunks_.empty()) chunks_.emplace_back();
  Chunk& chunk = chunks_[place.chunk];
  chunk.insert(chunk.begin() + static_cast<std::ptrdiff_t>(place.entry),
               Entry{.from_us = when.from_us, .to_us = when.to_us, .slice = slice, .use = use});
  if (chunk.size() > kChunkMax) split(place.chunk);
  return true;
}

void UseIndex::split(std::size_t chunk) {
  // What comes in order of time is appended to the last chunk, which is then left full.
  const std::size_t kept = chunk + 1 == chunks_.size() ? kChunkMax - 1 : kChunkMax / 2;
  const auto middle = chunks_[chunk].begin() + static_cast<std::ptrdiff_t>(kept);
  Chunk upper(middle, chunks_[chunk].end());
  chunks_[chunk].erase(middle, chunks_[chunk].end());
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk) + 1, std::move(upper));
}

std::optional<UseIndex::UseNumber> UseIndex::find(NameId slice, std::int64_t from_us) const {
  const Entry* const entry = entry_at(lower_bound(slice, from_us));
  if (entry == nullptr || entry->slice != slice || entry->from_us != from_us) return std::nullopt;
  return entry->use;
}

void UseIndex::erase(NameId slice, std::int64_t from_us) {
  const Place place = lower_bound(slice, from_us);
  ENSURE(find(slice, from_us).has_value());
  Chunk& chunk = chunks_[place.chunk];
  chunk.erase(chunk.begin() + static_cast<std::ptrdiff_t>(place.entry));
  if (chunk.empty()) chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(place.chunk));
}

}  // namespace berth::ledger::detail
