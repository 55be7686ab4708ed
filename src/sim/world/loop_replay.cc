#include "sim/world/loop_replay.h"

#include <variant>

#include "world/slices/reconcile.h"

namespace berth::sim {

void LoopReplay::give(std::uint64_t number, Order order) {
  if (number <= carried_out_) {
    pass_over(order);
  } else {
    left_.push_back(std::move(order));
  }
}

void LoopReplay::pass_over(const Order& order) {
  SharedList<ServiceSpec>& services = scenario_.services;
  if (const auto* set = std::get_if<ServiceSet>(&order)) {
    const std::size_t index = set->service.index;
    services.set_shared(index, set->spec);
    revisions_.resize(services.size());
    revisions_[index] = set->revision;
  } else if (const auto* removed = std::get_if<ServiceRemoved>(&order)) {
    const std::size_t index = removed->service.index;
    services.set(index, absent_service(std::as_const(services)[index]));
  }
}

std::set<Slice> LoopReplay::adapt(const std::vector<std::uint64_t>& last_numbers,
                                  std::vector<world::DeviceMemory>& devices) {
  std::vector<const Plan*> plans_left;
  for (const Order& order : left_) {
    if (const auto* given = std::get_if<PlanOrder>(&order)) plans_left.push_back(&given->plan);
  }
  world::forget_passed(last_numbers, plans_left, devices);
  std::set<Slice> to_destroy;
  std::vector<std::set<Slice>> standing = world::staying_slices(devices);
  for (Order& order : left_) {
    auto* given = std::get_if<PlanOrder>(&order);
    if (given == nullptr) continue;
    world::drop_impossible(standing, devices, given->plan);
    for (const Action& action : given->plan.actions) {
      if (const auto* destroyed = std::get_if<DestroySlice>(&action.what)) to_destroy.insert(destroyed->slice);
    }
  }
  return to_destroy;
}

}  // namespace berth::sim
