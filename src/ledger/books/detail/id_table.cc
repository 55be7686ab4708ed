#include "ledger/books/detail/id_table.h"

#include <utility>

namespace berth::ledger::detail {
namespace {

constexpr std::size_t kSlotsMin = 1024;

}  // namespace

IdTable::IdTable() : slots_(kSlotsMin) {}

void IdTable::put(std::vector<Slot>& slots, const Slot& slot) {
  const std::size_t mask = slots.size() - 1;
  std::size_t at = slot.hash & mask;
  while (slots[at].position != kNowhere) at = (at + 1) & mask;
  slots[at] = slot;
}

void IdTable::insert(std::uint64_t hash, std::uint64_t position) {
  put(slots_, {.hash = hash, .position = position});
  if (++count_ * 4 <= slots_.size() * 3) return;
  std::vector<Slot> larger(slots_.size() * 2);
  for (const Slot& slot : slots_) {
    if (slot.position != kNowhere) put(larger, slot);
  }
  slots_ = std::move(larger);
}

}  // namespace berth::ledger::detail
