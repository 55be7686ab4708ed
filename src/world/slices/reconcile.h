/// After a restart: what devices remember is compared with what the engine knows, and with what it has ordered.
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

/// Compares the engine's state with what the devices remember, and returns the events of what happened unseen, in the
/// order of GPUs: GPUs lost or back; slices that came to work or are gone; changes that ended otherwise
/// (ActionFailed), each followed by what exists there (GpuObserved).
///
/// `losses`: why GPUs are lost, of those where no fault was injected.
///
/// What the engine has ordered and the devices have not got yet is no difference: creations and assignments by their
/// numbers, destructions by `to_destroy`, the slices that orders still to be carried out will destroy. O(slices).
[[nodiscard]] std::vector<Event> find_device_news(const Snapshot& engine, const std::vector<DeviceMemory>& devices,
                                                  const std::set<Slice>& to_destroy,
                                                  const std::map<GpuId, std::string>& losses, Instant now);

/// Actions that a device does not know and no order will carry out are forgotten: they count as got, so that what is
/// missing is news. `last_numbers`: of all that was ordered, by GPU, as far as there were actions. `left`: the plans
/// that are still to be carried out. O(GPUs + actions).
void forget_passed(const std::vector<std::uint64_t>& last_numbers, const std::vector<const Plan*>& left,
                   std::vector<DeviceMemory>& devices);

/// Takes out of a plan that is still to be carried out all actions on GPUs where one of them is not possible: devices
/// that were without power may have forgotten more than the engine. They then count as got and ended. `staying`, by
/// GPU: what stays there, before the plan and after it. O(actions log slices).
void drop_impossible(std::vector<std::set<Slice>>& staying, std::vector<DeviceMemory>& devices, Plan& plan);
/// What stays on each GPU, without foreign slices.
[[nodiscard]] std::vector<std::set<Slice>> staying_slices(const std::vector<DeviceMemory>& devices);

/// Slices that the engine cannot have created or assigned, as their numbers are higher than all that it gave, become
/// foreign. `last_numbers` by GPU, as far as there were actions. Returns how many there were.
std::size_t disown_unknown(const std::vector<std::uint64_t>& last_numbers, std::vector<DeviceMemory>& devices);

}  // namespace berth::world
