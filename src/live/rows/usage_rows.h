/// Usage as rows of a store, and back.
#pragma once

#include "base/core/result.h"
#include "domain/ports/journal_store.h"
#include "domain/values/scenario.h"
#include "live/session/usage_book.h"

namespace berth::journal {

[[nodiscard]] UsageRow row_of(const live::UsageInterval& interval, const Scenario& fleet);

/// What `row_of` wrote, for the same fleet. Error (kUnavailable): it is not that. Keys that this version does not know
/// are passed over.
[[nodiscard]] Result<live::UsageInterval> interval_of(const UsageRow& row, const Scenario& fleet);

}  // namespace berth::journal
