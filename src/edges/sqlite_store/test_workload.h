/// Workloads on a store that may fail at any call, the results they got, and the comparison with the stored data.
#pragma once

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "domain/ports/journal_store.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "live/chain/field_hash.h"
#include "live/chain/verify.h"

namespace berth::edges::testing {

/// The step between the points that a test tries: larger in slow builds.
inline constexpr std::uint64_t kStride = berth::testing::by_build(1, 7);

/// A store with its writer on a simulated disk; reopened if opening failed.
class Session {
 public:
  explicit Session(std::string vfs) { options_.vfs = std::move(vfs); }

  /// Empty, or why it could not be opened.
  std::string open() {
    if (writer_) return {};
    if (!store_) {
      auto opened = open_sqlite_store(kPath, options_);
      if (!opened) return opened.error().message;
      store_ = std::move(opened->store);
      notes_ = std::move(opened->notes);
    }
    auto writer = store_->open_writer(1);
    if (!writer) return writer.error().message;
    writer_ = *std::move(writer);
    return {};
  }
  void close() {
    held_.reset();
    writer_.reset();
    store_.reset();
  }
  [[nodiscard]] JournalWriter& writer() { return *writer_; }
  [[nodiscard]] StoreResult<std::unique_ptr<JournalReader>> reader() { return store_->open_reader(); }
  /// Keeps a reader in the store's current state, so that checkpoints remain partial; or releases it.
  void hold_reader(bool is_wanted) {
    held_.reset();
    if (!is_wanted) return;
    sqlite3* database = nullptr;
    sqlite3_open_v2(kPath, &database, SQLITE_OPEN_READONLY, options_.vfs.c_str());
    held_.reset(database);
    sqlite3_exec(database, "BEGIN; SELECT * FROM meta", nullptr, nullptr, nullptr);
  }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  static constexpr const char* kPath = "/disk/journal.db";

  struct Closer {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };

  SqliteStoreOptions options_{.vfs = {}, .checkpoint_pages = 8};
  std::unique_ptr<JournalStore> store_;
  std::unique_ptr<JournalWriter> writer_;
  std::unique_ptr<sqlite3, Closer> held_;
  std::vector<std::string> notes_;
};

/// The results that the workload got.
struct History {
  int step_count = 0;                   ///< so far
  std::vector<std::string> rows;        ///< acknowledged
  std::vector<KeyedOutcome> outcomes;   ///< acknowledged
  std::uint64_t snapshot = 0;           ///< the newest one acknowledged
  std::uint64_t pruned_before = 0;      ///< asked for
  std::int64_t usage_pruned_us = 0;     ///< asked for
  std::optional<JournalBatch> unknown;  ///< in flight when power was cut
  std::optional<JournalBatch> first_refused;
  std::vector<KeyedOutcome> refused_outcomes;
  std::vector<BlobRow> blobs;  ///< acknowledged
  int refused_count = 0;
};

/// One step of the workload.
struct Step {
  int row_count = 0;
  std::size_t row_bytes = 0;
  bool has_outcome = false;
  bool has_snapshot = false;
  bool has_blob = false;
  bool is_prune = false;
  std::optional<bool> holds_reader = std::nullopt;  ///< from now on
};

/// The steps from the two with 4,000 bytes on: pages that are written once and copied by a checkpoint that a reader
/// keeps from completing; then a complete one, and a WAL reused from its start.
inline const std::vector<Step>& workload() {
  static const std::vector<Step> steps = {{.row_count = 3},
                                          {.row_count = 1, .has_outcome = true, .has_blob = true},
                                          {.row_count = 2, .row_bytes = 9000},
                                          {.row_count = 2, .has_outcome = true, .has_snapshot = true},
                                          {.row_count = 5, .row_bytes = 1000},
                                          {.is_prune = true},
                                          {.row_count = 1, .has_outcome = true, .has_snapshot = true},
                                          {.is_prune = true},
                                          {.row_count = 8, .row_bytes = 4000},
                                          {.row_count = 2, .row_bytes = 4000},
                                          {.row_count = 1, .holds_reader = true},
                                          {.row_count = 1},
                                          {.row_count = 1},
                                          {.row_count = 1, .holds_reader = false},
                                          {.row_count = 1},
                                          {.row_count = 1}};
  return steps;
}

/// A row of usage of a step, each on its own GPU: refused steps leave no gap.
inline UsageRow usage_of(std::int64_t number) {
  return {.key = {.gpu = static_cast<std::uint32_t>(number), .start = 2, .from_us = number},
          .units = 2,
          .to_us = 10 * number,
          .sequence = static_cast<std::uint64_t>(number),
          .body = fmt::format("used in {}", number)};
}

/// A blob of one part.
inline BlobPart blob_of(int number) {
  BlobPart part{.blob = {}, .index = 0, .bytes = fmt::format("blob of {} {}", number, std::string(5000, 'b'))};
  part.blob = chain::sha256(part.bytes);
  return part;
}

inline JournalBatch batch_of(const Step& step, int number, const History& history) {
  JournalBatch batch;
  for (int i = 0; i < step.row_count; ++i) {
    const std::string body = fmt::format("step {} row {} {}", number, i, std::string(step.row_bytes, 'x'));
    batch.entries.push_back({Instant(number), number, "Test", 1, body});
  }
  if (step.has_outcome) {
    batch.outcomes.push_back({chain::sha256(fmt::format("{}", number)), {}, number, 200, fmt::format("of {}", number)});
    batch.usage.push_back(usage_of(number));
  }
  if (step.has_blob) {
    batch.blob_parts.push_back(blob_of(number));
    batch.blobs.push_back({.blob = batch.blob_parts[0].blob,
                           .bytes = batch.blob_parts[0].bytes.size(),
                           .part_count = 1,
                           .used_wall_us = number,
                           .is_whole = true});
  }
  if (step.has_snapshot) batch.snapshot = JournalSnapshot{history.rows.size() + batch.entries.size(), 1, "{}"};
  return batch;
}

inline void acknowledge(History& history, const JournalBatch& batch) {
  for (const JournalEntry& entry : batch.entries) history.rows.push_back(entry.body);
  history.outcomes.insert(history.outcomes.end(), batch.outcomes.begin(), batch.outcomes.end());
  history.blobs.insert(history.blobs.end(), batch.blobs.begin(), batch.blobs.end());
  if (batch.snapshot) history.snapshot = batch.snapshot->sequence;
}

/// Runs the steps until `is_over`. The step during which that becomes true has an unknown outcome if it fails.
template <class IsOver>
void run_workload(Session& session, History& history, const std::vector<Step>& steps, const IsOver& is_over) {
  for (const Step& step : steps) {
    const int number = ++history.step_count;
    const bool is_open = session.open().empty();
    if (is_over()) return;
    if (step.holds_reader) session.hold_reader(*step.holds_reader);
    if (step.is_prune) {
      history.pruned_before = history.snapshot;
      history.usage_pruned_us = 10LL * (number - 4);
      if (is_open) static_cast<void>(session.writer().prune({.rows_before = history.snapshot}));
      if (is_open) static_cast<void>(session.writer().prune_usage(history.usage_pruned_us));
      continue;
    }
    const JournalBatch batch = batch_of(step, number, history);
    if (is_open && session.writer().append(batch)) {
      acknowledge(history, batch);
    } else if (is_over()) {
      history.unknown = batch;
      return;
    } else {
      ++history.refused_count;
      if (!history.first_refused) history.first_refused = batch;
      history.refused_outcomes.insert(history.refused_outcomes.end(), batch.outcomes.begin(), batch.outcomes.end());
    }
  }
}

/// Empty, or how the rows differ from the history.
inline std::string compare_rows(JournalReader& reader, const History& history) {
  const auto range = reader.range();
  if (!range) return range.error().message;
  const auto rows = reader.read(1, 1000);
  if (!rows) return rows.error().message;
  const std::uint64_t last = range->last == 0 ? history.rows.size() : range->last;
  if (last != history.rows.size()) return fmt::format("{} rows, acknowledged: {}", last, history.rows.size());
  if (range->first > std::max<std::uint64_t>(history.pruned_before, 1)) return "more was pruned than asked for";
  for (const JournalRow& row : *rows) {
    if (row.entry.body != history.rows[row.sequence - 1]) return fmt::format("row {} is another", row.sequence);
  }
  if (!rows->empty() && rows->back().sequence != last) return "rows are missing";
  return {};
}

/// Empty, or how the usage differs from the history: a step with an outcome has a row.
inline std::string compare_usage(JournalReader& reader, const History& history) {
  auto found = reader.read_usage({}, std::nullopt, 1000);
  if (!found) return found.error().message;
  const auto may_be_pruned = [&](const UsageRow& row) { return row.to_us <= history.usage_pruned_us; };
  std::vector<UsageRow> wanted;
  for (const KeyedOutcome& outcome : history.outcomes) {
    const UsageRow row = usage_of(outcome.wall_us);
    if (!may_be_pruned(row) || std::ranges::find(*found, row) != found->end()) wanted.push_back(row);
  }
  std::ranges::sort(wanted, {}, &UsageRow::key);
  return *found == wanted ? std::string() : "usage is missing, or another";
}

/// Empty, or how the store differs from the history. A batch in flight is stored completely or not at all; the history
/// is updated accordingly.
inline std::string compare(JournalReader& reader, History& history) {
  if (history.unknown) {
    const auto range = reader.range();
    if (!range) return range.error().message;
    if (range->last == history.rows.size() + history.unknown->entries.size()) {
      acknowledge(history, *history.unknown);
      std::erase_if(history.refused_outcomes, [&](const KeyedOutcome& outcome) {
        return std::ranges::find(history.unknown->outcomes, outcome) != history.unknown->outcomes.end();
      });
    }
    history.unknown.reset();
  }
  if (std::string difference = compare_rows(reader, history); !difference.empty()) return difference;
  if (std::string difference = compare_usage(reader, history); !difference.empty()) return difference;
  for (const KeyedOutcome& outcome : history.outcomes) {
    const auto found = reader.find_outcome(outcome.key);
    if (!found) return found.error().message;
    if (*found != outcome) return "an outcome is missing";
  }
  for (const KeyedOutcome& outcome : history.refused_outcomes) {
    const auto found = reader.find_outcome(outcome.key);
    if (!found) return found.error().message;
    if (*found) return "a refused outcome is there";
  }
  const auto blobs = reader.read_blobs(std::nullopt, 100);
  if (!blobs) return blobs.error().message;
  if (*blobs != history.blobs) return "a blob is missing, or another";
  const auto snapshot = reader.latest_snapshot();
  if (!snapshot) return snapshot.error().message;
  if ((*snapshot ? (*snapshot)->sequence : 0) != history.snapshot) return "another snapshot is the newest";
  const auto counts = chain::verify_journal(reader);
  return counts ? std::string() : counts.error().message;
}

/// Empty, or the fault found: opens the store if necessary, compares, appends, compares again.
inline std::string check_and_go_on(Session& session, History& history) {
  if (std::string why = session.open(); !why.empty()) return "does not open: " + why;
  for (int round = 0; round < 2; ++round) {
    auto reader = session.reader();
    if (!reader) return "no reader: " + reader.error().message;
    if (std::string difference = compare(**reader, history); !difference.empty()) return difference;
    const JournalBatch batch = batch_of({.row_count = 2, .has_outcome = true}, ++history.step_count, history);
    const auto appended = session.writer().append(batch);
    if (!appended) return "does not go on: " + appended.error().message;
    acknowledge(history, batch);
    if (*appended != history.rows.size()) return "another sequence number";
  }
  return {};
}

}  // namespace berth::edges::testing
