#include "ledger/books/detail/use_set.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/core/rng.h"

namespace berth::ledger::detail {
namespace {

/// The same by a map that is searched from end to end.
class PlainSet {
 public:
  using Key = std::pair<NameId, std::int64_t>;

  [[nodiscard]] bool has_overlap(NameId slice, const Interval& when) const {
    return std::ranges::any_of(uses_, [&](const auto& entry) {
      const UseRecord& use = entry.second;
      return use.slice == slice && use.when.from_us < when.to_us && when.from_us < use.when.to_us;
    });
  }
  void insert(const UseRecord& use) { uses_[{use.slice, use.when.from_us}] = use; }
  void erase(const Key& key) { uses_.erase(key); }

  [[nodiscard]] const std::map<Key, UseRecord>& uses() const { return uses_; }

 private:
  std::map<Key, UseRecord> uses_;
};

struct Both {
  UseSet set;
  PlainSet plain;
  std::uint64_t next = 0;

  void insert(NameId slice, const Interval& when) {
    const bool has_overlap = plain.has_overlap(slice, when);
    const UseRecord use{.when = when, .position = next++, .slice = slice};
    RC_ASSERT(set.has_overlap(slice, when) == has_overlap);
    RC_ASSERT(set.insert(use) != has_overlap);
    if (!has_overlap) plain.insert(use);
  }
  void erase_any(Rng& rng) {
    if (plain.uses().empty()) return;
    const auto key =
        std::next(plain.uses().begin(), static_cast<std::ptrdiff_t>(rng.below(plain.uses().size())))->first;
    set.erase(key.first, key.second);
    plain.erase(key);
  }
  void compare(NameId slice, std::int64_t from_us) const {
    const UseRecord* const found = set.find(slice, from_us);
    const auto wanted = plain.uses().find({slice, from_us});
    RC_ASSERT((found != nullptr) == (wanted != plain.uses().end()));
    if (found != nullptr) RC_ASSERT(found->position == wanted->second.position);
  }
  void compare_all() const {
    auto wanted = plain.uses().begin();
    set.for_each([&](const UseRecord& use) {
      RC_ASSERT(wanted != plain.uses().end() && use.position == wanted->second.position);
      ++wanted;
    });
    RC_ASSERT(wanted == plain.uses().end());
    for (const auto& [key, use] : plain.uses()) {
      for (std::int64_t beside = -1; beside <= 1; ++beside) compare(key.first, key.second + beside);
      compare(key.first + 1, key.second);
    }
  }
};

Interval any_interval(Rng& rng, std::uint64_t time, std::uint64_t length) {
  const auto from_us = static_cast<std::int64_t>(rng.below(time));
  return {.from_us = from_us, .to_us = from_us + 1 + static_cast<std::int64_t>(rng.below(length))};
}

RC_GTEST_PROP(UseSetProperty, IsAMapOfIntervals, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const std::uint64_t time = 1 + rng.below(5'000);
  const std::uint64_t length = 1 + rng.below(20);
  const std::uint64_t slices = 1 + rng.below(4);
  const std::uint64_t erased = rng.below(60);
  Both both;
  for (int i = 0; i < 1'000; ++i) {
    const auto slice = static_cast<NameId>(rng.below(slices));
    if (rng.below(100) < erased) {
      both.erase_any(rng);
    } else {
      both.insert(slice, any_interval(rng, time, length));
    }
    both.compare(slice, static_cast<std::int64_t>(rng.below(time)));
  }
  both.compare_all();
}

/// Chunks are divided at 129 uses: in order of time, backwards, and towards the middle.
RC_GTEST_PROP(UseSetProperty, HoldsWhatComesInOrder, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const auto count = *rc::gen::inRange<std::int64_t>(120, 700);
  const auto way = *rc::gen::inRange(0, 3);
  const auto slices = *rc::gen::inRange<std::int64_t>(1, 4);
  Both both;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = i;
    if (way == 1) at = count - i;
    if (way == 2) at = i % 2 == 0 ? i : 2 * count - i;
    both.insert(static_cast<NameId>(i % slices), {.from_us = 10 * at, .to_us = 10 * at + 10});
  }
  both.compare_all();
  // Each one is full: neither its beginning nor its end is free for another.
  for (const auto& [key, use] : std::map(both.plain.uses())) {
    both.insert(key.first, {.from_us = key.second + 9, .to_us = key.second + 10});
    both.insert(key.first, {.from_us = key.second - 1, .to_us = key.second + 1});
  }
  while (both.plain.uses().size() > 3) both.erase_any(rng);
  both.compare_all();
  both.insert(0, {.from_us = 0, .to_us = 20 * count});
  both.insert(9, {.from_us = 0, .to_us = 20 * count});
  while (!both.plain.uses().empty()) both.erase_any(rng);
  both.insert(0, {.from_us = 0, .to_us = 1});
  both.compare_all();
}

}  // namespace
}  // namespace berth::ledger::detail
