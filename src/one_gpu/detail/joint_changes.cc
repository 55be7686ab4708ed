#include "one_gpu/detail/joint_changes.h"

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

JointChanges::JointChanges(const GpuCase& gpu_case, const JointStates& states, const std::vector<int>& stale_services)
    : case_(gpu_case), states_(states), trained_services_(static_cast<int>(stale_services.size())) {
  const Rooms& rooms = gpu_case.rooms;
  trains_on_.assign(ix(rooms.kinds()), 0);
  trains_beside_.assign(ix(rooms.count()), 0);
  for (const int service : stale_services) {
    for (int kind = 0; kind < rooms.kinds(); ++kind) {
      if (gpu_case.progress_rate(service, kind) <= 0) continue;
      trains_on_[ix(kind)] = 1;
      for (int room = 0; room < rooms.count(); ++room) {
        if (rooms.add(room, kind) != kNoRoom) trains_beside_[ix(room)] = 1;
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
  for (const JointStates::Step& step : states_.steps())
    soonest = std::min(soonest, case_.start_slots[ix(step.service)]);
  quick_rounds_ = soonest > 0 && soonest < block_slots ? (block_slots + soonest - 1) / soonest : 0;
  quick_edges_.clear();
  quick_begin_.clear();
  if (quick_rounds_ == 0) return;
  quick_begin_.push_back(0);
  for (int state = 0; state < states_.count(); ++state) {
    for (const Edge& edge : states_.edges(state)) {
      const int service = states_.steps()[ix(edge.step)].service;
      if (case_.start_slots[ix(service)] < block_slots) quick_edges_.push_back(edge);
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

/// What a state is worth if pieces that it takes over in the next slot began to be created in this one, while
/// retraining used their room. It comes before all other changes, which may lead to the state in this slot: what they
/// hand over or drop is not created. Backward over the states, as in add_pieces.
void JointChanges::take_while_training(const std::vector<double>& rewards, double* values) {
  if (rewards.empty()) return;
  const auto without_reward = [&](int state) {
    return (states_.may_begin(state) ? values[state] : kWorthless) - rewards[ix(states_.room_of(state))];
  };
  // No more slices retrain at once than there are services for it.
  const bool is_one = trained_services_ == 1;
  for (int state = states_.count() - 1; state >= 0; --state) {
    double training = kWorthless;
    for (const Edge& edge : states_.edges(state)) {
      if (trains_on_[ix(states_.steps()[ix(edge.step)].kind)] == 0) continue;
      const double next = is_one ? kWorthless : training_[ix(edge.to)];
      training = std::max(training, std::max(without_reward(edge.to), next) + costs_->created[ix(edge.step)]);
    }
    training_[ix(state)] = training;
  }
  for (int state = 0; state < states_.count(); ++state) {
    values[state] = std::max(values[state], training_[ix(state)] + rewards[ix(states_.room_of(state))]);
  }
}

/// Backward: what is added, one by one, from the last state on; who hands over.
void JointChanges::add_pieces(const double* values) {
  std::ranges::fill(changed_.handed_one, kWorthless);
  std::ranges::fill(changed_.handed_all, kWorthless);
  for (int state = states_.count() - 1; state >= 0; --state) {
    double created = states_.may_begin(state) ? values[state] : kWorthless;
    double given = created;
    for (const Edge& edge : states_.edges(state)) {
      created = std::max(created, changed_.created[ix(edge.to)] + costs_->created[ix(edge.step)]);
      given = std::max(given, changed_.given[ix(edge.to)] + costs_->given[ix(edge.step)]);
    }
    changed_.created[ix(state)] = created;
    changed_.given[ix(state)] = given;
    hand_over(state);
  }
}

/// A piece more of one service in the place of one of another that a larger state drops.
void JointChanges::hand_over(int state) {
  TwoLargest one;
  TwoLargest all;
  const std::span<const Edge> edges = states_.edges(state);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& taker = edges[i];
    one.add(changed_.created[ix(taker.to)] + costs_->given[ix(taker.step)]);
    all.add(changed_.given[ix(taker.to)] + costs_->given[ix(taker.step)]);
    if (taker.is_last_of_kind == 0) continue;
    for (; begin <= i; ++begin) {
      const Edge& giver = edges[begin];
      const double cost = costs_->given[ix(giver.step)];
      const double dropped = costs_->dropped[ix(giver.step)];
      double& by_one = changed_.handed_one[ix(giver.to)];
      by_one = std::max(by_one, one.without(changed_.created[ix(giver.to)] + cost) + dropped);
      double& by_all = changed_.handed_all[ix(giver.to)];
      by_all = std::max(by_all, all.without(changed_.given[ix(giver.to)] + cost) + dropped);
    }
    one = all = {};
  }
}

/// Forward: what is dropped before, one by one.
void JointChanges::drop_pieces(double* values) {
  const auto raise = [](double& value, double other) { value = std::max(value, other); };
  std::ranges::fill(changed_.handed_two, kWorthless);
  for (int state = 0; state < states_.count(); ++state) raise(values[state], changed_.created[ix(state)]);
  for (int state = 0; state < states_.count(); ++state) {
    const std::size_t now = ix(state);
    for (const Edge& edge : states_.edges(state)) {
      const std::size_t to = ix(edge.to);
      const double dropped = costs_->dropped[ix(edge.step)];
      raise(values[to], values[state] + dropped - costs_->price);
      raise(changed_.handed_one[to], changed_.handed_one[now] + dropped - costs_->price);
      raise(changed_.handed_all[to], changed_.handed_all[now] + dropped);
      raise(changed_.handed_two[to], std::max(changed_.handed_two[now], changed_.handed_all[now]) + dropped);
    }
  }
  for (int state = 0; state < states_.count(); ++state) {
    raise(values[state], std::max(changed_.handed_one[ix(state)], changed_.handed_two[ix(state)]));
  }
}

/// Nothing of the change has to be created: where something could have stood beside the state before, or everywhere.
void JointChanges::take_at_once(bool is_everywhere, double* values) {
  std::vector<double>& given = changed_.given;
  for (int state = 0; state < states_.count(); ++state) {
    for (const Edge& edge : states_.edges(state)) {
      double& more = given[ix(edge.to)];
      more = std::max(more, given[ix(state)]);
    }
  }
  for (int state = 0; state < states_.count(); ++state) {
    if (!is_everywhere && trains_beside_[ix(states_.room_of(state))] == 0) continue;
    values[state] = std::max({values[state], given[ix(state)], changed_.handed_all[ix(state)]});
  }
}

/// A change before that one, of pieces that get ready within a block.
void JointChanges::make_quickly(double* values) {
  for (int state = states_.count() - 1; state >= 0; --state) {
    double best = states_.may_begin(state) ? values[state] : kWorthless;
    for (int i = quick_begin_[ix(state)]; i < quick_begin_[ix(state + 1)]; ++i) {
      const Edge& edge = quick_edges_[ix(i)];
      best = std::max(best, changed_.given[ix(edge.to)] + costs_->given[ix(edge.step)]);
    }
    changed_.given[ix(state)] = best;
    values[state] = std::max(values[state], best);
  }
  drop(values);
}

void JointChanges::drop(double* values) const {
  for (int state = 0; state < states_.count(); ++state) {
    const double value = values[state];
    for (const Edge& edge : states_.edges(state)) {
      values[edge.to] = std::max(values[edge.to], value + costs_->dropped[ix(edge.step)]);
    }
  }
}

}  // namespace berth::planner
