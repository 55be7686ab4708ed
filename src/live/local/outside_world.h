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

/// Functions that take a session are called under the session's lock. All but `meet_api` are required.
struct OutsideWorld {
  /// Why GPUs must not be changed, for SessionOptions::observed.
  std::function<std::map<GpuId, std::string>()> observed;
  /// What exists on devices when the session begins.
  std::function<std::map<GpuId, world::ObservedLayout>()> sights;
  /// Merges what exists on the devices into what they remember.
  std::function<void(sim::WorldLeft& left)> adopt;
  /// The same for a world that begins: reports the devices and their slices to it.
  std::function<void(Session& session)> tell;
  /// Reports what the GPUs of a world that continues say about themselves, unless the session has it already.
  std::function<void(Session& session)> tell_notes;
  /// Where tenants and services are objects outside: called before `start` with the address of the session's API, and
  /// the key with which they are written there.
  std::function<void(const std::string& url, const std::string& key)> meet_api = {};
  /// `on_report` may be called by any thread, when `serve` has something to do.
  std::function<void(std::function<void()> on_report)> start;
  /// After this `on_report` is not called any more.
  std::function<void()> stop;
  /// Reports news to the session, and carries out what it wants.
  std::function<void(Session& session)> serve;
  /// Any thread may use it while the world exists.
  std::function<DeviceSource(bool has_load)> source;
};

}  // namespace berth::live
