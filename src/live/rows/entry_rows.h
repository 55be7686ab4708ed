/// A session's entries as rows of the journal, and back.
#pragma once

#include <cstdint>

#include "base/core/result.h"
#include "domain/ports/journal_store.h"
#include "domain/values/scenario.h"
#include "live/session/entry.h"

namespace berth::journal {

/// The version of the rows' bodies that is written; all up to it are read.
inline constexpr int kRowFormat = 1;

/// The row of an entry; docs/reference/journal.md lists kinds and bodies. `fleet`: the scenario; its services are not
/// used.
[[nodiscard]] JournalEntry row_of(const live::Entry& entry, const Scenario& fleet, std::int64_t wall_us);

/// The entry of a row. Error: kInvalidInput, with the row's number: its kind or its format is unknown (written by a
/// later version), or its body is not of that kind.
[[nodiscard]] Result<live::Entry> entry_of(const JournalRow& row, const Scenario& fleet);

}  // namespace berth::journal
