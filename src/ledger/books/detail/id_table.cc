#include "ledger/books/detail/id_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/core/ensure.h"

namespace berth::ledger::detail {
namespace {

constexpr std::size_t kIdSlotsMin = 1024;

}  // namespace

IdTable::IdTable() : slots_(kIdSlotsMin) {}

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

IdTable::Slot IdTable::saved_slot(std::size_t at) const {
  Slot slot;
  std::memcpy(&slot, saved_.data() + at * sizeof(Slot), sizeof(Slot));
  return slot;
}

std::size_t IdTable::first_saved(std::uint64_t hash) const {
  const std::size_t count = saved_count();
  if (count == 0) return 0;
  const auto guess = static_cast<std::size_t>(static_cast<unsigned __int128>(hash) * count >> 64U);
  // [low, high) is widened until it contains the place, then halved.
  std::size_t step = 16;
  std::size_t low = guess;
  while (low > 0 && saved_slot(low).hash >= hash) low -= std::min(low, std::exchange(step, step * 2));
  step = 16;
  std::size_t high = guess;
  while (high < count && saved_slot(high).hash < hash) high += std::min(count - high, std::exchange(step, step * 2));
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (saved_slot(middle).hash < hash) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void IdTable::save(const std::function<void(std::string_view)>& sink) const {
  std::vector<Slot> added;
  added.reserve(count_);
  for (const Slot& slot : slots_) {
    if (slot.position != kNowhere) added.push_back(slot);
  }
  std::ranges::sort(added);
  constexpr std::size_t kPiece = 65'536;
  std::vector<Slot> piece;
  piece.reserve(kPiece);
  const auto give = [&] {
    sink({reinterpret_cast<const char*>(piece.data()), piece.size() * sizeof(Slot)});
    piece.clear();
  };
  std::size_t at = 0;
  for (const Slot& slot : added) {
    for (; at < saved_count() && saved_slot(at) < slot; ++at) {
      piece.push_back(saved_slot(at));
      if (piece.size() == kPiece) give();
    }
    piece.push_back(slot);
    if (piece.size() == kPiece) give();
  }
  give();
  sink(saved_.substr(at * sizeof(Slot)));
}

void IdTable::restore(std::string_view bytes) {
  ENSURE(count_ == 0 && bytes.size() % sizeof(Slot) == 0);
  saved_ = bytes;
}

}  // namespace berth::ledger::detail
