/// Usage as rows of a store, and back.
#pragma once

#include "base/core/result.h"
#include "domain/ports/journal_store.h"
#include "domain/values/scenario.h"
#include "live/session/usage_book.h"

namespace berth::journal {

[[nodiscard]] UsageRow row_of(const live::UsageInterval& interval, const Scenario& fleet);

/// The inverse of `row_of`, for the same fleet. Error (kUnavailable): the row was not written by it. Unknown keys are
/// ignored.
[[nodiscard]] Result<live::UsageInterval> interval_of(const UsageRow& row, const Scenario& fleet);

}  // namespace berth::journal
