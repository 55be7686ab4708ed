/// The interface to the store of a journal: append-only rows, each chained to the previous one by a hash, and the data
/// that recovery and repeated requests need. One writer at a time; readers are separate and never wait for it.
///
/// When `append` has returned, the batch is on the disk: neither a kill nor a power cut loses it. A refused batch is
/// not there, now or later. One exception, which no program can prevent: a batch whose sync failed on a device that
/// then accepts no other write, either, may be found after a restart.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"

namespace berth {

using Sha256 = std::array<std::uint8_t, 32>;

/// A row to be appended.
struct JournalEntry {
  Instant at;                ///< of the world
  std::int64_t wall_us = 0;  ///< microseconds since 1970
  std::string kind;          ///< a word: "ServiceSet"
  int format = 1;            ///< version of the body's format, from 1
  std::string body;          ///< JSON
  friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

struct JournalRow {
  std::uint64_t sequence = 0;  ///< from 1; no gaps from the oldest kept row on
  JournalEntry entry;
  Sha256 hash{};  ///< over the hash of the row before (zeros before the first) and this row's other columns
  friend bool operator==(const JournalRow&, const JournalRow&) = default;
};

/// A state that makes all rows up to one of them unnecessary for recovery.
struct JournalSnapshot {
  std::uint64_t sequence = 0;  ///< of the last row that it covers
  int format = 1;              ///< of the body
  std::string body;
  friend bool operator==(const JournalSnapshot&, const JournalSnapshot&) = default;
};

/// The outcome of a write that was sent under a key (API: idempotency).
struct KeyedOutcome {
  Sha256 key{};      ///< of the owner and the key
  Sha256 request{};  ///< of method, path and body
  std::int64_t wall_us = 0;
  int status = 200;       ///< 0: expired, all that is known is that the key was used
  std::string body = {};  ///< empty: the write is recorded, but not its answer yet

  [[nodiscard]] bool is_expired() const { return status == 0; }
  [[nodiscard]] bool is_finished() const { return !body.empty(); }
  friend bool operator==(const KeyedOutcome&, const KeyedOutcome&) = default;
};

/// The key of a usage row: a run of placement units of a GPU, and the time from which it had one use. Unique among
/// rows.
struct UsageKey {
  std::uint32_t gpu = 0;
  std::int32_t start = 0;    ///< its first unit
  std::int64_t from_us = 0;  ///< of the world
  friend auto operator<=>(const UsageKey&, const UsageKey&) = default;
};

/// How units of a GPU were used for a time that is over.
struct UsageRow {
  UsageKey key;
  std::int32_t units = 1;      ///< from `key.start` on
  std::int64_t to_us = 0;      ///< exclusive, after `key.from_us`; rows of one unit do not overlap
  std::uint64_t sequence = 0;  ///< assigned by the writer
  std::string body;            ///< JSON
  friend bool operator==(const UsageRow&, const UsageRow&) = default;
};

/// A part of a blob: bytes from a client, such as a long table, named by their SHA-256. Parts are stored one after the
/// other, so that no commit is long; a blob is not read until all of its parts are there.
struct BlobPart {
  Sha256 blob{};
  std::uint32_t index = 0;  ///< from 0
  std::string bytes;
  friend bool operator==(const BlobPart&, const BlobPart&) = default;
};

/// The facts about a blob besides its bytes.
struct BlobRow {
  Sha256 blob{};
  std::uint64_t bytes = 0;        ///< of the stored parts
  std::uint32_t part_count = 0;   ///< stored parts
  std::int64_t used_wall_us = 0;  ///< when it was last known to be needed: put, or referred to
  bool is_whole = false;
  friend bool operator==(const BlobRow&, const BlobRow&) = default;
};

/// A time of the world: [from, to).
struct UsageSpan {
  std::int64_t from_us = INT64_MIN;
  std::int64_t to_us = INT64_MAX;
};

/// Stored in one transaction: all of it or nothing.
struct JournalBatch {
  std::vector<JournalEntry> entries = {};
  /// Their keys must have no outcome yet, or an unfinished one of the same request; else the batch is refused
  /// (kFailed).
  std::vector<KeyedOutcome> outcomes = {};
  /// The newest two are kept. It covers rows up to the last one of this batch at most; a snapshot of the same row is
  /// replaced.
  std::optional<JournalSnapshot> snapshot = std::nullopt;
  std::vector<UsageRow> usage = {};       ///< their keys must have no row yet; else the batch is refused (kFailed)
  std::vector<BlobPart> blob_parts = {};  ///< each with a row in `blobs` that counts it
  std::vector<BlobRow> blobs = {};        ///< existing ones are replaced
};

/// Limits of age for removal. Wall times in microseconds since 1970.
struct PruneLimits {
  std::uint64_t rows_before = 0;             ///< a sequence number; rows that no snapshot covers are kept
  std::int64_t outcomes_before_wall_us = 0;  ///< older outcomes expire: their status becomes 0, their body empty
  std::int64_t keys_before_wall_us = 0;      ///< older outcomes are removed with their keys
  /// If more outcomes than this are not expired, the oldest ones expire, too. They are counted while successive calls
  /// go through all of them, so the excess is removed in the next round.
  std::uint64_t outcomes_max = UINT64_MAX;
};

/// Which blobs are needed. Wall times in microseconds since 1970.
struct BlobUse {
  std::set<Sha256> used = {};              ///< these are kept
  std::int64_t now_wall_us = 0;            ///< recorded as the time of their last use, where that is
  std::int64_t note_before_wall_us = 0;    ///< older than this
  std::int64_t unused_before_wall_us = 0;  ///< others last used before this are removed, whole or not
};

enum class StoreFault : std::uint8_t {
  kFull,     ///< no space on the device
  kFailed,   ///< a call failed: reading, writing, syncing
  kLocked,   ///< another process has locked the store
  kDeposed,  ///< a writer of a later epoch has opened the store
  kDamaged,  ///< the stored data is not what was written
  kNewer,    ///< written by a later version of this program
  kForeign,  ///< not a journal of this program
};

struct StoreError {
  StoreFault fault = StoreFault::kFailed;
  std::string message;  ///< with the file, and the row where there is one
  friend bool operator==(const StoreError&, const StoreError&) = default;
};

template <class T>
using StoreResult = tl::expected<T, StoreError>;

/// Each call reads everything appended before it. Not to be used by two threads at a time.
class JournalReader {
 public:
  virtual ~JournalReader() = default;

  /// The oldest kept row and the newest; 0 and 0 if there is none.
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  [[nodiscard]] virtual StoreResult<Range> range() = 0;
  /// At most `count_max` rows from `from` on, in order, beginning with the oldest one if `from` is before it. Each is
  /// checked against its hash and against the previous row.
  [[nodiscard]] virtual StoreResult<std::vector<JournalRow>> read(std::uint64_t from, std::size_t count_max) = 0;
  /// The newest snapshot, checked against its hash.
  [[nodiscard]] virtual StoreResult<std::optional<JournalSnapshot>> latest_snapshot() = 0;
  /// The second newest, with the same check: for a recovery that finds the newest one damaged, and for verification.
  [[nodiscard]] virtual StoreResult<std::optional<JournalSnapshot>> older_snapshot() = 0;
  /// The outcome of the key.
  [[nodiscard]] virtual StoreResult<std::optional<KeyedOutcome>> find_outcome(const Sha256& key) = 0;
  /// At most `count_max` outcomes in the order of their keys, those after `after`, each checked against its hash.
  [[nodiscard]] virtual StoreResult<std::vector<KeyedOutcome>> read_outcomes(const std::optional<Sha256>& after,
                                                                             std::size_t count_max) = 0;
  /// At most `count_max` rows of usage that overlap the span, in the order of their keys, those after `after`, each
  /// checked against its hash. O((places + returned rows) x log rows), where a place is a GPU and a start, however many
  /// rows are before and after the span.
  [[nodiscard]] virtual StoreResult<std::vector<UsageRow>> read_usage(const UsageSpan& span,
                                                                      const std::optional<UsageKey>& after,
                                                                      std::size_t count_max) = 0;
  /// The blob's row, whether the blob is whole or not; checked against its hash.
  [[nodiscard]] virtual StoreResult<std::optional<BlobRow>> find_blob(const Sha256& blob) = 0;
  /// At most `count_max` in the order of their names, those after `after`, each checked against its hash.
  [[nodiscard]] virtual StoreResult<std::vector<BlobRow>> read_blobs(const std::optional<Sha256>& after,
                                                                     std::size_t count_max) = 0;
  /// Checked against its hash.
  [[nodiscard]] virtual StoreResult<std::optional<BlobPart>> read_blob_part(const Sha256& blob,
                                                                            std::uint32_t index) = 0;
};

/// One thread at a time.
class JournalWriter {
 public:
  virtual ~JournalWriter() = default;

  /// Appends, and returns the sequence number of the last row once everything is on the disk. On an error nothing of
  /// the batch is stored, and a later call may succeed.
  [[nodiscard]] virtual StoreResult<std::uint64_t> append(const JournalBatch& batch) = 0;
  /// The outcomes of those of these keys that have one, by key: `append` judges a batch by the same. Each is checked
  /// against its hash. Cheaper than for readers, because a writer caches what it wrote.
  [[nodiscard]] virtual StoreResult<std::map<Sha256, KeyedOutcome>> find_outcomes(const std::vector<Sha256>& keys) = 0;
  /// Removes what is older than the limits. Sequence numbers continue even when no row is left. One call does a bounded
  /// part of the work and returns whether there is more to do.
  [[nodiscard]] virtual StoreResult<bool> prune(const PruneLimits& limits) = 0;
  /// Removes the usage that ended by then, in time of the world. To be repeated like `prune`. After each call the rows
  /// left of a GPU are those not over at some instant, so the usage of each unit has no gaps.
  [[nodiscard]] virtual StoreResult<bool> prune_usage(std::int64_t before_us) = 0;
  /// Removes blobs that are no longer needed. To be repeated like `prune`.
  [[nodiscard]] virtual StoreResult<bool> prune_blobs(const BlobUse& use) = 0;
};

/// Must outlive its writers and readers. To be used by one thread at a time.
class JournalStore {
 public:
  virtual ~JournalStore() = default;

  /// From now on writers of lower epochs are refused (kDeposed), also those of other processes. Fails with kDeposed if
  /// a higher epoch was opened before.
  [[nodiscard]] virtual StoreResult<std::unique_ptr<JournalWriter>> open_writer(std::uint64_t epoch) = 0;
  [[nodiscard]] virtual StoreResult<std::unique_ptr<JournalReader>> open_reader() = 0;
  /// The highest epoch opened so far; 0: none.
  [[nodiscard]] virtual StoreResult<std::uint64_t> epoch() = 0;
};

}  // namespace berth
