/// A loop while it repeats what another one was given: which orders its world has carried out, what they made of it,
/// and what is left to do.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "domain/values/event.h"
#include "domain/values/scenario.h"
#include "engine/loop/engine.h"
#include "sim/world/order.h"
#include "sim/world/world_memory.h"
#include "world/slices/device_memory.h"

namespace berth::sim {

class LoopReplay {
 public:
  /// `carried_out`: how many orders the world has carried out. `scenario` and `revisions` (ServiceSet::revision, by
  /// ServiceId): as they were to the world when the repetition begins.
  LoopReplay(std::uint64_t carried_out, Scenario scenario, std::vector<std::uint64_t> revisions)
      : carried_out_(carried_out), scenario_(std::move(scenario)), revisions_(std::move(revisions)) {}

  /// The order of that number was given: passed over, if the world has carried it out, else kept.
  void give(std::uint64_t number, Order order);
  /// The engine asked a question, or was given an answer.
  void ask(SolveRequest request) { asked_ = std::move(request); }
  void close_question() { asked_.reset(); }
  /// An answer is known, which the engine was not given yet.
  void set_answer(SolveFinished finished) { answer_ = std::move(finished); }
  /// Whether it answers the question that is open.
  [[nodiscard]] bool has_answer() const { return answer_ && asked_ && answer_->question == asked_->question; }
  /// Requires: has_answer.
  [[nodiscard]] SolveFinished take_answer() { return *std::exchange(answer_, std::nullopt); }

  /// Of the orders that are left, those parts of plans that the devices cannot carry out any more are removed. Returns
  /// the slices that the rest destroys. `last_numbers`: of the engine.
  [[nodiscard]] std::set<Slice> adapt(const std::vector<std::uint64_t>& last_numbers,
                                      std::vector<world::DeviceMemory>& devices);

  /// As they are to the world now.
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const std::vector<std::uint64_t>& revisions() const { return revisions_; }
  /// Orders that the world has not carried out.
  [[nodiscard]] std::vector<Order>& left() { return left_; }
  /// The question that is open.
  [[nodiscard]] std::optional<SolveRequest>& asked() { return asked_; }

 private:
  void pass_over(const Order& order);

  std::uint64_t carried_out_;
  Scenario scenario_;
  std::vector<std::uint64_t> revisions_;
  std::vector<Order> left_;
  std::optional<SolveRequest> asked_;
  std::optional<SolveFinished> answer_;
};

}  // namespace berth::sim
