/// The machine that an installation runs on: the parts that outlive its processes, and how they fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "domain/ports/journal_store.h"
#include "domain/values/scenario.h"
#include "edges/sqlite_store/testing/simulated_disk.h"
#include "live/session/entry.h"
#include "sim/world/loop.h"

namespace berth::swarm::testing {

/// The store of the journal, and the memory of the simulated devices, as texts. Of the latter a kill loses nothing, and
/// a power cut loses everything after the last sync (edges/sqlite_store/devices_file.h).
class Machine {
 public:
  /// `has_disk`: the store is SQLite on a simulated disk; else it is in memory, and its power is never cut.
  Machine(std::uint64_t seed, bool has_disk);

  [[nodiscard]] bool has_disk() const { return disk_ != nullptr; }

  // ---- for a process

  struct OpenedStore {
    std::unique_ptr<JournalWriter> writer;
    std::unique_ptr<JournalReader> reader;
  };
  /// The new writer takes over: earlier ones fail from then on.
  [[nodiscard]] StoreResult<OpenedStore> open();
  /// For tests that check what is stored.
  [[nodiscard]] StoreResult<std::unique_ptr<JournalReader>> open_reader() { return store_->open_reader(); }
  /// Whether it ended all processes in the middle of a call.
  [[nodiscard]] bool is_down() const { return disk_ && disk_->is_cut(); }
  /// `told`: how many items of the world's story they know.
  void write_devices(const live::WorldChanges& changes, std::size_t told);
  void sync_devices() { keep_writes(writes_.size()); }
  [[nodiscard]] Instant devices_clock() const { return now_; }
  [[nodiscard]] sim::WorldLeft devices(const Scenario& scenario) const;

  // ---- what happens to it

  /// After `changes` more changes to the disk everything stops, in the middle of whatever a process does. Without a
  /// disk this has no effect.
  void stop_after(std::uint64_t changes);
  /// Calls to the store fail from now on, until `heal_store`.
  void fail_store(Rng& rng);
  void heal_store();
  [[nodiscard]] bool is_full() const { return is_full_; }
  /// Requires: everything was stopped, and then all processes were ended. `loses_power`: what was not synced is lost in
  /// one of the disk's ways. Returns how many items of the world's story the devices still know. A failing store still
  /// fails.
  std::size_t restart(bool loses_power, Rng& rng);

 private:
  struct DevicesWrite {
    std::vector<std::pair<std::uint32_t, std::string>> gpus;
    std::string world;  ///< empty: unchanged
    Instant now;
    std::size_t told = 0;
  };

  /// Makes the first ones of `writes_` durable.
  void keep_writes(std::size_t count);

  std::unique_ptr<edges::testing::SimulatedDisk> disk_;
  std::unique_ptr<JournalStore> store_;
  std::uint64_t epoch_ = 0;
  bool is_full_ = false;
  std::optional<edges::testing::SimulatedDisk::Fault> fault_;  ///< of the disk
  std::map<std::uint32_t, std::string> gpus_;                  ///< as the devices have synced them, by GPU
  std::string world_;
  Instant now_;
  std::size_t told_ = 0;
  std::vector<DevicesWrite> writes_;  ///< not synced yet
};

}  // namespace berth::swarm::testing
