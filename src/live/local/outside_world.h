/// Devices outside of the process, as `berth up` uses them: the GPUs of this machine, or those of a cluster.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "domain/values/slice.h"
#include "live/local/device_source.h"
#include "sim/world/world_left.h"
#include "world/slices/observed_layout.h"

namespace berth::live {

class Session;

/// Functions that take a session are called under the session's lock.
class OutsideWorld {
 public:
  virtual ~OutsideWorld() = default;

  /// Why GPUs must not be changed, for SessionOptions::observed.
  [[nodiscard]] virtual std::map<GpuId, std::string> observed() const = 0;
  /// What exists on devices when the session begins.
  [[nodiscard]] virtual std::map<GpuId, world::ObservedLayout> sights() const = 0;
  /// Merges what exists on the devices into what they remember.
  virtual void adopt(sim::WorldLeft& left) = 0;
  /// The same for a world that begins: reports the devices and their slices to it.
  virtual void tell(Session& session) = 0;
  /// Reports what the GPUs of a world that continues say about themselves, unless the session has it already.
  virtual void tell_notes(Session& session) = 0;
  /// Where the session's API answers, and the key with which what the outside owns is written there. Called once, before
  /// `start`, if the world has one (`owns_specs`).
  virtual void meet_api(const std::string& /*url*/, const std::string& /*key*/) {}
  /// Whether tenants and services are objects outside.
  [[nodiscard]] virtual bool owns_specs() const { return false; }
  /// `on_report` may be called by any thread, when `serve` has something to do.
  virtual void start(std::function<void()> on_report) = 0;
  /// After this `on_report` is not called any more.
  virtual void stop() = 0;
  /// Reports news to the session, and carries out what it wants.
  virtual void serve(Session& session) = 0;
  /// Any thread may use it while this object exists.
  [[nodiscard]] virtual DeviceSource source(bool has_load) = 0;
};

}  // namespace berth::live
