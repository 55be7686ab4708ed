/// The records of a running world: journal.db, the memory of its simulated devices, and the reserve of the disk.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/up/wall_clock.h"
#include "base/core/result.h"
#include "domain/ports/journal_store.h"
#include "edges/live_driver/blob_queue.h"
#include "edges/live_driver/recorder.h"
#include "edges/sqlite_store/devices_file.h"
#include "edges/state_folder/reserve_file.h"
#include "live/folder/folder_world.h"
#include "live/folder/up_request.h"
#include "live/session/entry.h"
#include "sim/world/world_left.h"

namespace berth::up {

/// Threads and locks as for edges::Recorder; any thread may call `read_usage`.
class WorldRecords {
 public:
  /// `is_paced`: the world has a clock that clients see. `wall` is borrowed. `err` gets warnings.
  WorldRecords(std::string folder, bool is_paced, const SteadyWallClock& wall, std::FILE* err);

  /// Opens all of it for writing; a new world begins here. Both files are opened before anything begins, and neither is
  /// changed if one is refused.
  [[nodiscard]] Result<void> open(const live::FolderWorld& world);
  /// The memory of the devices of a world that continues. Absent: it is new.
  [[nodiscard]] std::optional<sim::WorldLeft> take_left() { return std::exchange(left_, std::nullopt); }
  /// The journal has no past usage: it is computed again.
  [[nodiscard]] bool has_no_past_usage() const { return has_no_past_usage_; }
  /// Numbers that grow, also from one process to the next. Requires: open.
  [[nodiscard]] std::uint64_t next_intent() { return epoch_ << 32U | ++intents_; }
  [[nodiscard]] edges::Recorder& recorder() { return *recorder_; }
  [[nodiscard]] const edges::Recorder& recorder() const { return *recorder_; }
  /// Two readers for blobs. To be called once.
  [[nodiscard]] edges::BlobQueue::Readers take_blob_readers() { return std::move(blob_readers_); }

  /// From now on, if the disk is full, only the orders that must not fail are recorded.
  void guard();
  /// Writes down what the devices know now. What cannot be written now is written with the next change.
  void remember(const live::WorldChanges& changes);
  /// JournalReader::read_usage.
  [[nodiscard]] StoreResult<std::vector<UsageRow>> read_usage(const UsageSpan& span,
                                                              const std::optional<UsageKey>& after,
                                                              std::size_t count_max);
  /// Removes records older than their retention, a little at a time. `used_blobs`: those to which services refer.
  void prune_if_due(const live::Retention& retention, Instant now, const std::function<std::set<Sha256>()>& used_blobs);

 private:
  [[nodiscard]] Result<void> open_store();
  [[nodiscard]] Result<void> open_readers();
  /// Reads the memory of this world's devices.
  [[nodiscard]] Result<void> read_devices(const live::FolderWorld& world);
  [[nodiscard]] Result<edges::Recorder::Head> begin(const live::FolderWorld& world, berth::JournalWriter& writer);
  [[nodiscard]] bool has_unwritten() const { return unwritten_ != DevicesMemory(); }
  [[nodiscard]] StoreResult<void> write_devices();
  /// Syncs the devices' present memory to the disk. A journal that knows more than they do must not be written.
  [[nodiscard]] StoreResult<void> sync_devices();
  /// Whether the clock is to be written: a clock that clients saw must not go back. A world that runs as fast as
  /// possible has none.
  [[nodiscard]] bool is_clock_due();
  /// False for a day after the wall clock advanced by more than a day at once.
  [[nodiscard]] bool is_clock_believed(std::int64_t wall_us);
  /// Whether there is more to remove.
  bool prune_by_wall_time(const live::Retention& retention, std::int64_t wall_us, std::set<Sha256> used_blobs);

  const std::string folder_;
  const bool is_paced_;
  const SteadyWallClock& wall_;  ///< steady, as what is removed cannot be restored
  std::FILE* err_;
  std::unique_ptr<JournalStore> store_;  ///< outlives its writer and readers
  std::uint64_t epoch_ = 0;              ///< of this process
  std::uint64_t intents_ = 0;            ///< numbered so far
  bool has_no_past_usage_ = false;
  std::unique_ptr<edges::DevicesFile> devices_;
  std::optional<sim::WorldLeft> left_;
  DevicesMemory unwritten_;  ///< the newest memory that could not be written yet
  bool has_unsynced_devices_ = false;
  std::chrono::steady_clock::time_point clock_written_at_;
  std::unique_ptr<edges::ReserveFile> reserve_;  ///< of the recorder
  std::unique_ptr<edges::Recorder> recorder_;
  edges::BlobQueue::Readers blob_readers_;
  std::mutex usage_lock_;
  std::unique_ptr<JournalReader> usage_reader_;  ///< under usage_lock_
  std::unique_ptr<JournalReader> old_rows_;      ///< those that may be too old to keep
  bool is_clock_doubted_ = false;
  std::chrono::steady_clock::time_point prune_at_;
};

}  // namespace berth::up
