#include "ledger/books/detail/use_index.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace berth::ledger::detail {
namespace {

/// The same by a map that is searched from end to end.
class PlainIndex {
 public:
  struct Entry {
    std::int64_t to_us = 0;
    UseIndex::UseNumber use = 0;
  };

  bool insert(NameId slice, const Interval& when, UseIndex::UseNumber use) {
    for (const auto& [key, entry] : entries_) {
      if (key.first == slice && key.second < when.to_us && when.from_us < entry.to_us) return false;
    }
    entries_[{slice, when.from_us}] = {.to_us = when.to_us, .use = use};
    return true;
  }
  [[nodiscard]] std::optional<UseIndex::UseNumber> find(NameId slice, std::int64_t from_us) const {
    const auto found = entries_.find({slice, from_us});
    return found == entries_.end() ? std::nullopt : std::optional(found->second.use);
  }
  void erase(NameId slice, std::int64_t from_us) { entries_.erase({slice, from_us}); }

  [[nodiscard]] const std::map<std::pair<NameId, std::int64_t>, Entry>& entries() const { return entries_; }

 private:
  std::map<std::pair<NameId, std::int64_t>, Entry> entries_;
};

struct Both {
  UseIndex index;
  PlainIndex plain;
  UseIndex::UseNumber next = 0;

  void insert(NameId slice, const Interval& when) {
    RC_ASSERT(index.insert(slice, when, next) == plain.insert(slice, when, next));
    ++next;
  }
  void erase_any(Rng& rng) {
    if (plain.entries().empty()) return;
    const auto& [slice, from_us] =
        std::next(plain.entries().begin(), static_cast<std::ptrdiff_t>(rng.below(plain.entries().size())))->first;
    const auto key = std::pair(slice, from_us);
    index.erase(key.first, key.second);
    plain.erase(key.first, key.second);
  }
  void compare(NameId slice, std::int64_t from_us) const {
    RC_ASSERT(index.find(slice, from_us) == plain.find(slice, from_us));
  }
  void compare_all() const {
    for (const auto& [key, entry] : plain.entries()) {
      for (std::int64_t beside = -1; beside <= 1; ++beside) compare(key.first, key.second + beside);
      compare(key.first + 1, key.second);
    }
  }
};

Interval any_interval(Rng& rng, std::uint64_t time, std::uint64_t length) {
  const auto from_us = static_cast<std::int64_t>(rng.below(time));
  return {.from_us = from_us, .to_us = from_us + 1 + static_cast<std::int64_t>(rng.below(length))};
}

RC_GTEST_PROP(UseIndexProperty, IsAMapOfIntervals, ()) {
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

/// Chunks are divided at 129 entries: in order of time, backwards, and towards the middle.
RC_GTEST_PROP(UseIndexProperty, HoldsWhatComesInOrder, ()) {
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
  for (const auto& [key, entry] : std::map(both.plain.entries())) {
    both.insert(key.first, {.from_us = key.second + 9, .to_us = key.second + 10});
    both.insert(key.first, {.from_us = key.second - 1, .to_us = key.second + 1});
  }
  while (both.plain.entries().size() > 3) both.erase_any(rng);
  both.compare_all();
  both.insert(0, {.from_us = 0, .to_us = 20 * count});
  both.insert(9, {.from_us = 0, .to_us = 20 * count});
  while (!both.plain.entries().empty()) both.erase_any(rng);
  both.insert(0, {.from_us = 0, .to_us = 1});
  both.compare_all();
}

}  // namespace
}  // namespace berth::ledger::detail
