/// The uses of one GPU by slice and time, to find those that overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ledger/books/detail/names.h"
#include "ledger/events/event.h"

namespace berth::ledger::detail {

/// Intervals of slices that do not overlap, sorted by (slice, from) in chunks, so that a late one moves a chunk and not
/// all that came after it. O(log n) to find, O(log n + chunk + n / chunk^2) to insert.
class UseIndex {
 public:
  /// Where a use is among those of its GPU.
  using UseNumber = std::uint32_t;

  /// Puts it in, unless it overlaps one of the same slice. Returns whether it did.
  bool insert(NameId slice, const Interval& when, UseNumber use);
  /// The use of this slice that begins then.
  [[nodiscard]] std::optional<UseNumber> find(NameId slice, std::int64_t from_us) const;
  /// By slice and time.
  void for_each(const auto& visit) const {
    for (const Chunk& chunk : chunks_) {
      for (const Entry& entry : chunk) visit(entry.use);
    }
  }
  /// Requires: it is there.
  void erase(NameId slice, std::int64_t from_us);

 private:
  static constexpr std::size_t kChunkMax = 128;

  struct Entry {
    std::int64_t from_us = 0;
    std::int64_t to_us = 0;
    NameId slice = 0;
    UseNumber use = 0;
  };
  using Chunk = std::vector<Entry>;  ///< never empty

  struct Place {
    std::size_t chunk = 0;
    std::size_t entry = 0;
  };

  [[nodiscard]] static bool is_before(const Entry& entry, NameId slice, std::int64_t from_us) {
    return entry.slice != slice ? entry.slice < slice : entry.from_us < from_us;
  }
  /// Of the first entry that is not before; `chunk` is the last one if all are.
  [[nodiscard]] Place lower_bound(NameId slice, std::int64_t from_us) const;
  [[nodiscard]] const Entry* entry_at(Place place) const;
  [[nodiscard]] const Entry* entry_before(Place place) const;
  void split(std::size_t chunk);

  std::vector<Chunk> chunks_;
};

}  // namespace berth::ledger::detail
