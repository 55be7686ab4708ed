/// The uses of one GPU that touch a day, by slice and time, so that overlaps are found among few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ledger/books/detail/names.h"
#include "ledger/events/event.h"

namespace berth::ledger::detail {

/// A holder: the number of (tenant, service, role) in `Books`.
using HolderId = std::uint32_t;

struct UseRecord {
  Interval when;
  std::uint64_t position = 0;  ///< of its line
  std::int32_t weight = 1;
  HolderId holder = 0;
  NameId slice = 0;
};

/// Uses without overlaps per slice, sorted by (slice, from) in chunks, so that a late one moves only a chunk instead of
/// everything after it. Most days have one chunk, which is therefore not in a list of its own. O(log n) to find,
/// O(log n + chunk + n / chunk^2) to insert.
class UseSet {
 public:
  /// O(n / chunk).
  [[nodiscard]] std::size_t size() const {
    std::size_t size = first_.size();
    for (const Chunk& chunk : more_) size += chunk.size();
    return size;
  }
  [[nodiscard]] bool has_overlap(NameId slice, const Interval& when) const;
  /// Inserts it, unless it overlaps one of its slice. Returns whether it did.
  bool insert(const UseRecord& use);
  /// The use of this slice that begins then, or nullptr. Valid until the next insertion or removal.
  [[nodiscard]] const UseRecord* find(NameId slice, std::int64_t from_us) const;
  /// Requires: it is there.
  void erase(NameId slice, std::int64_t from_us);
  /// By slice and time. The records stay where they are until the next insertion or removal.
  void for_each(const auto& visit) const {
    for (const UseRecord& use : first_) visit(use);
    for (const Chunk& chunk : more_) {
      for (const UseRecord& use : chunk) visit(use);
    }
  }

 private:
  static constexpr std::size_t kChunkMax = 128;

  using Chunk = std::vector<UseRecord>;

  struct Place {
    std::size_t chunk = 0;
    std::size_t entry = 0;
  };

  [[nodiscard]] static bool is_before(const UseRecord& use, NameId slice, std::int64_t from_us) {
    return use.slice != slice ? use.slice < slice : use.when.from_us < from_us;
  }
  /// The place of the first use that is not before the arguments; `chunk` is the last one if all are.
  [[nodiscard]] Place lower_bound(NameId slice, std::int64_t from_us) const;
  [[nodiscard]] const UseRecord* use_at(Place place) const;
  [[nodiscard]] const UseRecord* use_before(Place place) const;
  [[nodiscard]] bool has_overlap_at(Place place, NameId slice, const Interval& when) const;
  void split(std::size_t chunk);
  [[nodiscard]] Chunk& chunk_at(std::size_t chunk) { return chunk == 0 ? first_ : more_[chunk - 1]; }
  [[nodiscard]] const Chunk& chunk_at(std::size_t chunk) const { return chunk == 0 ? first_ : more_[chunk - 1]; }

  Chunk first_;              ///< empty only if all are
  std::vector<Chunk> more_;  ///< the others, none empty
};

}  // namespace berth::ledger::detail
