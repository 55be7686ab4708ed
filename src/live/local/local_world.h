/// The GPUs of this machine, for a local world: what they are, why Berth may not change them, which slices exist on
/// them, and updates of these while it runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/gpu_hands.h"
#include "domain/ports/gpu_library.h"
#include "gpu/device/device_metrics.h"
#include "gpu/device/local_gpu.h"
#include "gpu/device/managed_gpu.h"
#include "gpu/device/standing.h"
#include "gpu/watch/gpu_watcher.h"
#include "gpu/watch/local_machine.h"
#include "live/local/device_orders.h"
#include "live/local/device_source.h"
#include "live/local/health_watch.h"
#include "live/local/outside_world.h"
#include "sim/world/world_left.h"
#include "world/slices/observed_layout.h"

namespace berth::live {

class Session;

/// How long a start waits for the first reading of each GPU.
inline constexpr std::chrono::seconds kFirstReadingPatience{10};

/// Whether GPUs may be changed, and the agent that changes them.
struct LocalManagement {
  bool is_wanted = false;                     ///< --manage-gpus
  bool is_dry_run = false;                    ///< --dry-run: no GPU agent is needed
  std::vector<device::ManagedGpu> gpus = {};  ///< `manage` of the configuration
  std::unique_ptr<GpuHands> hands = nullptr;  ///< null: not wanted, or a dry run
  HealthOptions health = {};                  ///< what follows from errors of GPUs
  bool is_same_boot = true;                   ///< the machine was not rebooted since the world last ran
  std::function<std::string()> boot_id = [] { return std::string(); };  ///< of this boot; empty: it cannot be read
};

/// Checks that each GPU that may be changed is one of this machine or of the world, as far as that is known. `places`:
/// where each is named. Error: the first that is not.
[[nodiscard]] Result<void> check_manage(const std::vector<device::ManagedGpu>& manage,
                                        const std::vector<std::string>& places, const edges::LocalMachine& machine,
                                        const std::vector<device::LocalGpu>& fleet);

/// The local world of one `berth up`. Its functions that take a session are called under the session's lock.
class LocalWorld {
 public:
  /// Reads the GPUs. `fleet`: those with which the world began. A GPU that does not answer in time counts as lost until
  /// it does.
  LocalWorld(edges::LocalMachine machine, const std::vector<device::LocalGpu>& fleet, LocalManagement management,
             std::chrono::milliseconds patience = kFirstReadingPatience, edges::GpuWatcherOptions watching = {});
  /// Ends the threads; those whose driver hangs are left behind.
  ~LocalWorld();
  LocalWorld(const LocalWorld&) = delete;
  LocalWorld& operator=(const LocalWorld&) = delete;

  /// Warnings for stderr: GPUs that cannot be read, that are new here, that differ from the tables of Berth, or that
  /// are only observed although the configuration lists them.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// The library and its GPUs, or why there are none.
  [[nodiscard]] DeviceLibraryView library() const;

  /// Why GPUs must not be changed, for SessionOptions::observed.
  [[nodiscard]] std::map<GpuId, std::string> observed() const;
  /// The layouts of the devices that can be read, for Session::begin.
  [[nodiscard]] std::map<GpuId, world::ObservedLayout> sights() const;
  /// Merges what exists on the devices into what they remember.
  void adopt(sim::WorldLeft& left);
  /// The same for a world that begins: reports the devices and their slices to it.
  void tell(Session& session);
  /// Reports what the GPUs of a world that continues say about themselves, unless the session has it already.
  void tell_notes(Session& session);

  /// HealthWatch::use_programs.
  void use_programs(std::function<std::string(const std::string& slice)> restart) {
    health_->use_programs(std::move(restart));
  }

  /// `on_report` may be called by any thread, when `serve` has something to do.
  void start(std::function<void()> on_report);
  /// After this `on_report` is not called any more.
  void stop();
  /// Reports news to the session, and sends the changes that it wants to the GPU agent.
  void serve(Session& session);

  /// Of the MIG device of a slice, or of the GPU where it is all of one; nothing: it is not known now.
  [[nodiscard]] std::optional<std::string> uuid_of(const Slice& slice) const;
  /// Any thread may use it while this object exists.
  [[nodiscard]] DeviceSource source(bool has_load);
  /// The same as functions, which borrow this object.
  [[nodiscard]] OutsideWorld as_outside();
  /// The GPUs for monitoring systems, in the order of the world. Any thread may call it until `stop`. The GPUs point
  /// into this object. Needs GpuWatcherOptions::collects_figures.
  [[nodiscard]] std::vector<device::MonitoredGpu> monitored() const;

 private:
  struct Gpu {
    device::LocalGpu known;           ///< as the world began with it
    bool is_listed = false;           ///< the library listed it at the start
    bool has_other_profiles = false;  ///< than when the world began
    /// Between the device at the start, our tables, and what the world began with.
    std::vector<std::string> differences;
    bool is_remembered = false;                        ///< the previous process's memory counts until the GPU is read
    std::optional<GpuReading> reading;                 ///< the last one
    bool is_outdated = false;                          ///< an order ended since then, and its result was not read yet
    std::optional<GpuCallFailure> failure;             ///< why there is no newer one
    std::map<edges::XidSource, std::uint64_t> xids;    ///< not reported yet: how often each came
    std::chrono::steady_clock::time_point changed_at;  ///< by an order: readings that began earlier may miss it
    std::optional<std::string> observed_as;            ///< as last reported to the session
    bool is_told = false;
    HealthView health;                                 ///< as last shown
    std::chrono::steady_clock::time_point mode_at;     ///< MIG mode is not ordered before this time
    std::chrono::steady_clock::time_point remains_at;  ///< orphans are not destroyed before this time
  };

  [[nodiscard]] std::optional<std::string> why_lost(const Gpu& gpu) const;
  [[nodiscard]] bool is_in_manage(const Gpu& gpu) const;
  /// Why it must not be changed; nothing: it may.
  [[nodiscard]] std::optional<std::string> why_observed(const Gpu& gpu) const;
  [[nodiscard]] std::optional<std::string> why_not_ready(const Gpu& gpu) const;
  /// After a reboot no earlier slice exists, though an equal one may exist by the time it is read.
  void note_boot(Session& session);
  void take_ended(Session& session);
  void note_times(const Session& session);
  /// Orders MIG mode for GPUs where the configuration says so and which are unused.
  void turn_modes_on(Session& session);
  /// Orders the destruction of orphans left by interrupted changes of ours.
  void clear_remains(Session& session);
  [[nodiscard]] bool may_turn_mig_on(const Gpu& gpu) const;
  void take_reports(Session& session);
  void tell_observed(Session& session);
  [[nodiscard]] device::Standing standing_on(std::uint32_t index) const;
  /// `differences`, and instances that no profile describes.
  [[nodiscard]] std::vector<std::string> differences_of(std::uint32_t index) const;
  void note_xids(Gpu& gpu, const edges::GpuReport& report) const;
  void note_reading(Gpu& gpu, GpuAnswer<GpuReading> reading);
  void tell_gpu(Session& session, std::uint32_t index);
  [[nodiscard]] std::string slice_named(const Session& session, std::uint32_t index,
                                        std::optional<std::uint32_t> gpu_instance) const;
  void tell_xids(Session& session, std::uint32_t index);
  void serve_health(Session& session);
  void tell_notes(Session& session, std::uint32_t index);
  [[nodiscard]] DeviceView view(GpuId gpu) const;
  /// Nothing: it cannot be read, or is old.
  [[nodiscard]] std::optional<edges::GpuMeasured> measurement_of(std::uint32_t index) const;
  [[nodiscard]] std::vector<DeviceProcessView> processes_of(std::uint32_t index) const;
  [[nodiscard]] DeviceSliceView slice_view(const Slice& slice) const;
  [[nodiscard]] std::optional<std::string> agent_gone() const;

  edges::LocalMachine machine_;
  std::string boot_id_;  ///< when the session was last served
  mutable std::mutex mutex_;
  std::vector<Gpu> gpus_;  ///< by GpuId; what was read is under mutex_
  LocalManagement management_;
  std::unique_ptr<DeviceOrders> orders_;
  std::unique_ptr<HealthWatch> health_;
  bool has_adopted_health_ = false;                           ///< what an earlier process decided
  std::map<std::string, std::vector<DeviceTimeView>> times_;  ///< by model, under mutex_
  bool has_times_ = false;                                    ///< they have been read from the session
  std::unique_ptr<edges::GpuWatcher> watcher_;                ///< of all GPUs; null without a library
};

}  // namespace berth::live
