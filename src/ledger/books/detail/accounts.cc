#include "ledger/books/detail/accounts.h"

namespace berth::ledger::detail {

void Accounts::apply(Month month, const Postings& postings, bool is_reversal) {
  if (!postings.list.empty()) changed_.insert(month);
  MonthAccounts& accounts = months_[month];
  for (const Posting& posting : postings.list) {
    Amount& account = accounts[{.holder = posting.holder, .sku = posting.sku}];
    Amount& source = skus_[posting.sku];
    if (is_reversal) {
      account -= posting.amount;
      source -= posting.amount;
    } else {
      account += posting.amount;
      source += posting.amount;
    }
  }
  const Int128 sign = is_reversal ? -1 : 1;
  unpriced_us_ += sign * postings.unpriced_us;
  unbacked_us_ += sign * postings.unbacked_us;
}

}  // namespace berth::ledger::detail
