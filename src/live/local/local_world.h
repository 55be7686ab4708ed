/// The GPUs of this machine, for a world that lives on them: what they are, why berth may not change them, what stands
/// on them, and all of that again while it runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/gpu_hands.h"
#include "domain/ports/gpu_library.h"
#include "gpu/device/local_gpu.h"
#include "gpu/device/managed_gpu.h"
#include "gpu/device/standing.h"
#include "gpu/watch/gpu_watcher.h"
#include "gpu/watch/local_machine.h"
#include "live/local/device_orders.h"
#include "live/local/device_source.h"
#include "sim/world/world_left.h"
#include "world/slices/observed_layout.h"

namespace berth::live {

class Session;

/// How long a start waits for each GPU to be read.
inline constexpr std::chrono::seconds kFirstReadingPatience{10};

/// Whether, and through whom, GPUs may be changed.
struct LocalManagement {
  bool is_wanted = false;                     ///< --manage-gpus
  bool is_dry_run = false;                    ///< --dry-run: nobody is needed
  std::vector<device::ManagedGpu> gpus = {};  ///< `manage` of the configuration
  std::unique_ptr<GpuHands> hands = nullptr;  ///< null: not wanted, or a dry run
  bool is_same_boot = true;                   ///< the machine has not been booted since the world ran last
  std::function<std::string()> boot_id = [] { return std::string(); };  ///< of this boot; empty: it cannot be read
};

/// Whether each GPU that may be changed is one of this machine or of the world, as far as that can be said. `places`:
/// where each is named. Error: the first that is not.
[[nodiscard]] Result<void> check_manage(const std::vector<device::ManagedGpu>& manage,
                                        const std::vector<std::string>& places, const edges::LocalMachine& machine,
                                        const std::vector<device::LocalGpu>& fleet);

/// The local world of one `berth up`. Its functions that take a session are called under the session's lock.
class LocalWorld {
 public:
  /// Reads the GPUs. `fleet`: those with which the world began. One that does not answer in time counts as lost until
  /// it does.
  LocalWorld(edges::LocalMachine machine, const std::vector<device::LocalGpu>& fleet, LocalManagement management,
             std::chrono::milliseconds patience = kFirstReadingPatience);
  /// The threads end, those whose driver hangs are left behind.
  ~LocalWorld();
  LocalWorld(const LocalWorld&) = delete;
  LocalWorld& operator=(const LocalWorld&) = delete;

  /// What is to be told on stderr: GPUs that cannot be read, that are new here, say otherwise than our tables, or are
  /// only observed although the configuration lists them.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// The library and its GPUs, or why there are none.
  [[nodiscard]] DeviceLibraryView library() const;

  /// Why GPUs must not be changed, for SessionOptions::observed.
  [[nodiscard]] std::map<GpuId, std::string> observed() const;
  /// What stands on the devices that can be read, for Session::begin.
  [[nodiscard]] std::map<GpuId, world::ObservedLayout> sights() const;
  /// What stands on the devices, put into what they remember.
  void adopt(sim::WorldLeft& left);
  /// The same for a world that begins: what is there, and what stands on it, is told to it.
  void tell(Session& session);
  /// What the GPUs of a world that goes on say of themselves, as far as it does not know it.
  void tell_notes(Session& session);

  /// `on_report` is called by any thread when `serve` has something to tell.
  void start(std::function<void()> on_report);
  /// No `on_report` comes any more.
  void stop();
  /// Tells the session what is new, and gives to the hands what it wants to be done.
  void serve(Session& session);

  /// Any thread may ask, as long as this lives.
  [[nodiscard]] DeviceSource source(bool has_load);

 private:
  struct Gpu {
    device::LocalGpu known;           ///< as the world began with it
    bool is_listed = false;           ///< the library listed it at the start
    bool has_other_profiles = false;  ///< than when the world began
    /// Between the device at the start, our tables, and what the world began with.
    std::vector<std::string> differences;
    bool is_remembered = false;                        ///< what the process before knew of it counts until it is read
    std::optional<GpuReading> reading;                 ///< the last one
    bool is_outdated = false;                          ///< an order ended since then, and nobody read what it left
    std::optional<GpuCallFailure> failure;             ///< why there is no newer one
    std::map<std::uint64_t, std::uint64_t> xids;       ///< not told yet: how often each came
    std::chrono::steady_clock::time_point changed_at;  ///< by an order: readings that began before may miss it
    std::optional<std::string> observed_as;            ///< as the session was told last
    bool is_told = false;
    std::chrono::steady_clock::time_point mode_at;     ///< its MIG mode is not ordered before
    std::chrono::steady_clock::time_point remains_at;  ///< what a change left is not destroyed before
  };

  [[nodiscard]] std::optional<std::string> why_lost(const Gpu& gpu) const;
  [[nodiscard]] bool is_in_manage(const Gpu& gpu) const;
  /// Why it must not be changed; nothing: it may.
  [[nodiscard]] std::optional<std::string> why_observed(const Gpu& gpu) const;
  [[nodiscard]] std::optional<std::string> why_not_ready(const Gpu& gpu) const;
  /// After a boot nothing that stood stands, though the same may stand again by the time it is read.
  void note_boot(Session& session);
  void take_ended(Session& session);
  void note_times(const Session& session);
  /// Orders MIG mode where the configuration says so and nobody uses the GPU.
  void turn_modes_on(Session& session);
  /// What a change of ours left that was cut off is destroyed.
  void clear_remains(Session& session);
  [[nodiscard]] bool may_turn_mig_on(const Gpu& gpu) const;
  void take_reports(Session& session);
  void tell_observed(Session& session);
  [[nodiscard]] device::Standing standing_on(std::uint32_t index) const;
  /// `differences`, and what stands there that no profile describes.
  [[nodiscard]] std::vector<std::string> differences_of(std::uint32_t index) const;
  void note_xids(Gpu& gpu, const edges::GpuReport& report) const;
  void note_reading(Gpu& gpu, GpuAnswer<GpuReading> reading);
  void tell_gpu(Session& session, std::uint32_t index);
  void tell_notes(Session& session, std::uint32_t index);
  [[nodiscard]] DeviceView view(GpuId gpu) const;
  [[nodiscard]] DeviceSliceView slice_view(const Slice& slice) const;

  edges::LocalMachine machine_;
  std::string boot_id_;  ///< when the session was served last
  mutable std::mutex mutex_;
  std::vector<Gpu> gpus_;  ///< by GpuId; what was read is under mutex_
  LocalManagement management_;
  std::unique_ptr<DeviceOrders> orders_;
  std::map<std::string, std::vector<DeviceTimeView>> times_;  ///< by model, under mutex_
  bool has_times_ = false;                                    ///< they were read from the session
  std::unique_ptr<edges::GpuWatcher> watcher_;                ///< of all GPUs; null without a library
};

}  // namespace berth::live
