/// All combinations of the holdings of a GPU's services, and the transitions by one more piece.
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

#include "planner/one_gpu/detail/gpu_case.h"

namespace berth::planner {

/// Indices of the services' joint holdings, of one service's holdings, and of the ways to add one piece to a holding.
using StateIndex = Index<struct StateTag>;
using HoldingIndex = Index<struct HoldingTag>;
using AdditionIndex = Index<struct AdditionTag>;

/// Whether a piece keeps its variant, or all pieces take the best variants in each slot, which gives fewer states but a
/// weaker bound.
enum class Variants { kKept, kFree };

/// The worth of a state that is not allowed.
inline constexpr double kWorthless = -std::numeric_limits<double>::infinity();

/// Whether isolation and trust domains allow the two to share a GPU.
[[nodiscard]] bool may_be_neighbours(const ServiceTerms& a, const ServiceTerms& b);

class JointStates {
 public:
  /// Keeps a reference to the case. Not usable if there are more states than `states_max`.
  JointStates(const GpuCase& gpu_case, Variants variants, int states_max);

  /// One more piece: of one service, from one holding to the next.
  struct Addition {
    ServiceIndex service = ServiceIndex(0);
    HoldingIndex from = HoldingIndex(0);
    HoldingIndex to = HoldingIndex(0);
    KindIndex kind = KindIndex(0);
  };
  /// One more piece: from one state to the next.
  struct Edge {
    StateIndex to = StateIndex(0);
    std::int16_t addition = 0;
    std::int16_t is_last_of_kind = 0;  ///< of the edges of its state, which are in the order of kinds
  };

  [[nodiscard]] bool is_usable() const { return is_usable_; }
  [[nodiscard]] int count() const { return count_; }

  /// The number of a service's holdings, the sets of pieces that it may serve with. Holding 0 is empty.
  [[nodiscard]] int holdings(ServiceIndex service) const { return holdings_[service].count(); }
  [[nodiscard]] HoldingIndex holding_of(ServiceIndex service, BundleIndex bundle) const {
    return holdings_[service].of_bundle[bundle];
  }
  [[nodiscard]] bool keeps_floor(ServiceIndex service, HoldingIndex holding) const {
    return holdings_[service].keeps_floor[holding] != 0;
  }
  /// The common part of a holding with each other one, [holding].
  [[nodiscard]] const std::vector<HoldingIndex>& common_with(ServiceIndex service, HoldingIndex old);

  /// All additions, by service.
  [[nodiscard]] const std::vector<Addition>& additions() const { return additions_; }
  [[nodiscard]] AdditionIndex additions_begin(ServiceIndex service) const { return additions_begin_[service]; }

  /// The holdings of the services in a state, [service]; those of the next state follow in memory.
  [[nodiscard]] const std::uint16_t* held(StateIndex state) const { return held_.data() + ix(state) * ix(services_); }
  [[nodiscard]] RoomIndex room_of(StateIndex state) const { return rooms_[state]; }
  /// Whether isolation and trust domains allow a change to a state.
  [[nodiscard]] bool may_begin(StateIndex state) const { return may_begin_[state] != 0; }
  [[nodiscard]] std::span<const Edge> edges(StateIndex state) const {
    const std::span<const Edge> all(edges_);
    return all.subspan(ix(edges_begin_[state]), ix(edges_begin_[state + 1] - edges_begin_[state]));
  }

  /// The state in which the services hold these bundles, [service].
  [[nodiscard]] StateIndex state_of(const std::vector<BundleIndex>& bundles) const;
  /// The bundles that represent the holding of a service in a state.
  [[nodiscard]] const std::vector<BundleIndex>& bundles_of(StateIndex state, ServiceIndex service) const;

 private:
  struct Holdings {
    std::vector<std::vector<std::uint8_t>> counts;  ///< [holding][kind], or [holding][item] if variants are kept
    std::map<std::vector<std::uint8_t>, HoldingIndex> of_counts;
    std::vector<RoomIndex> room;                    ///< [holding]
    std::vector<HoldingIndex> of_bundle;            ///< [bundle]
    std::vector<std::vector<BundleIndex>> bundles;  ///< [holding]
    std::vector<AdditionIndex> additions_begin;     ///< [holding], holdings + 1: its additions, in the order of kinds
    std::vector<char> keeps_floor;                  ///< [holding]
    std::vector<std::vector<int>> rank;             ///< [room][holding], among those that fit next to the room, else -1
    std::vector<int> first_child;                   ///< [joint holding of the services before]
    std::vector<std::vector<HoldingIndex>> common;  ///< [holding][holding], computed on demand
    [[nodiscard]] int count() const { return static_cast<int>(room.size()); }
  };

  void add_holdings(ServiceIndex service);
  [[nodiscard]] std::vector<std::uint8_t> counts_by_kind(const Bundles& bundles,
                                                         const std::vector<std::uint8_t>& by_label) const;
  [[nodiscard]] bool count_states(int states_max);
  void make_states();
  void make_edges();
  [[nodiscard]] StateIndex number_of(const std::uint16_t* holdings) const;
  [[nodiscard]] bool may_stand(StateIndex state) const;

  const GpuCase& case_;
  Variants variants_;
  int services_;
  int kinds_;
  bool is_usable_ = false;
  int count_ = 0;
  std::vector<Holdings> holdings_;              ///< [service]
  std::vector<Addition> additions_;             ///< by service
  std::vector<AdditionIndex> additions_begin_;  ///< [service], services + 1
  std::vector<std::uint16_t> held_;             ///< [state x services + service], a holding
  std::vector<RoomIndex> rooms_;                ///< [state]
  std::vector<Edge> edges_;                     ///< by state
  std::vector<int> edges_begin_;                ///< [state], states + 1
  std::vector<char> may_begin_;                 ///< [state]
};

}  // namespace berth::planner
