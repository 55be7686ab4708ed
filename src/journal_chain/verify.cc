#include "journal_chain/verify.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "journal_chain/chain.h"

namespace berth::chain {
namespace {

constexpr std::size_t kRowsPerRead = 256;

tl::unexpected<StoreError> damaged(std::string message) {
  return tl::unexpected(StoreError{StoreFault::kDamaged, std::move(message)});
}

/// Whether a gap before the row has a reason: older rows were pruned since the walk began.
StoreResult<void> check_gap(JournalReader& reader, std::uint64_t wanted, std::uint64_t found) {
  const auto range = reader.range();
  if (!range) return tl::unexpected(range.error());
  if (found > wanted && range->first >= found) return {};
  return damaged(fmt::format("row {}: missing; row {} follows row {}", wanted, found, wanted - 1));
}

StoreResult<void> check_row(const std::optional<JournalRow>& previous, const JournalRow& row) {
  if (row.sequence != 1 && !previous)
    return {};  // the row before was pruned: the reader compares with what is kept of it
  const Sha256 before = previous ? previous->hash : Sha256{};
  if (row.hash == row_hash(before, row.sequence, row.entry)) return {};
  return damaged(fmt::format("row {}: its hash does not fit its content and the row before", row.sequence));
}

StoreResult<void> count_rows(JournalReader& reader, JournalCounts& counts) {
  const auto range = reader.range();
  if (!range) return tl::unexpected(range.error());
  std::uint64_t next = range->first;
  std::optional<JournalRow> previous;
  while (next != 0) {
    auto rows = reader.read(next, kRowsPerRead);
    if (!rows) return tl::unexpected(rows.error());
    if (rows->empty()) break;
    for (JournalRow& row : *rows) {
      if (row.sequence != next) {
        if (auto checked = check_gap(reader, next, row.sequence); !checked) return checked;
        previous.reset();
      }
      if (auto checked = check_row(previous, row); !checked) return checked;
      if (counts.first == 0) counts.first = row.sequence;
      counts.last = row.sequence;
      ++counts.rows;
      next = row.sequence + 1;
      previous = std::move(row);
    }
  }
  if (counts.last >= range->last) return {};
  const auto now = reader.range();  // empty if all of them were pruned in the meantime
  if (!now) return tl::unexpected(now.error());
  if (now->last == 0 || now->first > counts.last) return {};
  return damaged(fmt::format("row {}: missing; the last row is {}", counts.last + 1, range->last));
}

StoreResult<void> count_snapshots(JournalReader& reader, JournalCounts& counts) {
  for (const auto& snapshot : {reader.latest_snapshot(), reader.older_snapshot()}) {
    if (!snapshot) return tl::unexpected(snapshot.error());
    if (snapshot->has_value()) ++counts.snapshots;
  }
  return {};
}

StoreResult<void> count_outcomes(JournalReader& reader, JournalCounts& counts) {
  std::optional<Sha256> last;
  while (true) {
    const auto outcomes = reader.read_outcomes(last, kRowsPerRead);
    if (!outcomes) return tl::unexpected(outcomes.error());
    if (outcomes->empty()) return {};
    for (const KeyedOutcome& outcome : *outcomes) {
      if (last && outcome.key <= *last) return damaged("outcomes: their keys are out of order");
      last = outcome.key;
      ++counts.outcomes;
    }
  }
}

}  // namespace

StoreResult<JournalCounts> verify_journal(JournalReader& reader) {
  JournalCounts counts;
  if (auto walked = count_rows(reader, counts); !walked) return tl::unexpected(walked.error());
  if (auto walked = count_snapshots(reader, counts); !walked) return tl::unexpected(walked.error());
  if (auto walked = count_outcomes(reader, counts); !walked) return tl::unexpected(walked.error());
  return counts;
}

}  // namespace berth::chain
