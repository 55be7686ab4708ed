/// Which ids were seen, and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace berth::ledger::detail {

/// The position of the first line with each id, under a hash of the id. The ids themselves stay in the text: whoever
/// looks one up compares. Open addressing, 16 bytes per slot.
class IdTable {
 public:
  IdTable();

  [[nodiscard]] static std::uint64_t hash_of(std::string_view id) { return std::hash<std::string_view>()(id); }

  /// The first position under this hash for which `is_it` is true; kNowhere if there is none.
  template <class IsIt>
  [[nodiscard]] std::uint64_t find(std::uint64_t hash, IsIt is_it) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask; slots_[at].position != kNowhere; at = (at + 1) & mask) {
      if (slots_[at].hash == hash && is_it(slots_[at].position)) return slots_[at].position;
    }
    return kNowhere;
  }
  /// Brings the memory of a hash near.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
  void insert(std::uint64_t hash, std::uint64_t position);

  static constexpr std::uint64_t kNowhere = UINT64_MAX;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t position = kNowhere;
  };

  static void put(std::vector<Slot>& slots, const Slot& slot);

  std::vector<Slot> slots_;  ///< a power of two
  std::size_t count_ = 0;
};

}  // namespace berth::ledger::detail
