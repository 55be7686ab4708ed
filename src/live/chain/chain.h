/// The hashes of what a journal's store keeps. The hash of a row covers the hash of the previous row, so that no row
/// can be changed, removed or moved undetected.
#pragma once

#include <cstdint>

#include "domain/ports/journal_store.h"

namespace berth::chain {

/// Over `previous` (the hash of the row before; zeros before the first) and all columns of the row.
[[nodiscard]] Sha256 row_hash(const Sha256& previous, std::uint64_t sequence, const JournalEntry& entry);
/// Over all columns.
[[nodiscard]] Sha256 snapshot_hash(const JournalSnapshot& snapshot);
/// Over all columns.
[[nodiscard]] Sha256 outcome_hash(const KeyedOutcome& outcome);
/// Over all columns.
[[nodiscard]] Sha256 usage_hash(const UsageRow& row);
/// Over all columns.
[[nodiscard]] Sha256 blob_hash(const BlobRow& row);
/// Over all columns.
[[nodiscard]] Sha256 blob_part_hash(const BlobPart& part);

}  // namespace berth::chain
