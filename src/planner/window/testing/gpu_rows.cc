#include "planner/window/testing/gpu_rows.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace berth::planner::testing {
namespace {

class GpuRows {
 public:
  GpuRows(const Problem& problem, GpuIndex gpu, const GpuColumns& columns, ProgramBuilder& program)
      : problem_(problem),
        terms_(problem.gpus[gpu]),
        model_(model_of(problem, gpu)),
        is_slow_(slow_kinds_of(problem, model_)),
        gpu_(columns),
        program_(program) {}

  void add_all() {
    for (std::size_t k = 1; k <= gpu_.step_count(); ++k) add_step(k);
    for (const PinnedSite& pin : terms_.pins) add_pin(pin);
    add_isolation();
    add_moves_elsewhere();
  }

 private:
  void add_step(std::size_t k) {
    for (const PieceColumns& candidate : gpu_.pieces()) {
      add_presence(candidate, k);
      if (candidate.piece().use == kRetraining && candidate.terms().may_begin()) add_promptness(candidate, k);
    }
    for (const std::uint64_t clique : gpu_.cliques()) add_clique(clique, k);
    add_slices(k);
    if (problem_.change_price > 0) add_destroyed(k);
  }

  /// A piece is there only if it was there or begins; one that begins stays until it is ready.
  void add_presence(const PieceColumns& candidate, std::size_t k) {
    LinearSum appears = candidate.present(k);
    appears.add(-1, candidate.present(k - 1));
    appears.add(-1, candidate.begins(k));
    program_.add_at_most_zero(std::move(appears));
    if (!candidate.terms().may_begin()) return;
    LinearSum stays = candidate.begins(k);
    stays.add(1, gpu_.warming(candidate, gpu_.slot_of(k), k));
    stays.add(-1, candidate.present(k));
    program_.add_at_most_zero(std::move(stays));
  }

  /// More progress can be worth less (a model done too early starts again when it is due): a retraining piece may
  /// neither begin again while it is there nor begin in a slower way than necessary.
  void add_promptness(const PieceColumns& candidate, std::size_t k) {
    const SiteIndex site = candidate.piece().site;
    LinearSum again = candidate.present(k - 1);
    again.constant -= 1;
    again.add(1, candidate.begins(k));
    program_.add_at_most_zero(std::move(again));
    LinearSum created = constant_sum(-1);
    LinearSum slowly;
    LinearSum taken;
    for (const PieceColumns& old : gpu_.pieces()) {
      if (old.piece().site == site) created.add(1, old.present(k - 1));
      if (!has_site(model_.sites[site].clashes, old.piece().site)) continue;
      taken.add(-1, old.present(k - 1));
      if (is_slow(old)) slowly.add(-1, old.present(k - 1));
    }
    for (const BeginWay way : kCreatingWays) {
      if (candidate.begins_in(way)) created.add(1, candidate.begin_column(way, k));
    }
    const int slowest = candidate.begin_column(BeginWay::kInTakenRoom, k);
    taken.add(1, slowest);
    slowly.add(1, slowest);
    if (candidate.begins_in(BeginWay::kInQuickRoom)) {
      taken.add(1, candidate.begin_column(BeginWay::kInQuickRoom, k));
      program_.add_at_most_zero(std::move(slowly));
    }
    if (candidate.begins_in(BeginWay::kOnSlice)) program_.add_at_most_zero(std::move(created));
    if (candidate.begins_in(BeginWay::kInFreeRoom)) program_.add_at_most_zero(std::move(taken));
  }

  /// For the sites of a clique: at most one piece; ends and beginnings are changes; no change while a piece is warming
  /// up; free room is free, and quick room has no slice that is destroyed slowly.
  void add_clique(std::uint64_t clique, std::size_t k) {
    LinearSum one = constant_sum(-1);
    LinearSum end;
    LinearSum begin;
    LinearSum busy = constant_sum(-1);
    LinearSum free = constant_sum(-1);
    LinearSum quick = constant_sum(-1);
    bool has_quick = false;
    for (const PieceColumns& candidate : gpu_.pieces()) {
      if (!has_site(clique, candidate.piece().site)) continue;
      one.add(1, candidate.present(k));
      end.add(1, candidate.present(k - 1));
      end.add(1, candidate.begins(k));
      end.add(-1, candidate.present(k));
      begin.add(1, candidate.begins(k));
      busy.add(1, gpu_.warming(candidate, gpu_.slot_of(k), k));
      free.add(1, candidate.present(k - 1));
      if (candidate.begins_in(BeginWay::kInFreeRoom)) free.add(1, candidate.begin_column(BeginWay::kInFreeRoom, k));
      if (is_slow(candidate)) quick.add(1, candidate.present(k - 1));
      if (!candidate.begins_in(BeginWay::kInQuickRoom)) continue;
      quick.add(1, candidate.begin_column(BeginWay::kInQuickRoom, k));
      has_quick = true;
    }
    end.add(-1, gpu_.change_column(k));
    begin.add(-1, gpu_.change_column(k));
    program_.add_at_most_zero(std::move(one));
    program_.add_at_most_zero(std::move(end));
    program_.add_at_most_zero(std::move(begin));
    if (!busy.is_constant()) {
      busy.add(1, gpu_.change_column(k));
      program_.add_at_most_zero(std::move(busy));
    }
    program_.add_at_most_zero(std::move(free));
    if (has_quick) program_.add_at_most_zero(std::move(quick));
  }

  /// Only an existing slice gets another owner or use.
  void add_slices(std::size_t k) {
    std::vector<LinearSum> sums(model_.sites.size());
    std::uint64_t used = 0;
    for (const PieceColumns& candidate : gpu_.pieces()) {
      const SiteIndex site = candidate.piece().site;
      LinearSum& sum = sums[site];
      sum.add(-1, candidate.present(k - 1));
      if (!candidate.begins_in(BeginWay::kOnSlice)) continue;
      sum.add(1, candidate.begin_column(BeginWay::kOnSlice, k));
      used |= std::uint64_t{1} << site;
    }
    for (const SiteIndex site : indices_of<SiteIndex>(sums)) {
      if (has_site(used, site)) program_.add_at_most_zero(std::move(sums[site]));
    }
  }

  /// A slice is destroyed if there was one and there is none now.
  void add_destroyed(std::size_t k) {
    for (const SiteIndex site : indices_of<SiteIndex>(model_.sites)) {
      LinearSum lost;
      for (const PieceColumns& candidate : gpu_.pieces()) {
        if (candidate.piece().site != site) continue;
        lost.add(1, candidate.present(k - 1));
        lost.add(-1, candidate.present(k));
      }
      lost.add(-1, program_.add_column({.gain = -problem_.change_price}));
      program_.add_at_most_zero(std::move(lost));
    }
  }

  /// From the first change on the owner holds the site; if it already does, always.
  void add_pin(const PinnedSite& pin) {
    const auto held = [&](std::size_t step) {
      LinearSum sum;
      for (const PieceColumns& candidate : gpu_.pieces()) {
        const bool is_held = candidate.piece().site == pin.site && candidate.piece().service == pin.service;
        if (is_held) sum.add(1, candidate.present(step));
      }
      return sum;
    };
    for (std::size_t k = 1; k <= gpu_.step_count(); ++k) {
      LinearSum keeps = held(k - 1);
      keeps.add(-1, held(k));
      program_.add_at_most_zero(std::move(keeps));
      LinearSum gets = column_sum(gpu_.change_column(k));
      gets.add(-1, held(k));
      program_.add_at_most_zero(std::move(gets));
    }
  }

  /// Pieces of one group at a time; standing pieces that violate the rule may stay until the first change.
  void add_isolation() {
    std::vector<SharingGroup> groups;
    std::vector<SharingGroup> standing;
    const auto note = [](std::vector<SharingGroup>& list, const SharingGroup& group) {
      if (std::ranges::find(list, group) == list.end()) list.push_back(group);
    };
    for (const PieceColumns& candidate : gpu_.pieces()) {
      if (candidate.piece().service == kNoService) continue;
      note(groups, group_of(candidate));
      if (candidate.terms().ready_in) note(standing, group_of(candidate));
    }
    if (groups.size() < 2) return;
    std::optional<int> untouched_before;
    for (std::size_t k = 1; k <= gpu_.step_count(); ++k) {
      LinearSum one = constant_sum(-1);
      LinearSum untouched;
      if (standing.size() > 1) {
        untouched_before = add_untouched(untouched_before, k);
        untouched.add(1, *untouched_before);
        one.add(1, untouched);
      }
      for (const SharingGroup& group : groups) one.add(1, add_group(group, k, untouched));
      program_.add_at_most_zero(std::move(one));
    }
  }

  /// Returns a column that can be 1 only until the GPU changes. `before` is that of the step before.
  int add_untouched(std::optional<int> before, std::size_t k) {
    const int column = program_.add_column({});
    LinearSum falls = constant_sum(-1);
    falls.add(1, column);
    falls.add(1, gpu_.change_column(k));
    program_.add_at_most_zero(std::move(falls));
    if (before) {
      LinearSum stays_touched = column_sum(column);
      stays_touched.add(-1, *before);
      program_.add_at_most_zero(std::move(stays_touched));
    }
    return column;
  }

  /// Returns a column that is 1 if pieces of the group are on the GPU, unless it is untouched.
  int add_group(const SharingGroup& group, std::size_t k, const LinearSum& untouched) {
    const int column = program_.add_column({});
    for (const std::uint64_t clique : gpu_.cliques()) {
      LinearSum sum;
      for (const PieceColumns& candidate : gpu_.pieces()) {
        if (candidate.piece().service == kNoService || !has_site(clique, candidate.piece().site)) continue;
        if (group_of(candidate) == group) sum.add(1, candidate.present(k));
      }
      if (sum.is_constant()) continue;
      sum.add(-1, column);
      sum.add(-1, untouched);
      program_.add_at_most_zero(std::move(sum));
    }
    return column;
  }

  /// A standing piece that retrains a service that retrains elsewhere ends with the first change.
  void add_moves_elsewhere() {
    for (const PieceColumns& candidate : gpu_.pieces()) {
      const Piece& piece = candidate.piece();
      if (piece.service == kNoService || piece.use != kRetraining) continue;
      if (!problem_.services[piece.service].retrains_elsewhere) continue;
      for (std::size_t k = 1; k <= gpu_.step_count(); ++k) {
        LinearSum sum = candidate.present(k);
        sum.constant = -1;
        sum.add(1, gpu_.change_column(k));
        program_.add_at_most_zero(std::move(sum));
      }
    }
  }

  [[nodiscard]] bool is_slow(const PieceColumns& candidate) const {
    return is_slow_[model_.sites[candidate.piece().site].kind] != 0;
  }
  [[nodiscard]] SharingGroup group_of(const PieceColumns& candidate) const {
    return sharing_group_of(problem_, candidate.piece().service);
  }

  const Problem& problem_;
  const GpuTerms& terms_;
  const ModelTerms& model_;
  std::vector<char> is_slow_;  ///< [kind], it is destroyed slowly
  const GpuColumns& gpu_;
  ProgramBuilder& program_;
};

}  // namespace

void add_gpu_rows(const Problem& problem, GpuIndex gpu, const GpuColumns& columns, ProgramBuilder& program) {
  GpuRows(problem, gpu, columns, program).add_all();
}

}  // namespace berth::planner::testing
