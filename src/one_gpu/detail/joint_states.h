/// All combinations of what the services of a GPU may hold, and the transitions by one more piece.
///
/// A state is the number of pieces of each kind with which each service serves, by variant if variants are kept; places
/// are ignored, except that all pieces fit on the GPU. States are numbered so that one more piece leads to a larger
/// number.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "one_gpu/detail/gpu_case.h"

namespace berth::planner {

/// Whether a piece keeps its variant, or all pieces take the best ones in each slot: fewer states, a weaker bound.
enum class Variants { kKept, kFree };

/// The worth of a state that is not allowed.
inline constexpr double kWorthless = -std::numeric_limits<double>::infinity();

/// Isolation and trust domains allow the two to share a GPU.
[[nodiscard]] bool may_be_neighbours(const ServiceTerms& a, const ServiceTerms& b);

class JointStates {
 public:
  /// Keeps a reference to the case. Not usable if there are more states than `states_max`.
  JointStates(const GpuCase& gpu_case, Variants variants, int states_max);

  /// One more piece: of one service, from one holding to the next.
  struct Step {
    int service = 0;
    int from = 0;
    int to = 0;
    int kind = 0;
  };
  /// One more piece: from one state to the next.
  struct Edge {
    std::int32_t to = 0;
    std::int16_t step = 0;
    std::int16_t is_last_of_kind = 0;  ///< of the edges of its state, which are in the order of kinds
  };

  [[nodiscard]] bool is_usable() const { return is_usable_; }
  [[nodiscard]] int count() const { return count_; }

  /// Holdings of a service: what it may serve with. 0 is nothing.
  [[nodiscard]] int holdings(int service) const { return holdings_[ix(service)].count(); }
  [[nodiscard]] int holding_of(int service, int bundle) const { return holdings_[ix(service)].of_bundle[ix(bundle)]; }
  [[nodiscard]] bool keeps_floor(int service, int holding) const {
    return holdings_[ix(service)].keeps_floor[ix(holding)] != 0;
  }
  /// [holding], its common part with another one.
  [[nodiscard]] const std::vector<int>& common_with(int service, int old);

  /// By service.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] int steps_begin(int service) const { return steps_begin_[ix(service)]; }

  /// What the services hold in a state, [service]; those of the next state follow.
  [[nodiscard]] const std::uint16_t* held(int state) const { return held_.data() + ix(state) * ix(services_); }
  [[nodiscard]] int room_of(int state) const { return rooms_[ix(state)]; }
  /// Whether isolation and trust domains allow a change to a state.
  [[nodiscard]] bool may_begin(int state) const { return may_begin_[ix(state)] != 0; }
  [[nodiscard]] std::span<const Edge> edges(int state) const {
    const std::span<const Edge> all(edges_);
    return all.subspan(ix(edges_begin_[ix(state)]), ix(edges_begin_[ix(state + 1)] - edges_begin_[ix(state)]));
  }

  /// The number of what the services hold, [service] a bundle each.
  [[nodiscard]] int state_of(const std::vector<int>& bundles) const;
  /// The bundles that represent the holding of a service in a state.
  [[nodiscard]] const std::vector<int>& bundles_of(int state, int service) const;

 private:
  struct Holdings {
    std::vector<std::vector<std::uint8_t>> counts;  ///< [holding][kind], or [label] where variants are kept
    std::map<std::vector<std::uint8_t>, int> of_counts;
    std::vector<int> room;                  ///< [holding]
    std::vector<int> of_bundle;             ///< [bundle]
    std::vector<std::vector<int>> bundles;  ///< [holding]
    std::vector<int> steps_begin;           ///< [holding], holdings + 1: its steps, in the order of kinds
    std::vector<char> keeps_floor;          ///< [holding]
    std::vector<std::vector<int>> rank;     ///< [room][holding], among those that fit beside the room; -1
    std::vector<int> first_child;           ///< [what the services before hold]
    std::vector<std::vector<int>> common;   ///< [holding][holding], made when asked for
    [[nodiscard]] int count() const { return static_cast<int>(room.size()); }
  };

  void add_holdings(int service);
  [[nodiscard]] std::vector<std::uint8_t> counts_by_kind(const Bundles& bundles,
                                                         const std::vector<std::uint8_t>& by_label) const;
  [[nodiscard]] bool count_states(int states_max);
  void make_states();
  void make_edges();
  [[nodiscard]] int number_of(const std::uint16_t* holdings) const;
  [[nodiscard]] bool may_stand(int state) const;

  const GpuCase& case_;
  Variants variants_;
  int services_;
  int kinds_;
  bool is_usable_ = false;
  int count_ = 0;
  std::vector<Holdings> holdings_;   ///< [service]
  std::vector<Step> steps_;          ///< by service
  std::vector<int> steps_begin_;     ///< [service], services + 1
  std::vector<std::uint16_t> held_;  ///< [state x services + service], a holding
  std::vector<int> rooms_;           ///< [state]
  std::vector<Edge> edges_;          ///< by state
  std::vector<int> edges_begin_;     ///< [state], states + 1
  std::vector<char> may_begin_;      ///< [state]
};

}  // namespace berth::planner
