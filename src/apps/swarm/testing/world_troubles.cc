/// The troubles of a faulty world, and how they end.

#include <array>
#include <utility>

#include "apps/swarm/testing/world.h"
#include "domain/values/node.h"
#include "live/session/testing/random_orders.h"

namespace berth::swarm::testing {
namespace {

using live::testing::drawn;

/// Mean time between troubles of one kind.
constexpr std::uint64_t kSecondsBetween = 300;
constexpr std::int64_t kDayUs = std::int64_t{24} * 3600 * kMicrosPerSecond;
constexpr Micros kNever = Micros::seconds(1'000'000);

std::vector<GpuId> gpus_in(const GpuRange& range) {
  std::vector<GpuId> gpus;
  gpus.reserve(range.count);
  for (std::uint32_t i = 0; i < range.count; ++i) gpus.push_back({range.first.index + i});
  return gpus;
}

}  // namespace

void World::begin_trouble() {
  for (const Trouble trouble : kinds_) {
    if (rng_.below(kSecondsBetween) == 0) begin(trouble);
  }
}

void World::begin(Trouble trouble) {
  switch (trouble) {
    case Trouble::kClockJump:
      return jump_clock();
    case Trouble::kKill:
      return kill_soon(false);
    case Trouble::kPowerCut:
      return kill_soon(true);
    case Trouble::kFailingStore:
      return fail_store();
    case Trouble::kSlowStore:
      return slow_store();
    case Trouble::kLostNode:
      return lose_node();
    case Trouble::kSlowSolver:
      return slow_solver();
    case Trouble::kDevices:
      return spoil_devices();
    case Trouble::kOperators:
      return operate();
  }
}

void World::add_episode(Trouble trouble, std::int64_t seconds_max, std::function<bool()> end) {
  note(trouble);
  const std::int64_t seconds = 1 + drawn(rng_, static_cast<std::uint64_t>(seconds_max));
  episodes_.push_back({.trouble = trouble, .until_us = steady_us_ + seconds * kMicrosPerSecond, .end = std::move(end)});
}

void World::end_episodes() {
  for (std::size_t i = 0; i < episodes_.size();) {
    if (episodes_[i].until_us > steady_us_ || !episodes_[i].end()) {
      ++i;
    } else {
      episodes_.erase(episodes_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

void World::jump_clock() {
  note(Trouble::kClockJump);
  constexpr std::array<std::int64_t, 4> kJumpsUs = {kMicrosPerSecond, 3600 * kMicrosPerSecond, kDayUs, 3650 * kDayUs};
  const std::int64_t jump = kJumpsUs[rng_.below(kJumpsUs.size())];
  wall_us_ += rng_.below(2) == 0 ? jump : -jump;
}

void World::kill_soon(bool loses_power) {
  if (!is_up()) return;
  note(loses_power ? Trouble::kPowerCut : Trouble::kKill);
  loses_power_ = loses_power;
  const bool is_in_call = machine_.has_disk() && (loses_power || rng_.below(2) == 0);
  if (is_in_call) machine_.stop_after(1 + rng_.below(60));
  if (!is_in_call) process_->die_before_write(1 + rng_.below(rng_.below(2) == 0 ? 3 : 30));
  if (rng_.below(2) == 0) set_service();  // the stop may fall in the middle of that
}

void World::fail_store() {
  if (has_failing_store_) return;
  has_failing_store_ = true;
  machine_.fail_store(rng_);
  add_episode(Trouble::kFailingStore, 200, [this] {
    heal_store();
    return true;
  });
}

void World::heal_store() {
  machine_.heal_store();
  has_failing_store_ = false;
}

void World::slow_store() {
  record_every_ = 5 + drawn(rng_, 60);
  add_episode(Trouble::kSlowStore, 300, [this] {
    record_every_ = 1;
    return true;
  });
}

void World::lose_node() {
  const NodeId node{static_cast<std::uint32_t>(rng_.below(node_count(scenario_)))};
  sim::FaultOrder order;
  order.kind = sim::FaultKind::kLose;
  order.gpus = gpus_in(gpus_of(scenario_, node));
  if (!inject(order)) return;
  order.kind = sim::FaultKind::kReturn;
  add_episode(Trouble::kLostNode, 400, [this, order] { return inject(order); });
}

void World::slow_solver() {
  solver_delay_ = rng_.below(3) == 0 ? kNever : Micros::seconds(20 + drawn(rng_, 400));
  add_episode(Trouble::kSlowSolver, 600, [this] {
    solver_delay_ = {};
    solver_.hurry();
    return true;
  });
}

void World::spoil_devices() {
  sim::FaultOrder order = live::testing::random_fault(rng_, scenario_.gpu_count());
  if (!inject(order)) return;
  sim::FaultOrder end;
  end.kind = order.kind == sim::FaultKind::kLose ? sim::FaultKind::kReturn : sim::FaultKind::kClear;
  end.gpus = order.gpus;
  add_episode(Trouble::kDevices, 400, [this, end] { return inject(end); });
}

/// Returns whether the fault happened, or never can.
bool World::inject(const sim::FaultOrder& order) {
  if (!is_up()) return false;
  const auto id = process_->session().inject(order);
  return !process_->is_dead() && (id || !process_->recorder().failure());
}

}  // namespace berth::swarm::testing
