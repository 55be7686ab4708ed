/// The order of a month's rows.
#pragma once

#include "ledger/books/report.h"

namespace berth::ledger::recounting {

/// By the bytes of tenant, service, sku, role, class and of (usage has none).
[[nodiscard]] bool precedes(const RowKey& a, const RowKey& b);

}  // namespace berth::ledger::recounting
