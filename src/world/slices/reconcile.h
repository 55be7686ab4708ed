/// After a restart: compares what devices remember with what the engine knows and has ordered.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/event.h"
#include "domain/values/plan.h"
#include "domain/values/snapshot.h"
#include "world/slices/device_memory.h"

namespace berth::world {

/// Compares the engine's state with what the devices remember, and returns the events of what happened while no process
/// ran, in the order of GPUs: GPUs lost or back; slices that became ready or are gone; changes with another outcome
/// (ActionFailed), each followed by what exists there (GpuObserved).
///
/// `losses`: why GPUs are lost, for those where no fault was injected.
///
/// What the engine has ordered and the devices have not received yet is not a difference: creations and assignments are
/// recognised by their numbers, destructions by `to_destroy`, the slices that pending orders will destroy. O(slices).
[[nodiscard]] std::vector<Event> find_device_news(const Snapshot& engine, const std::vector<DeviceMemory>& devices,
                                                  const std::set<Slice>& to_destroy,
                                                  const std::map<GpuId, std::string>& losses, Instant now);

/// Forgets actions that a device does not know and that no pending order will carry out: they count as received, so
/// that their absence is reported. `last_numbers`: the last number ordered, by GPU, for GPUs that had actions. `left`:
/// the plans still to be carried out. O(GPUs + actions).
void forget_passed(const std::vector<std::uint64_t>& last_numbers, const std::vector<const Plan*>& left,
                   std::vector<DeviceMemory>& devices);

/// Removes from a plan still to be carried out all actions on GPUs where one of them is impossible: devices that lost
/// power may have forgotten more than the engine. The removed actions count as received and ended. `staying`, by GPU:
/// what stays there, updated to the state after the plan. O(actions log slices).
void drop_impossible(std::vector<std::set<Slice>>& staying, std::vector<DeviceMemory>& devices, Plan& plan);
/// What stays on each GPU, without foreign slices.
[[nodiscard]] std::vector<std::set<Slice>> staying_slices(const std::vector<DeviceMemory>& devices);

/// Makes foreign the slices that the engine cannot have created or assigned, as their numbers are higher than any that
/// it gave. `last_numbers` by GPU, for GPUs that had actions. Returns how many there were.
std::size_t disown_unknown(const std::vector<std::uint64_t>& last_numbers, std::vector<DeviceMemory>& devices);

}  // namespace berth::world
