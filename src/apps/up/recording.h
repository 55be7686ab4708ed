/// What a running `berth up` records, and when.
#pragma once

#include <cstdint>

#include "domain/ports/journal_store.h"
#include "live/session/usage_book.h"

namespace berth::up {

struct UpParts;

/// Keeps usage that is over, to be recorded. Under the session's lock.
void note_usage(UpParts& parts, const live::UsageInterval& interval);

/// Records soon what was emitted. Under the lock.
void record_news(UpParts& parts);

/// Saves the world: the next start repeats only later entries. To be called when nothing runs any more.
void save_snapshot(UpParts& parts);

/// The same in two steps, with `append` of `parts.saving` between them, which needs no lock. The first returns whether
/// there is a snapshot to append; until the session changes readers have nothing to record.
[[nodiscard]] bool begin_snapshot(UpParts& parts);
void end_snapshot(UpParts& parts, const StoreResult<std::uint64_t>& appended);

}  // namespace berth::up
