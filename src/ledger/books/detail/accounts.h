/// The accounts of the ledger: a sku's, from which all grains come, and one for each holder, sku and month.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/core/month.h"
#include "ledger/books/amount.h"
#include "ledger/books/detail/gpu_book.h"

namespace berth::ledger::detail {

/// Who used what: the key of an account of a month.
struct AccountKey {
  HolderId holder = 0;
  NameId sku = 0;
  friend auto operator<=>(const AccountKey&, const AccountKey&) = default;
};

/// The accounts of a month in the order in which they came, with fast lookup: open addressing over their indices.
class MonthAccounts {
 public:
  [[nodiscard]] Amount& operator[](const AccountKey& key);
  [[nodiscard]] auto begin() const { return amounts_.begin(); }
  [[nodiscard]] auto end() const { return amounts_.end(); }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    std::map<AccountKey, Amount> sorted;
    if constexpr (!Archive::kReads) sorted.insert(self.amounts_.begin(), self.amounts_.end());
    archive(sorted);
    if constexpr (Archive::kReads) {
      for (const auto& [key, amount] : sorted) self[key] = amount;
    }
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The slot of a key, or the free one where it belongs. Requires: there is a free slot.
  [[nodiscard]] std::uint32_t& slot_of(const AccountKey& key);
  void grow();

  std::vector<std::pair<AccountKey, Amount>> amounts_;
  std::vector<std::uint32_t> slots_;  ///< indices of `amounts_`; none, or a power of two
};

/// Accounts change only by postings, each from a sku's to a holder's; a posting is never edited, only reversed.
class Accounts {
 public:
  void post(Month month, const Postings& postings) { apply(month, postings, false); }
  void reverse(Month month, const Postings& postings) { apply(month, postings, true); }

  [[nodiscard]] const std::map<Month, MonthAccounts>& months() const { return months_; }
  /// The amount that each sku has given, by sku.
  [[nodiscard]] const std::map<NameId, Amount>& skus() const { return skus_; }
  /// Months with postings since they were last forgotten.
  [[nodiscard]] const std::set<Month>& changed() const { return changed_; }
  void forget_changed() { changed_.clear(); }

  [[nodiscard]] Int128 unpriced_us() const { return unpriced_us_; }
  [[nodiscard]] Int128 unbacked_us() const { return unbacked_us_; }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.months_, self.skus_, self.changed_, self.unpriced_us_, self.unbacked_us_);
  }

 private:
  void apply(Month month, const Postings& postings, bool is_reversal);

  std::map<Month, MonthAccounts> months_;
  std::map<NameId, Amount> skus_;
  std::set<Month> changed_;
  Int128 unpriced_us_ = 0;
  Int128 unbacked_us_ = 0;
};

}  // namespace berth::ledger::detail
