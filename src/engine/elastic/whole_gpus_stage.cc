#include "engine/elastic/whole_gpus_stage.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/core/archive.h"

namespace berth::elastic {
namespace {

class WholeGpus {
 public:
  WholeGpus(const Scenario& scenario, WholeGpuCounts counts)
      : scenario_(scenario), counts_(std::move(counts)), owned_(scenario.services.size()) {}

  StageAnswer ask(const Snapshot& snapshot, Plan& plan) {
    if (snapshot.is_before_first_layout()) hand_out_first(snapshot);
    for (std::uint32_t index = 0; index < owned_.size(); ++index) {
      const std::int64_t want = counts_({index}, snapshot.now.second());
      while (std::ssize(owned_[index]) > want) release(snapshot, {index}, plan);
      while (std::ssize(owned_[index]) < want && order(snapshot, {index}, plan)) {
      }
      for (const GpuId gpu : owned_[index]) make_slice(snapshot, gpu, {index}, plan);
    }
    return Settled{};
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.owned_);
  }

 private:
  void hand_out_first(const Snapshot& snapshot) {
    std::uint32_t next = 0;
    for (std::uint32_t index = 0; index < owned_.size(); ++index) {
      for (std::int64_t i = counts_({index}, 0); i > 0 && next < scenario_.gpu_count(); --i) {
        if (snapshot.is_open({next})) owned_[index].push_back({next});
        ++next;
      }
    }
  }

  [[nodiscard]] bool is_owned(GpuId gpu) const {
    return std::ranges::any_of(owned_, [gpu](const auto& gpus) { return std::ranges::find(gpus, gpu) != gpus.end(); });
  }

  /// Returns whether a GPU was available to order.
  bool order(const Snapshot& snapshot, ServiceId service, Plan& plan) {
    for (std::uint32_t gpu = 0; gpu < scenario_.gpu_count(); ++gpu) {
      const bool is_free = snapshot.gpu_state({gpu}).scheduling == GpuScheduling::kAbsent && !is_owned({gpu});
      if (!is_free) continue;
      plan.gpu_orders.push_back({.gpu = {gpu}, .reason = {.text = "its service wants more GPUs", .numbers = {}}});
      owned_[service.index].push_back({gpu});
      return true;
    }
    return false;
  }

  static bool is_serving(const Snapshot& snapshot, GpuId gpu) {
    return std::ranges::any_of(snapshot.slices_on(gpu), &StandingSlice::is_ready);
  }

  void release(const Snapshot& snapshot, ServiceId service, Plan& plan) {
    std::vector<GpuId>& gpus = owned_[service.index];
    const auto serves = [&](GpuId gpu) { return is_serving(snapshot, gpu); };
    auto newest = std::find_if_not(gpus.rbegin(), gpus.rend(), serves);
    if (newest == gpus.rend()) newest = gpus.rbegin();
    const GpuId gpu = *newest;
    gpus.erase(std::next(newest).base());
    const Reason reason{.text = "its service wants fewer GPUs", .numbers = {}};
    plan.gpu_orders.push_back({.gpu = gpu, .is_release = true, .reason = reason});
    for (const StandingSlice& standing : snapshot.slices_on(gpu)) {
      if (!standing.is_leaving)
        plan.actions.push_back({.what = DestroySlice{standing.holding.slice}, .reason = reason});
    }
  }

  static void make_slice(const Snapshot& snapshot, GpuId gpu, ServiceId service, Plan& plan) {
    const bool is_ordered_now = std::ranges::find(plan.gpu_orders, gpu, &GpuOrder::gpu) != plan.gpu_orders.end();
    if (is_ordered_now || !snapshot.is_open(gpu) || !snapshot.slices_on(gpu).empty()) return;
    const Slice slice{.gpu = gpu, .start = 0, .profile = ProfileId::full()};
    const Reason reason{.text = "the GPU is its service's", .numbers = {}};
    plan.actions.push_back({.what = CreateSlice{slice}, .reason = reason});
    plan.actions.push_back({.what = AssignSlice{.holding = {.slice = slice, .services = {service}}}, .reason = reason});
  }

  const Scenario& scenario_;
  WholeGpuCounts counts_;
  std::vector<std::vector<GpuId>> owned_;  ///< by service, in the order in which they were ordered
};

}  // namespace

std::int64_t gpus_at_start(const Scenario& scenario, const WholeGpuCounts& counts) {
  std::int64_t gpus = 0;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) gpus += counts({index}, 0);
  return std::min<std::int64_t>(gpus, scenario.gpu_count());
}

Stage whole_gpus_stage(const Scenario& scenario, WholeGpuCounts counts) {
  const auto gpus = std::make_shared<WholeGpus>(scenario, std::move(counts));
  return {.name = "whole-gpus",
          .observe = {},
          .ask = [gpus](const Snapshot& snapshot, Plan& plan) { return gpus->ask(snapshot, plan); },
          .learn = {},
          .memory = memory_of(gpus)};
}

}  // namespace berth::elastic
