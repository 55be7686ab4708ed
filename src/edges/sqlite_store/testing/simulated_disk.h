/// A disk in memory as a SQLite VFS, which fails when told to and loses power: what was written and what would survive
/// are two images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace berth::edges::testing {

/// While it exists, SQLite finds it under its name. The model of the hardware: sectors of 512 bytes are written whole
/// or not at all, also by a write that fails; a write that was not synced may be lost, alone or with the rest, or leave
/// garbage in its place; so may the entry of a new file, and the removal of one. A sync that fails loses half of what
/// it should have made durable, and the next sync does not try it again, as with Linux. For one thread.
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

  /// What becomes of writes that were not synced.
  enum class PowerCut : std::uint8_t {
    kKept,         ///< all are there
    kDropped,      ///< none is
    kTorn,         ///< those until some moment, the last one in part
    kReordered,    ///< any of them
    kGarbage,      ///< some left garbage, the others are lost
    kEntriesLost,  ///< none is there, and folders are as they were synced
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
  /// After so many changes in all, every call fails.
  void cut_power_after(std::uint64_t changes);
  [[nodiscard]] bool is_cut() const;
  /// Power is back. Requires: all connections are closed.
  void restart(PowerCut how);
  /// The same after the process alone was killed: nothing that it wrote is lost.
  void restart_process();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace berth::edges::testing
