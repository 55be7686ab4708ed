/// The choices of a GPU, before there are columns: the possible pieces, the ways in which each may begin, the slots in
/// which the GPU may change, and the sites of which only one can be taken.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "planner/window/problem.h"

namespace berth::planner::testing {

/// Where a piece begins: on an existing slice, in free room, in room occupied only by slices that are destroyed
/// quickly, or in occupied room. The last is the slowest and is always possible.
enum class BeginWay : std::uint8_t { kOnSlice, kInFreeRoom, kInQuickRoom, kInTakenRoom };
inline constexpr std::array kBeginWays = {BeginWay::kOnSlice, BeginWay::kInFreeRoom, BeginWay::kInQuickRoom,
                                          BeginWay::kInTakenRoom};
/// The ways in which the slice is created.
inline constexpr std::array kCreatingWays = {BeginWay::kInFreeRoom, BeginWay::kInQuickRoom, BeginWay::kInTakenRoom};

/// A value for each way.
template <class Value>
class ByBeginWay {
 public:
  [[nodiscard]] const Value& operator[](BeginWay way) const { return values_[static_cast<std::size_t>(way)]; }
  [[nodiscard]] Value& operator[](BeginWay way) { return values_[static_cast<std::size_t>(way)]; }

 private:
  std::array<Value, kBeginWays.size()> values_ = {};
};

/// A piece that is on a GPU or may be.
struct CandidatePiece {
  Piece piece;
  std::optional<int> ready_in = std::nullopt;  ///< slots; nothing: not there at slot 0
  /// Slots from the beginning to ready. Nothing: the piece does not begin in this way, because it may not begin at all
  /// or another way is equivalent.
  ByBeginWay<std::optional<int>> delays = {};

  /// Whether it may begin: every such piece may begin in occupied room.
  [[nodiscard]] bool may_begin() const { return delays[BeginWay::kInTakenRoom].has_value(); }
};

/// Which kinds of slices of a model are not destroyed in the shortest time, [kind]. Requires: they all take the same
/// time.
[[nodiscard]] std::vector<char> slow_kinds_of(const Problem& problem, const ModelTerms& model);

/// The candidates, ascending by piece. Left out, unless they are there at slot 0: pieces without a rate, retraining of
/// models that are never stale, and pieces that cannot exist next to the pins.
[[nodiscard]] std::vector<CandidatePiece> candidate_pieces_of(const Problem& problem, GpuIndex gpu);

/// The slots in which the GPU may change, ascending: free, not frozen, with all standing pieces ready.
[[nodiscard]] std::vector<SlotIndex> change_slots_of(const Problem& problem, GpuIndex gpu);

/// Sets of sites of which any two clash; together they cover every pair of sites that clash. On a real GPU: its
/// placement units.
[[nodiscard]] std::vector<std::uint64_t> cliques_of(const ModelTerms& model);

/// Isolation and trust: only pieces of one group may be on a GPU together.
struct SharingGroup {
  bool is_alone = false;
  int number = 0;  ///< the service, if it must be alone; else the trust domain
  friend bool operator==(const SharingGroup&, const SharingGroup&) = default;
};
[[nodiscard]] SharingGroup sharing_group_of(const Problem& problem, ServiceIndex service);

[[nodiscard]] const ModelTerms& model_of(const Problem& problem, GpuIndex gpu);
/// Requires: an owned piece.
[[nodiscard]] const Rates& rates_of(const Problem& problem, GpuIndex gpu, const Piece& piece);
[[nodiscard]] inline bool has_site(std::uint64_t sites, SiteIndex site) { return (sites >> site & 1) != 0; }

}  // namespace berth::planner::testing
