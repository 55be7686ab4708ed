#include "planner/one_gpu/detail/joint_changes.h"

#include <algorithm>
#include <span>

namespace berth::planner {
namespace {

/// The two largest of some values.
struct TwoLargest {
  double largest = kWorthless;
  double second = kWorthless;

  void add(double value) {
    second = std::max(second, std::min(largest, value));
    largest = std::max(largest, value);
  }
  /// The largest of all others.
  [[nodiscard]] double without(double value) const { return value == largest ? second : largest; }
};

}  // namespace

JointChanges::JointChanges(const GpuCase& gpu_case, const JointStates& states,
                           const std::vector<ServiceIndex>& stale_services)
    : case_(gpu_case), states_(states), trained_services_(static_cast<int>(stale_services.size())) {
  const Rooms& rooms = gpu_case.rooms;
  trains_on_.assign(ix(rooms.kinds()), 0);
  can_also_train_.assign(ix(rooms.count()), 0);
  for (const ServiceIndex service : stale_services) {
    for (const KindIndex kind : Indices<KindIndex>(rooms.kinds())) {
      if (gpu_case.progress_rate(service, kind) <= 0) continue;
      trains_on_[kind] = 1;
      for (const RoomIndex room : Indices<RoomIndex>(rooms.count())) {
        if (rooms.add(room, kind) != kNoRoom) can_also_train_[room] = 1;
      }
    }
  }
  for (std::vector<double>* each : {&changed_.created, &changed_.given, &changed_.handed_one, &changed_.handed_all,
                                    &changed_.handed_two, &training_}) {
    each->resize(ix(states.count()));
  }
}

void JointChanges::allow_in_blocks(int block_slots) {
  int soonest = block_slots;
  for (const JointStates::Addition& addition : states_.additions())
    soonest = std::min(soonest, case_.start_slots[addition.service]);
  quick_rounds_ = soonest > 0 && soonest < block_slots ? (block_slots + soonest - 1) / soonest : 0;
  quick_edges_.clear();
  quick_begin_.clear();
  if (quick_rounds_ == 0) return;
  quick_begin_.push_back(0);
  for (const StateIndex state : Indices<StateIndex>(states_.count())) {
    for (const Edge& edge : states_.edges(state)) {
      const ServiceIndex service = states_.additions()[edge.addition].service;
      if (case_.start_slots[service] < block_slots) quick_edges_.push_back(edge);
    }
    quick_begin_.push_back(static_cast<int>(quick_edges_.size()));
  }
}

void JointChanges::make(const Costs& costs, const std::vector<double>& rewards, Takeover takeover, double* values) {
  costs_ = &costs;
  if (takeover.while_training) take_while_training(rewards, values);
  add_pieces(values);
  drop_pieces(values);
  if (takeover.at_once) take_at_once(false, values);
  for (int round = 0; round < quick_rounds_; ++round) make_quickly(values);
}

/// The worth of a state if the creation of pieces that it takes over in the next slot begins in this one, while a
/// retraining uses their space. Applied before all other changes, which may lead to the state in this slot: pieces that
/// they hand over or drop are not created. Backward over the states, as in add_pieces.
void JointChanges::take_while_training(const std::vector<double>& rewards, double* values) {
  if (rewards.empty()) return;
  const auto without_reward = [&](StateIndex state) {
    return (states_.may_begin(state) ? values[state] : kWorthless) - rewards[states_.room_of(state)];
  };
  // At most as many slices retrain at once as there are services that retrain.
  const bool is_one = trained_services_ == 1;
  for (StateIndex state(states_.count() - 1); state >= 0; --state) {
    double training = kWorthless;
    for (const Edge& edge : states_.edges(state)) {
      if (trains_on_[states_.additions()[edge.addition].kind] == 0) continue;
      const double next = is_one ? kWorthless : training_[edge.to];
      training = std::max(training, std::max(without_reward(edge.to), next) + costs_->created[edge.addition]);
    }
    training_[state] = training;
  }
  for (const StateIndex state : Indices<StateIndex>(states_.count())) {
    values[state] = std::max(values[state], training_[state] + rewards[states_.room_of(state)]);
  }
}

/// Backward over the states: adds pieces one by one, and tracks which service hands one over.
void JointChanges::add_pieces(const double* values) {
  std::ranges::fill(changed_.handed_one, kWorthless);
  std::ranges::fill(changed_.handed_all, kWorthless);
  for (StateIndex state(states_.count() - 1); state >= 0; --state) {
    double created = states_.may_begin(state) ? values[state] : kWorthless;
    double given = created;
    for (const Edge& edge : states_.edges(state)) {
      created = std::max(created, changed_.created[edge.to] + costs_->created[edge.addition]);
      given = std::max(given, changed_.given[edge.to] + costs_->given[edge.addition]);
    }
    changed_.created[state] = created;
    changed_.given[state] = given;
    hand_over(state);
  }
}

/// One more piece of one service in the place of another service's piece that a larger state drops.
void JointChanges::hand_over(StateIndex state) {
  TwoLargest one;
  TwoLargest all;
  const std::span<const Edge> edges = states_.edges(state);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& taker = edges[i];
    one.add(changed_.created[taker.to] + costs_->given[taker.addition]);
    all.add(changed_.given[taker.to] + costs_->given[taker.addition]);
    if (taker.is_last_of_kind == 0) continue;
    for (; begin <= i; ++begin) {
      const Edge& giver = edges[begin];
      const double cost = costs_->given[giver.addition];
      const double dropped = costs_->dropped[giver.addition];
      double& by_one = changed_.handed_one[giver.to];
      by_one = std::max(by_one, one.without(changed_.created[giver.to] + cost) + dropped);
      double& by_all = changed_.handed_all[giver.to];
      by_all = std::max(by_all, all.without(changed_.given[giver.to] + cost) + dropped);
    }
    one = all = {};
  }
}

/// Forward over the states: drops pieces one by one.
void JointChanges::drop_pieces(double* values) {
  const auto raise = [](double& value, double other) { value = std::max(value, other); };
  std::ranges::fill(changed_.handed_two, kWorthless);
  for (const StateIndex state : Indices<StateIndex>(states_.count())) raise(values[state], changed_.created[state]);
  for (const StateIndex state : Indices<StateIndex>(states_.count())) {
    const std::size_t now = ix(state);
    for (const Edge& edge : states_.edges(state)) {
      const std::size_t to = ix(edge.to);
      const double dropped = costs_->dropped[edge.addition];
      raise(values[to], values[state] + dropped - costs_->price);
      raise(changed_.handed_one[to], changed_.handed_one[now] + dropped - costs_->price);
      raise(changed_.handed_all[to], changed_.handed_all[now] + dropped);
      raise(changed_.handed_two[to], std::max(changed_.handed_two[now], changed_.handed_all[now]) + dropped);
    }
  }
  for (const StateIndex state : Indices<StateIndex>(states_.count())) {
    raise(values[state], std::max(changed_.handed_one[state], changed_.handed_two[state]));
  }
}

/// Changes in which nothing has to be created: where a slice could have existed next to the previous state, or
/// everywhere.
void JointChanges::take_at_once(bool is_everywhere, double* values) {
  std::vector<double>& given = changed_.given;
  for (const StateIndex state : Indices<StateIndex>(states_.count())) {
    for (const Edge& edge : states_.edges(state)) {
      double& more = given[edge.to];
      more = std::max(more, given[state]);
    }
  }
  for (const StateIndex state : Indices<StateIndex>(states_.count())) {
    if (!is_everywhere && can_also_train_[states_.room_of(state)] == 0) continue;
    values[state] = std::max({values[state], given[state], changed_.handed_all[state]});
  }
}

/// Another change before it, of pieces that are ready within a block.
void JointChanges::make_quickly(double* values) {
  for (StateIndex state(states_.count() - 1); state >= 0; --state) {
    double best = states_.may_begin(state) ? values[state] : kWorthless;
    for (int i = quick_begin_[state]; i < quick_begin_[state + 1]; ++i) {
      const Edge& edge = quick_edges_[i];
      best = std::max(best, changed_.given[edge.to] + costs_->given[edge.addition]);
    }
    changed_.given[state] = best;
    values[state] = std::max(values[state], best);
  }
  drop(values);
}

void JointChanges::drop(double* values) const {
  for (const StateIndex state : Indices<StateIndex>(states_.count())) {
    const double value = values[state];
    for (const Edge& edge : states_.edges(state)) {
      values[edge.to] = std::max(values[edge.to], value + costs_->dropped[edge.addition]);
    }
  }
}

}  // namespace berth::planner
