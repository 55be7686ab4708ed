/// The columns of one GPU: which pieces are part of its configuration, which begin, and whether it changes.
///
/// Steps are the slots in which the GPU may change: step k, from 1 on, is the k-th of them, and step 0 is the
/// configuration at slot 0. Between two steps nothing changes, so columns by step suffice for all slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/window/testing/candidate_pieces.h"
#include "planner/window/testing/program_builder.h"

namespace berth::planner::testing {

/// A candidate and its columns by step. Requires everywhere: the step exists.
class PieceColumns {
 public:
  explicit PieceColumns(const CandidatePiece& terms) : terms_(terms) {}

  /// Adds the columns of the next step. `price` is the cost of each slice that is created.
  void add_step(double price, ProgramBuilder& program);

  [[nodiscard]] const CandidatePiece& terms() const { return terms_; }
  [[nodiscard]] const Piece& piece() const { return terms_.piece; }
  [[nodiscard]] bool begins_in(BeginWay way) const { return terms_.delays[way].has_value(); }

  /// 1 if the piece is part of the configuration from the step on.
  [[nodiscard]] LinearSum present(std::size_t step) const;
  /// The column of `present`. Requires: step > 0.
  [[nodiscard]] int present_column(std::size_t step) const;
  /// 1 if it begins at the step, in any way. Requires here and below: step > 0.
  [[nodiscard]] LinearSum begins(std::size_t step) const;
  /// The column of its beginning in one way. Requires: begins_in(way).
  [[nodiscard]] int begin_column(BeginWay way, std::size_t step) const;

 private:
  CandidatePiece terms_;
  std::vector<int> present_;             ///< [step - 1]
  ByBeginWay<std::vector<int>> begins_;  ///< [step - 1], or empty
};

class GpuColumns {
 public:
  /// Adds the columns, step by step.
  GpuColumns(const Problem& problem, GpuIndex gpu, ProgramBuilder& program);

  /// The number of steps without step 0.
  [[nodiscard]] std::size_t step_count() const { return change_slots_.size(); }
  /// Requires: 1 <= step <= step_count().
  [[nodiscard]] SlotIndex slot_of(std::size_t step) const;
  /// The last step that is not after the slot.
  [[nodiscard]] std::size_t step_at(SlotIndex slot) const;
  [[nodiscard]] bool may_change_in(SlotIndex slot) const;

  [[nodiscard]] const std::vector<PieceColumns>& pieces() const { return pieces_; }
  [[nodiscard]] const std::vector<std::uint64_t>& cliques() const { return cliques_; }
  /// The column that is 1 if the GPU changes at the step. Requires: 1 <= step <= step_count().
  [[nodiscard]] int change_column(std::size_t step) const;

  /// The beginnings before `step_end` after which the piece is not yet ready in `slot`. Not separate columns, which
  /// would make the library many times slower.
  [[nodiscard]] LinearSum warming(const PieceColumns& candidate, SlotIndex slot, std::size_t step_end) const;
  /// 1 if the piece works in the slot. In the tail every piece works.
  [[nodiscard]] LinearSum ready(const PieceColumns& candidate, SlotIndex slot) const;
  /// The earliest slot in which the piece can work, for any values of the columns.
  [[nodiscard]] SlotIndex first_ready(const PieceColumns& candidate) const;

 private:
  int slots_;  ///< of the window
  std::vector<SlotIndex> change_slots_;
  std::vector<PieceColumns> pieces_;
  std::vector<std::uint64_t> cliques_;
  std::vector<int> changes_;  ///< [step - 1]
};

}  // namespace berth::planner::testing
