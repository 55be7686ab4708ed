#include "ledger/books/detail/accounts.h"

namespace berth::ledger::detail {

namespace {

constexpr std::size_t kAccountSlotsMin = 64;

/// The upper half of the product, of which every bit depends on the holder and the sku.
std::size_t account_hash(const AccountKey& key) {
  return (std::uint64_t{key.holder} << 32U | key.sku) * 0x9e3779b97f4a7c15ULL >> 32U;
}

}  // namespace

std::uint32_t& MonthAccounts::slot_of(const AccountKey& key) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = account_hash(key) & mask;
  while (slots_[slot] != kNone && amounts_[slots_[slot]].first != key) slot = (slot + 1) & mask;
  return slots_[slot];
}

void MonthAccounts::grow() {
  slots_.assign(slots_.empty() ? kAccountSlotsMin : slots_.size() * 2, kNone);
  for (std::size_t i = 0; i < amounts_.size(); ++i) slot_of(amounts_[i].first) = static_cast<std::uint32_t>(i);
}

Amount& MonthAccounts::operator[](const AccountKey& key) {
  if (slots_.empty()) grow();
  if (const std::uint32_t found = slot_of(key); found != kNone) return amounts_[found].second;
  if ((amounts_.size() + 1) * 2 > slots_.size()) grow();
  slot_of(key) = static_cast<std::uint32_t>(amounts_.size());
  return amounts_.emplace_back(key, Amount()).second;
}

void Accounts::apply(Month month, const Postings& postings, bool is_reversal) {
  if (!postings.list.empty()) changed_.insert(month);
  MonthAccounts& accounts = months_[month];
  auto source = skus_.end();  // of the posting before: mostly the same
  for (const Posting& posting : postings.list) {
    Amount& account = accounts[{.holder = posting.holder, .sku = posting.sku}];
    if (source == skus_.end() || source->first != posting.sku) source = skus_.try_emplace(posting.sku).first;
    if (is_reversal) {
      account -= posting.amount;
      source->second -= posting.amount;
    } else {
      account += posting.amount;
      source->second += posting.amount;
    }
  }
  const Int128 sign = is_reversal ? -1 : 1;
  unpriced_us_ += sign * postings.unpriced_us;
  unbacked_us_ += sign * postings.unbacked_us;
}

}  // namespace berth::ledger::detail
