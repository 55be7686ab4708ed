/// The interface to the store of a journal: rows that are only ever appended, each chained to the one before by a hash,
/// and beside them what recovery and repeated requests need. One writer at a time; readers are separate from it and
/// never wait for it.
///
/// What `append` has returned is on the disk: neither a kill nor a power cut loses it. What it refused is not there,
/// now or later. The limit of that: a batch whose sync failed, on a device that then takes no other write either, may
/// be found after a restart; no program can prevent it.
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

/// What is to become a row.
struct JournalEntry {
  Instant at;                ///< of the world
  std::int64_t wall_us = 0;  ///< microseconds since 1970
  std::string kind;          ///< a word: "ServiceSet"
  int format = 1;            ///< version of the body's format, from 1
  std::string body;          ///< JSON
  friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

struct JournalRow {
  std::uint64_t sequence = 0;  ///< from 1, without gaps from the oldest row that is kept
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

/// What came of a write that was sent under a key (API: idempotency).
struct KeyedOutcome {
  Sha256 key{};      ///< of the owner and the key
  Sha256 request{};  ///< of method, path and body
  std::int64_t wall_us = 0;
  int status = 200;       ///< 0: expired, only that the key was used is known
  std::string body = {};  ///< empty: the write was recorded, its answer not yet

  [[nodiscard]] bool is_expired() const { return status == 0; }
  [[nodiscard]] bool is_finished() const { return !body.empty(); }
  friend bool operator==(const KeyedOutcome&, const KeyedOutcome&) = default;
};

/// Where and from when a run of placement units of a GPU was one thing: no two rows have the same.
struct UsageKey {
  std::uint32_t gpu = 0;
  std::int32_t start = 0;    ///< its first unit
  std::int64_t from_us = 0;  ///< of the world
  friend auto operator<=>(const UsageKey&, const UsageKey&) = default;
};

/// What units of a GPU were for a time: usage that is over.
struct UsageRow {
  UsageKey key;
  std::int32_t units = 1;      ///< from `key.start` on
  std::int64_t to_us = 0;      ///< exclusive, behind `key.from_us`; rows of one unit do not overlap
  std::uint64_t sequence = 0;  ///< of whoever writes it
  std::string body;            ///< JSON
  friend bool operator==(const UsageRow&, const UsageRow&) = default;
};

/// Bytes of a client, named by their SHA-256: a long table, say. They are stored in parts, one after the other, so that
/// no commit is long; until all of them are there the blob is not whole, and nobody reads it.
struct BlobPart {
  Sha256 blob{};
  std::uint32_t index = 0;  ///< from 0
  std::string bytes;
  friend bool operator==(const BlobPart&, const BlobPart&) = default;
};

/// What is known of a blob besides its bytes.
struct BlobRow {
  Sha256 blob{};
  std::uint64_t bytes = 0;        ///< of the parts that are stored
  std::uint32_t part_count = 0;   ///< those that are stored
  std::int64_t used_wall_us = 0;  ///< when it was last known to be of use: put, or referred to
  bool is_whole = false;
  friend bool operator==(const BlobRow&, const BlobRow&) = default;
};

/// A time of the world: [from, to).
struct UsageSpan {
  std::int64_t from_us = INT64_MIN;
  std::int64_t to_us = INT64_MAX;
};

/// All of it is stored in one transaction, or nothing.
struct JournalBatch {
  std::vector<JournalEntry> entries = {};
  /// Of keys that have none yet, or one of the same request that is not finished; else the batch is refused (kFailed).
  std::vector<KeyedOutcome> outcomes = {};
  /// The newest two are kept. It covers at most the last row of this batch; one of the same row is replaced.
  std::optional<JournalSnapshot> snapshot = std::nullopt;
  std::vector<UsageRow> usage = {};       ///< of keys that have no row yet; else the batch is refused (kFailed)
  std::vector<BlobPart> blob_parts = {};  ///< each with a row in `blobs` that counts it
  std::vector<BlobRow> blobs = {};        ///< those that are there are replaced
};

/// What is old enough to be removed. Wall times in microseconds since 1970.
struct PruneLimits {
  std::uint64_t rows_before = 0;             ///< a sequence number; rows that no snapshot covers stay
  std::int64_t outcomes_before_wall_us = 0;  ///< older outcomes expire: their status becomes 0, their body empty
  std::int64_t keys_before_wall_us = 0;      ///< older outcomes are removed with their keys
  /// Of more outcomes that are not expired, the oldest expire, too. They are counted while calls go through all of them
  /// from the first to the last, so what is too much goes with the next such round.
  std::uint64_t outcomes_max = UINT64_MAX;
};

/// Which blobs are of use. Wall times in microseconds since 1970.
struct BlobUse {
  std::set<Sha256> used = {};              ///< these stay
  std::int64_t now_wall_us = 0;            ///< noted as the time of their use, where that is
  std::int64_t note_before_wall_us = 0;    ///< older than this
  std::int64_t unused_before_wall_us = 0;  ///< others, last used before then, are removed, whole or not
};

enum class StoreFault : std::uint8_t {
  kFull,     ///< no space on the device
  kFailed,   ///< a call failed: reading, writing, syncing
  kLocked,   ///< another process has locked the store
  kDeposed,  ///< a writer of a later epoch has opened the store
  kDamaged,  ///< what is stored is not what was written
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

/// Reads what was appended before each call. Not to be used by two threads at a time.
class JournalReader {
 public:
  virtual ~JournalReader() = default;

  /// The oldest row that is kept, and the newest; 0 and 0 if there is none.
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  [[nodiscard]] virtual StoreResult<Range> range() = 0;
  /// At most `count_max` rows from `from` on, in order; they begin with the oldest one if `from` is before it. Each is
  /// checked against its hash, and against the row before.
  [[nodiscard]] virtual StoreResult<std::vector<JournalRow>> read(std::uint64_t from, std::size_t count_max) = 0;
  /// The newest one, checked against its hash.
  [[nodiscard]] virtual StoreResult<std::optional<JournalSnapshot>> latest_snapshot() = 0;
  /// The one before it, with the same check: for a recovery that finds the newest one damaged, and for verifying.
  [[nodiscard]] virtual StoreResult<std::optional<JournalSnapshot>> older_snapshot() = 0;
  /// Of the key.
  [[nodiscard]] virtual StoreResult<std::optional<KeyedOutcome>> find_outcome(const Sha256& key) = 0;
  /// At most `count_max` outcomes in the order of their keys, those after `after`, each checked against its hash.
  [[nodiscard]] virtual StoreResult<std::vector<KeyedOutcome>> read_outcomes(const std::optional<Sha256>& after,
                                                                             std::size_t count_max) = 0;
  /// At most `count_max` rows of usage that have a part in the span, in the order of their keys, those after `after`,
  /// each checked against its hash. Costs the logarithm of all rows for each place (GPU and start) and for each row
  /// that is returned, however many rows there are before and behind the span.
  [[nodiscard]] virtual StoreResult<std::vector<UsageRow>> read_usage(const UsageSpan& span,
                                                                      const std::optional<UsageKey>& after,
                                                                      std::size_t count_max) = 0;
  /// Whole or not; checked against its hash.
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

  /// Appends, and returns the sequence number of the last row when everything is on the disk. On an error nothing of
  /// the batch is there, and a later call may succeed.
  [[nodiscard]] virtual StoreResult<std::uint64_t> append(const JournalBatch& batch) = 0;
  /// Of these keys, those that have an outcome, by key: what `append` judges the outcomes of a batch by. Each is
  /// checked against its hash. A writer has at hand what it wrote: for it this costs less than for readers.
  [[nodiscard]] virtual StoreResult<std::map<Sha256, KeyedOutcome>> find_outcomes(const std::vector<Sha256>& keys) = 0;
  /// Removes what is older than the limits. Sequence numbers go on, also when no row is left.
  /// May be called again to go on: one call does a bounded part. Returns whether there is more to do.
  [[nodiscard]] virtual StoreResult<bool> prune(const PruneLimits& limits) = 0;
  /// Removes the usage that was over by then, in times of the world. Called again like `prune`. After each call the
  /// rows that are left of a GPU are those that were not over at some instant: what they have of a unit has no gap.
  [[nodiscard]] virtual StoreResult<bool> prune_usage(std::int64_t before_us) = 0;
  /// Removes blobs that are of no use any more. Called again like `prune`.
  [[nodiscard]] virtual StoreResult<bool> prune_blobs(const BlobUse& use) = 0;
};

/// Outlives its writers and readers. One thread at a time.
class JournalStore {
 public:
  virtual ~JournalStore() = default;

  /// From now on writers of lower epochs are refused (kDeposed), also those of other processes. Fails so itself if a
  /// higher one was there.
  [[nodiscard]] virtual StoreResult<std::unique_ptr<JournalWriter>> open_writer(std::uint64_t epoch) = 0;
  [[nodiscard]] virtual StoreResult<std::unique_ptr<JournalReader>> open_reader() = 0;
  /// The highest epoch that was opened; 0: none.
  [[nodiscard]] virtual StoreResult<std::uint64_t> epoch() = 0;
};

}  // namespace berth
