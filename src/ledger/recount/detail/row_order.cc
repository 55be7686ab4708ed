#include "ledger/recount/detail/row_order.h"

#include <string_view>
#include <tuple>

namespace berth::ledger::recounting {

bool precedes(const RowKey& a, const RowKey& b) {
  const auto parts = [](const RowKey& key) {
    const std::string_view kind = key.of ? "correction" : "usage";
    // A month sorts as its text does.
    return std::tuple(std::string_view(key.tenant), std::string_view(key.service), std::string_view(key.sku),
                      name_of(key.role), kind, key.of);
  };
  return parts(a) < parts(b);
}

}  // namespace berth::ledger::recounting
