#include "live/chain/chain.h"

#include "live/chain/field_hash.h"

namespace berth::chain {

Sha256 row_hash(const Sha256& previous, std::uint64_t sequence, const JournalEntry& entry) {
  FieldHash hash("row 1");
  hash.add(previous).add(sequence).add(entry.at.micros()).add(entry.wall_us);
  hash.add(entry.kind).add(std::int64_t{entry.format}).add(entry.body);
  return hash.finish();
}

Sha256 snapshot_hash(const JournalSnapshot& snapshot) {
  FieldHash hash("snapshot 1");
  hash.add(snapshot.sequence).add(std::int64_t{snapshot.format}).add(snapshot.body);
  return hash.finish();
}

Sha256 outcome_hash(const KeyedOutcome& outcome) {
  FieldHash hash("outcome 1");
  hash.add(outcome.key).add(outcome.request).add(outcome.wall_us).add(std::int64_t{outcome.status}).add(outcome.body);
  return hash.finish();
}

Sha256 usage_hash(const UsageRow& row) {
  FieldHash hash("usage 1");
  hash.add(std::uint64_t{row.key.gpu}).add(std::int64_t{row.key.start}).add(row.key.from_us);
  hash.add(std::int64_t{row.units}).add(row.to_us).add(row.sequence).add(row.body);
  return hash.finish();
}

Sha256 blob_hash(const BlobRow& row) {
  FieldHash hash("blob 1");
  hash.add(row.blob).add(row.bytes).add(std::uint64_t{row.part_count}).add(row.used_wall_us);
  hash.add(std::uint64_t{row.is_whole ? 1U : 0U});
  return hash.finish();
}

Sha256 blob_part_hash(const BlobPart& part) {
  FieldHash hash("blob part 1");
  hash.add(part.blob).add(std::uint64_t{part.index}).add(part.bytes);
  return hash.finish();
}

}  // namespace berth::chain
