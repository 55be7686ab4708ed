#include "ledger/books/report.h"

#include <tuple>

#include "base/core/ensure.h"

namespace berth::ledger {

bool is_before(const RowKey& a, const RowKey& b) {
  const auto key_of = [](const RowKey& key) {
    return std::tuple<const std::string&, const std::string&, const std::string&, std::string_view, std::string_view,
                      const std::optional<Month>&>(key.tenant, key.service, key.sku, name_of(key.role),
                                                   key.class_name(), key.of);
  };
  return key_of(a) < key_of(b);
}

std::string_view name_of(AccountKind kind) {
  switch (kind) {
    case AccountKind::kSku:
      return "sku";
    case AccountKind::kTenant:
      return "tenant";
    case AccountKind::kIdle:
      return "idle";
    case AccountKind::kNobody:
      return "nobody";
    case AccountKind::kCarry:
      return "carry";
  }
  ENSURE(false);
}

}  // namespace berth::ledger
