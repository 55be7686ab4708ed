/// The ids seen so far, and their positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "live/chain/short_hash.h"

namespace berth::ledger::detail {

/// The position of the first line with each id, under a hash of the id. The ids themselves stay in the text: the caller
/// compares. Open addressing, 16 bytes per slot, plus the saved slots, which are sorted and used in place.
class IdTable {
 public:
  IdTable();

  [[nodiscard]] static std::uint64_t hash_of(std::string_view id) { return chain::short_hash(id); }

  /// The first position under this hash for which `is_it` is true; kNowhere if there is none.
  template <class IsIt>
  [[nodiscard]] std::uint64_t find(std::uint64_t hash, IsIt is_it) const {
    for (std::size_t at = first_saved(hash); at < saved_count(); ++at) {
      const Slot slot = saved_slot(at);
      if (slot.hash != hash) break;
      if (is_it(slot.position)) return slot.position;
    }
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask; slots_[at].position != kNowhere; at = (at + 1) & mask) {
      if (slots_[at].hash == hash && is_it(slots_[at].position)) return slots_[at].position;
    }
    return kNowhere;
  }
  /// Prefetches the memory of a hash.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
  void insert(std::uint64_t hash, std::uint64_t position);

  /// Passes all slots, sorted by hash and position, as bytes to `sink` in pieces.
  void save(const std::function<void(std::string_view)>& sink) const;
  /// Starts from saved slots; the bytes must outlive this. Requires: the table is empty; `bytes` has whole slots.
  void restore(std::string_view bytes);

  static constexpr std::uint64_t kNowhere = UINT64_MAX;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t position = kNowhere;
    friend auto operator<=>(const Slot&, const Slot&) = default;
  };

  static void put(std::vector<Slot>& slots, const Slot& slot);
  [[nodiscard]] std::size_t saved_count() const { return saved_.size() / sizeof(Slot); }
  [[nodiscard]] Slot saved_slot(std::size_t at) const;
  /// The index of the first slot of this hash, or where it would be. Hashes are spread evenly, so interpolation finds
  /// it nearby.
  [[nodiscard]] std::size_t first_saved(std::uint64_t hash) const;

  std::string_view saved_;
  std::vector<Slot> slots_;  ///< a power of two
  std::size_t count_ = 0;
};

}  // namespace berth::ledger::detail
