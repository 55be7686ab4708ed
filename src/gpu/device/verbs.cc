#include "gpu/device/verbs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "gpu/nvml_abi/codes.h"

namespace berth::device {

using nvml_abi::Code;

namespace {

/// An order under way.
struct Work {
  Tools& tools;
  const DeviceOrder& order;
  DeviceEnd end;     ///< `reading`: the last reading
  std::string note;  ///< the message if the order succeeds
};

Work begin(Tools& tools, const DeviceOrder& order) {
  Work work{.tools = tools, .order = order, .end = {}, .note = {}};
  work.end.intent = order.intent;
  return work;
}

/// Calls the library and adds the time that it takes.
template <class Call>
auto timed(Work& work, std::int64_t& taken_us, Call call) {
  const std::int64_t begun_us = work.tools.now_us();
  auto answer = call();
  taken_us += work.tools.now_us() - begun_us;
  return answer;
}

/// Reads the GPU into `end.reading`. A failed reading is repeated: without it the effect of a call is unknown.
GpuAnswer<void> look(Work& work) {
  constexpr int kReadingsMax = 3;
  GpuAnswer<GpuReading> reading = work.tools.library.read(work.order.uuid);
  for (int count = 1; count < kReadingsMax && !reading && !reading.error().is_gpu_lost; ++count) {
    reading = work.tools.library.read(work.order.uuid);
  }
  work.end.reading = reading ? std::optional(*reading) : std::nullopt;
  if (!reading) return tl::unexpected(reading.error());
  return {};
}

// ---- words

std::string words(const GpuCallFailure& failure) {
  return fmt::format("{} answered {}", failure.call, failure.code_name);
}

std::string words(std::uint32_t profile_id, int start, int length) {
  return fmt::format("a GPU instance of profile {} at {}:{}", profile_id, start, length);
}

std::string words(const DeviceOrder& order) { return words(order.profile_id, order.start, order.length); }

std::string words(const std::vector<DeviceHolder>& holders) {
  if (holders.empty()) return "the driver names no process";
  std::vector<std::string> all;
  all.reserve(holders.size());
  for (const DeviceHolder& holder : holders) {
    all.push_back(holder.name.empty() ? fmt::format("pid {}", holder.pid)
                                      : fmt::format("pid {} ({})", holder.pid, holder.name));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

// ---- ends

/// The outcome of an order, with the last reading.
DeviceEnd ended(Work& work, DeviceOutcome outcome, std::string message) {
  work.end.outcome = outcome;
  work.end.message = std::move(message);
  return std::move(work.end);
}

DeviceEnd done(Work& work) { return ended(work, DeviceOutcome::kDone, work.note); }

void name_call(Work& work, const GpuCallFailure& failure) {
  work.end.call = failure.call;
  work.end.error = failure.code_name;
}

DeviceEnd failed(Work& work, const GpuCallFailure& failure, const std::string& message) {
  name_call(work, failure);
  return ended(work, DeviceOutcome::kFailed, words(failure) + ": " + message);
}

DeviceEnd busy(Work& work, std::vector<DeviceHolder> holders, const std::string& what) {
  work.end.holders = std::move(holders);
  return ended(work, DeviceOutcome::kBusy, fmt::format("{} is in use: {}", what, words(work.end.holders)));
}

/// For an order before its first changing call.
DeviceEnd unread(Work& work, const GpuCallFailure& failure) {
  return failed(work, failure, "the GPU cannot be read, so nothing was tried");
}

/// The GPU cannot be read after a call. `failure`: that of the call, if it failed.
DeviceEnd unknown(Work& work, const GpuAnswer<void>& looked, const std::optional<GpuCallFailure>& failure) {
  name_call(work, failure.value_or(looked.error()));
  const std::string first = failure ? words(*failure) + "; then " : "";
  return ended(work, DeviceOutcome::kFailed,
               fmt::format("{}{}: nobody knows what stands at {}:{}", first, words(looked.error()), work.order.start,
                           work.order.length));
}

// ---- instances at the place

bool is_at_place(const GpuInstanceSeen& seen, const DeviceOrder& order) {
  return seen.profile_id == order.profile_id && seen.start == order.start && seen.length == order.length;
}

/// The instance that the order is about; its id can change between readings. Null: it does not exist.
const GpuInstanceSeen* find_own(const Work& work) {
  const std::vector<GpuInstanceSeen>& instances = work.end.reading->instances;
  const auto found =
      std::ranges::find_if(instances, [&](const GpuInstanceSeen& seen) { return is_at_place(seen, work.order); });
  return found == instances.end() ? nullptr : &*found;
}

/// Another instance that overlaps its place. Null: there is none.
const GpuInstanceSeen* find_other(const Work& work) {
  const DeviceOrder& order = work.order;
  const std::vector<GpuInstanceSeen>& instances = work.end.reading->instances;
  const auto found = std::ranges::find_if(instances, [&](const GpuInstanceSeen& seen) {
    const bool overlaps = seen.start < order.start + order.length && order.start < seen.start + seen.length;
    return overlaps && !is_at_place(seen, order);
  });
  return found == instances.end() ? nullptr : &*found;
}

/// The compute instance that an order makes. Null: there is none, or there are others.
const ComputeInstanceSeen* find_whole(const GpuInstanceSeen& own) {
  const bool is_it = own.compute_instances.size() == 1 && own.compute_instances.front().is_whole;
  return is_it ? &own.compute_instances.front() : nullptr;
}

bool has_compute_of_others(const GpuInstanceSeen& own) {
  return !own.compute_instances.empty() && find_whole(own) == nullptr;
}

/// Each process for which `is_holder` holds, once.
template <class IsHolder>
std::vector<DeviceHolder> holders_if(const Work& work, IsHolder is_holder) {
  std::vector<DeviceHolder> holders;
  for (const GpuProcessSeen& process : work.end.reading->processes) {
    if (!is_holder(process)) continue;
    const bool is_listed = std::ranges::find(holders, process.pid, &DeviceHolder::pid) != holders.end();
    if (!is_listed) holders.push_back({process.pid, process.name});
  }
  return holders;
}

std::vector<DeviceHolder> holders_of_instance(const Work& work, std::uint32_t id) {
  return holders_if(work, [id](const GpuProcessSeen& process) { return process.gpu_instance == id; });
}

/// The processes on the GPU, but on none of its instances.
std::vector<DeviceHolder> holders_beside_instances(const Work& work) {
  return holders_if(work, [](const GpuProcessSeen& process) { return !process.gpu_instance.has_value(); });
}

std::vector<DeviceHolder> holders_of_gpu(const Work& work) {
  return holders_if(work, [](const GpuProcessSeen&) { return true; });
}

DeviceEnd refused_for_compute(Work& work) {
  return ended(work, DeviceOutcome::kRefused,
               fmt::format("wanted {} with one compute instance of its size or none, found compute instances of others",
                           words(work.order)));
}

// ---- creation

DeviceEnd refused_for_others(Work& work, const GpuInstanceSeen& other) {
  return ended(work, DeviceOutcome::kRefused,
               fmt::format("wanted {}, found one of others there: profile {} at {}:{}", words(work.order),
                           other.profile_id, other.start, other.length));
}

/// Whether an instance that exists after a failed creation was made by it. For an occupied place the device reports
/// insufficient resources; and a new instance has no compute instance.
bool was_carried_out(const GpuCallFailure& failure, const GpuInstanceSeen& seen) {
  return Code{failure.code} != Code::kInsufficientResources && seen.compute_instances.empty();
}

/// A creation failed and left nothing.
DeviceEnd not_created(Work& work, const GpuCallFailure& failure, const std::string& message) {
  if (!failure.is_in_use) return failed(work, failure, message);
  name_call(work, failure);
  return busy(work, holders_beside_instances(work), "the GPU");
}

void note_carried_out(Work& work, const GpuCallFailure& failure) {
  work.note = words(failure) + ", but it was carried out";
}

/// Sets `id` to the instance created. Otherwise returns the outcome of the order.
std::optional<DeviceEnd> make_gpu_instance(Work& work, std::uint32_t& id) {
  const DeviceOrder& order = work.order;
  const GpuAnswer<std::uint32_t> made = timed(work, work.end.gpu_instance_us, [&] {
    return work.tools.changer.create_gpu_instance(order.uuid, order.profile_id, order.start, order.length);
  });
  if (made) {
    id = *made;
    return std::nullopt;
  }
  const GpuAnswer<void> looked = look(work);
  if (!looked) return unknown(work, looked, made.error());
  const GpuInstanceSeen* const own = find_own(work);
  if (own == nullptr) {
    if (const GpuInstanceSeen* const other = find_other(work)) return refused_for_others(work, *other);
    return not_created(work, made.error(), fmt::format("{} was not created", words(order)));
  }
  if (!was_carried_out(made.error(), *own)) return refused_for_others(work, *own);
  note_carried_out(work, made.error());
  id = own->id;
  return std::nullopt;
}

/// Removes the GPU instance again, as it got no compute instance.
DeviceEnd undo(Work& work, std::uint32_t id, const GpuCallFailure& failure) {
  const GpuAnswer<void> removed = work.tools.changer.destroy_gpu_instance(work.order.uuid, id);
  const GpuAnswer<void> looked = look(work);
  if (!looked) return unknown(work, looked, failure);
  if (find_own(work) == nullptr) {
    return not_created(work, failure,
                       fmt::format("{} was removed again, as it got no compute instance", words(work.order)));
  }
  const std::string why = removed ? "it stands although it was destroyed" : words(removed.error());
  return failed(work, failure, fmt::format("{} stands without a compute instance: {}", words(work.order), why));
}

/// Gives the GPU instance its compute instance. If it cannot, returns the outcome of the order.
std::optional<DeviceEnd> make_compute_instance(Work& work, std::uint32_t id) {
  const GpuAnswer<std::uint32_t> made = timed(work, work.end.compute_instance_us, [&] {
    return work.tools.changer.create_compute_instance(work.order.uuid, id);
  });
  if (made) return std::nullopt;
  const GpuAnswer<void> looked = look(work);
  if (!looked) return unknown(work, looked, made.error());
  const GpuInstanceSeen* const own = find_own(work);
  if (own == nullptr) {
    return failed(work, made.error(), fmt::format("{} was created, and is gone again", words(work.order)));
  }
  if (has_compute_of_others(*own)) return refused_for_compute(work);
  if (own->compute_instances.empty()) return undo(work, own->id, made.error());
  note_carried_out(work, made.error());
  return std::nullopt;
}

/// All calls succeeded, or failed but were carried out: a reading decides.
DeviceEnd created(Work& work) {
  const GpuInstanceSeen* const own = find_own(work);
  const ComputeInstanceSeen* const whole = own == nullptr ? nullptr : find_whole(*own);
  if (whole == nullptr) {
    const std::string_view what = own == nullptr ? "it" : "its compute instance";
    return ended(
        work, DeviceOutcome::kFailed,
        fmt::format("{} was created, and {} is gone again: somebody else destroyed it", words(work.order), what));
  }
  work.end.mig_uuid = whole->uuid;
  work.end.memory_mib = whole->memory_mib;
  return done(work);
}

// ---- destruction

/// The outcome once nothing of ours is left.
DeviceEnd destroyed(Work& work, std::string note) {
  work.note = std::move(note);
  return done(work);
}

/// The instance could not be destroyed and still exists. Without a failure: a process is on it.
DeviceEnd stands(Work& work, std::uint32_t id, const std::optional<GpuCallFailure>& failure) {
  if (failure) name_call(work, *failure);
  std::vector<DeviceHolder> holders = holders_of_instance(work, id);
  if (!failure || failure->is_in_use || !holders.empty()) return busy(work, std::move(holders), words(work.order));
  return failed(work, *failure, fmt::format("{} was not destroyed", words(work.order)));
}

/// Destroys its compute instance. If it cannot, or need not continue, returns the outcome of the order.
std::optional<DeviceEnd> remove_compute_instance(Work& work, std::uint32_t gpu_instance, std::uint32_t id) {
  const GpuAnswer<void> removed = timed(work, work.end.compute_instance_us, [&] {
    return work.tools.changer.destroy_compute_instance(work.order.uuid, gpu_instance, id);
  });
  const GpuAnswer<void> looked = look(work);
  if (!looked) return unknown(work, looked, removed ? std::nullopt : std::optional(removed.error()));
  const GpuInstanceSeen* const own = find_own(work);
  if (own == nullptr) return destroyed(work, "somebody else destroyed it");
  if (own->compute_instances.empty()) return std::nullopt;
  const bool is_the_same = !removed && !has_compute_of_others(*own) && own->compute_instances.front().id == id;
  if (is_the_same) return stands(work, own->id, removed.error());
  return refused_for_compute(work);
}

/// Recreates the compute instance of a GPU instance that cannot be destroyed, to restore its former state.
DeviceEnd restored(Work& work, std::uint32_t id, const std::optional<GpuCallFailure>& failure) {
  const GpuAnswer<std::uint32_t> made = work.tools.changer.create_compute_instance(work.order.uuid, id);
  const GpuAnswer<void> looked = look(work);
  if (!looked) return unknown(work, looked, failure);
  const GpuInstanceSeen* const own = find_own(work);
  if (own == nullptr) return destroyed(work, "somebody else destroyed it");
  const bool is_short = own->compute_instances.empty() && !made;
  DeviceEnd end = stands(work, own->id, failure);
  if (is_short) end.message += "; it is without its compute instance, as " + words(made.error());
  return end;
}

/// Destroys the GPU instance, which has no compute instance.
DeviceEnd remove_gpu_instance(Work& work, std::uint32_t id) {
  const GpuAnswer<void> removed = timed(work, work.end.gpu_instance_us,
                                        [&] { return work.tools.changer.destroy_gpu_instance(work.order.uuid, id); });
  const GpuAnswer<void> looked = look(work);
  if (!looked) return unknown(work, looked, removed ? std::nullopt : std::optional(removed.error()));
  const GpuInstanceSeen* const own = find_own(work);
  if (removed && own != nullptr) return destroyed(work, "one of others stands there already");
  if (removed) return destroyed(work, {});
  if (own == nullptr) return destroyed(work, words(removed.error()) + ", but it was carried out");
  if (!own->compute_instances.empty()) return refused_for_compute(work);
  return restored(work, own->id, removed.error());
}

}  // namespace

DeviceEnd create_instance(Tools& tools, const DeviceOrder& order) {
  Work work = begin(tools, order);
  if (const auto looked = look(work); !looked) return unread(work, looked.error());
  if (!work.end.reading->is_mig_on) return ended(work, DeviceOutcome::kFailed, "MIG mode is off");
  if (const GpuInstanceSeen* const other = find_other(work)) return refused_for_others(work, *other);
  std::uint32_t id = 0;
  if (const GpuInstanceSeen* const own = find_own(work)) {
    if (!order.was_tried) return refused_for_others(work, *own);
    if (has_compute_of_others(*own)) return refused_for_compute(work);
    work.note = "it stood already";
    if (find_whole(*own) != nullptr) return created(work);
    work.note = "its GPU instance stood already";
    id = own->id;
  } else if (auto end = make_gpu_instance(work, id)) {
    return std::move(*end);
  }
  if (auto end = make_compute_instance(work, id)) return std::move(*end);
  if (const auto looked = look(work); !looked) {
    work.note = fmt::format("{} was created, but cannot be read: {}", words(order), words(looked.error()));
    return done(work);
  }
  return created(work);
}

DeviceEnd destroy_instance(Tools& tools, const DeviceOrder& order) {
  Work work = begin(tools, order);
  if (const auto looked = look(work); !looked) return unread(work, looked.error());
  const GpuInstanceSeen* const own = find_own(work);
  if (own == nullptr) {
    if (const GpuInstanceSeen* const other = find_other(work)) return refused_for_others(work, *other);
    return destroyed(work, "nothing stood there");
  }
  if (has_compute_of_others(*own)) return refused_for_compute(work);
  std::uint32_t id = own->id;
  if (!holders_of_instance(work, id).empty()) return stands(work, id, std::nullopt);
  if (const ComputeInstanceSeen* const whole = find_whole(*own)) {
    if (auto end = remove_compute_instance(work, id, whole->id)) return std::move(*end);
    id = find_own(work)->id;
    if (!holders_of_instance(work, id).empty()) return restored(work, id, std::nullopt);
  }
  return remove_gpu_instance(work, id);
}

DeviceEnd turn_mig_on(Tools& tools, const DeviceOrder& order) {
  constexpr std::string_view kPending = "MIG mode is pending: it needs a reset of the GPU";
  Work work = begin(tools, order);
  if (const auto looked = look(work); !looked) return unread(work, looked.error());
  if (work.end.reading->is_mig_on) return ended(work, DeviceOutcome::kDone, "MIG mode was on already");
  const bool has_instances = !work.end.reading->instances.empty();
  if (auto holders = holders_of_gpu(work); has_instances || !holders.empty()) {
    return busy(work, std::move(holders), "the GPU");
  }
  const GpuAnswer<ModeChange> changed = tools.changer.set_mig_mode(order.uuid, true);
  const GpuAnswer<void> looked = look(work);
  if (!looked) return unknown(work, looked, changed ? std::nullopt : std::optional(changed.error()));
  if (work.end.reading->is_mig_on) {
    if (!changed) note_carried_out(work, changed.error());
    return done(work);
  }
  const bool is_in_use = changed ? *changed == ModeChange::kInUse : changed.error().is_in_use;
  if (!changed) name_call(work, changed.error());
  if (is_in_use) return busy(work, holders_of_gpu(work), "the GPU");
  if (work.end.reading->is_mig_pending_on) return ended(work, DeviceOutcome::kFailed, std::string(kPending));
  if (!changed) return failed(work, changed.error(), "MIG mode is still off");
  return ended(work, DeviceOutcome::kFailed, "MIG mode was turned on, and is off again");
}

DeviceEnd carry_out(Tools& tools, const DeviceOrder& order) {
  switch (order.verb) {
    case DeviceVerb::kCreate:
      return create_instance(tools, order);
    case DeviceVerb::kDestroy:
      return destroy_instance(tools, order);
    case DeviceVerb::kMigModeOn:
      return turn_mig_on(tools, order);
  }
  ENSURE(false);
}

}  // namespace berth::device
