/// A loop while it repeats the inputs of another one: which orders its world has carried out, their effects, and what
/// remains to be done.
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
  /// ServiceId): as the world had them when the repetition begins.
  LoopReplay(std::uint64_t carried_out, Scenario scenario, std::vector<std::uint64_t> revisions)
      : carried_out_(carried_out), scenario_(std::move(scenario)), revisions_(std::move(revisions)) {}

  /// The order of that number was given: skipped if the world has carried it out, else kept.
  void give(std::uint64_t number, Order order);
  /// The engine asked a question, or was given an answer.
  void ask(SolveRequest request) { asked_ = std::move(request); }
  void close_question() { asked_.reset(); }
  /// Sets a known answer that the engine was not given yet.
  void set_answer(SolveFinished finished) { answer_ = std::move(finished); }
  /// Whether it answers the open question.
  [[nodiscard]] bool has_answer() const { return answer_ && asked_ && answer_->question == asked_->question; }
  /// Requires: has_answer.
  [[nodiscard]] SolveFinished take_answer() { return *std::exchange(answer_, std::nullopt); }

  /// Removes from the remaining plans the parts that the devices can no longer carry out. Returns the slices that the
  /// rest destroys. `last_numbers`: of the engine.
  [[nodiscard]] std::set<Slice> adapt(const std::vector<std::uint64_t>& last_numbers,
                                      std::vector<world::DeviceMemory>& devices);

  /// As the world has it now.
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const std::vector<std::uint64_t>& revisions() const { return revisions_; }
  /// Orders that the world has not carried out.
  [[nodiscard]] std::vector<Order>& left() { return left_; }
  /// The open question.
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
