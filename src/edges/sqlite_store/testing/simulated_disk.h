/// A disk in memory as a SQLite VFS, with injected failures and power cuts: the written and the durable data are two
/// images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace berth::edges::testing {

/// While it exists, SQLite finds it under its name. The model of the hardware: sectors of 512 bytes are written whole
/// or not at all, also by a write that fails; an unsynced write may be lost, alone or with the rest, or leave garbage
/// in its place; so may the entry of a new file, and the removal of one. A failed sync loses half of the data it should
/// have made durable, and the next sync does not retry it, as on Linux. For one thread.
class SimulatedDisk {
 public:
  enum class Call : std::uint8_t { kOpen, kRead, kWrite, kTruncate, kSync, kDelete, kAccess, kSize, kLock, kShm };
  static constexpr std::size_t kCallCount = 10;

  struct Fault {
    std::optional<Call> call;  ///< of this kind; nothing: of any
    std::uint64_t nth = 1;     ///< from 1, counted from `arm` on
    int code = 0;              ///< SQLite's
    bool is_sticky = false;    ///< and all later ones of the kind
  };

  /// The fate of unsynced writes.
  enum class PowerCut : std::uint8_t {
    kKept,         ///< all survive
    kDropped,      ///< none survives
    kTorn,         ///< those up to some point survive, the last one in part
    kReordered,    ///< any subset survives
    kGarbage,      ///< some left garbage, the others are lost
    kEntriesLost,  ///< none survives, and folders are as last synced
  };
  static constexpr std::size_t kPowerCutCount = 6;

  explicit SimulatedDisk(std::uint64_t seed);
  SimulatedDisk(const SimulatedDisk&) = delete;
  SimulatedDisk& operator=(const SimulatedDisk&) = delete;
  ~SimulatedDisk();

  /// The name of the VFS.
  [[nodiscard]] const std::string& vfs() const;

  void arm(const Fault& fault);
  void heal();
  [[nodiscard]] bool has_fired() const;
  /// Calls since the beginning.
  [[nodiscard]] std::uint64_t count(Call call) const;

  /// Writes, truncations, syncs, removals and new files since the beginning.
  [[nodiscard]] std::uint64_t change_count() const;
  /// After `changes` changes in total, every call fails.
  void cut_power_after(std::uint64_t changes);
  [[nodiscard]] bool is_cut() const;
  /// Power is back. Requires: all connections are closed.
  void restart(PowerCut how);
  /// The same after a kill of the process only: nothing that it wrote is lost.
  void restart_process();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace berth::edges::testing
