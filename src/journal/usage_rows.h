/// Usage as rows of a store.
#pragma once

#include "domain/scenario.h"
#include "live/usage_book.h"
#include "ports/journal_store.h"

namespace berth::journal {

[[nodiscard]] UsageRow row_of(const live::UsageInterval& interval, const Scenario& fleet);

}  // namespace berth::journal
