#include "ledger/books/detail/names.h"

#include <functional>
#include <utility>

#include "base/core/ensure.h"

namespace berth::ledger::detail {
namespace {

constexpr std::size_t kNameSlotsMin = 64;

std::uint32_t hash_of(std::string_view text) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(text) >> 16U);
}

}  // namespace

Names::Names() : slots_(kNameSlotsMin, kNone) {}

std::size_t Names::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != kNone && (hashes_[slots_[slot]] != hash || this->text(slots_[slot]) != text)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::optional<NameId> Names::find(std::string_view text) const {
  const NameId id = slots_[slot_of(text, hash_of(text))];
  return id == kNone ? std::nullopt : std::optional(id);
}

NameId Names::intern(std::string_view text) {
  const std::uint32_t hash = hash_of(text);
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != kNone) return slots_[slot];
  ENSURE(hashes_.size() < kNone);
  const auto id = static_cast<NameId>(hashes_.size());
  bytes_ += text;
  starts_.push_back(bytes_.size());
  hashes_.push_back(hash);
  slots_[slot] = id;
  if (hashes_.size() * 2 > slots_.size()) grow();
  return id;
}

void Names::grow() {
  slots_.assign(slots_.size() * 2, kNone);
  const std::size_t mask = slots_.size() - 1;
  for (NameId id = 0; id < hashes_.size(); ++id) {
    std::size_t slot = hashes_[id] & mask;
    while (slots_[slot] != kNone) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

bool Names::restore() {
  const std::string bytes = std::move(bytes_);
  const std::vector<std::uint64_t> starts = std::move(starts_);
  *this = Names();
  if (starts.empty() || starts.front() != 0 || starts.back() != bytes.size()) return false;
  for (std::size_t i = 1; i < starts.size(); ++i) {
    if (starts[i] < starts[i - 1]) return false;
    const NameId id = intern(std::string_view(bytes).substr(starts[i - 1], starts[i] - starts[i - 1]));
    if (id != i - 1) return false;
  }
  return true;
}

}  // namespace berth::ledger::detail
