#include "window/testing/integer_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "base/ensure.h"
#include "window/check.h"

namespace berth::planner {
namespace {

/// A progress that is less than 1 is less by so much: above the library's tolerance.
constexpr double kLessThanDone = 1e-5;
/// How far two objectives may differ and be equal, as a share.
constexpr double kSameObjective = 1e-6;

/// A linear expression.
struct LinearSum {
  double constant = 0;
  std::vector<solver::Entry> entries;

  void add(double factor, int column) { entries.push_back({.column = column, .factor = factor}); }
  void add(double factor, const LinearSum& other) {
    constant += factor * other.constant;
    for (const solver::Entry& entry : other.entries) add(factor * entry.factor, entry.column);
  }
  [[nodiscard]] bool is_constant() const { return entries.empty(); }
};

/// Columns and rows as they are made. Maximises; the library minimises.
class ProgramBuilder {
 public:
  /// A column of [0, upper] that is worth `gain` each.
  int add_column(double upper, double gain, bool is_integer) {
    model_.columns.push_back({.cost = -gain, .lower = 0, .upper = upper, .is_integer = is_integer});
    return static_cast<int>(model_.columns.size()) - 1;
  }

  /// sum <= 0.
  void add_at_most_zero(LinearSum sum) { add_row(std::move(sum), false); }
  /// sum = 0.
  void add_equal_zero(LinearSum sum) { add_row(std::move(sum), true); }

  [[nodiscard]] bool is_contradictory() const { return is_contradictory_; }
  [[nodiscard]] const solver::LinearModel& model() const { return model_; }

 private:
  /// One entry a column; the largest factor becomes 1, so that the library's absolute tolerance is a share.
  void add_row(LinearSum sum, bool is_equation) {
    std::ranges::sort(sum.entries, {}, &solver::Entry::column);
    solver::Row row;
    double largest = 0;
    for (const solver::Entry& entry : sum.entries) {
      if (!row.entries.empty() && row.entries.back().column == entry.column) {
        row.entries.back().factor += entry.factor;
      } else {
        row.entries.push_back(entry);
      }
    }
    std::erase_if(row.entries, [](const solver::Entry& entry) { return std::abs(entry.factor) < 1e-12; });
    for (const solver::Entry& entry : row.entries) largest = std::max(largest, std::abs(entry.factor));
    if (row.entries.empty()) {
      constexpr double kTiny = 1e-9;
      if (sum.constant > kTiny || (is_equation && sum.constant < -kTiny)) is_contradictory_ = true;
      return;
    }
    for (solver::Entry& entry : row.entries) entry.factor /= largest;
    row.upper = -sum.constant / largest;
    if (is_equation) row.lower = row.upper;
    model_.rows.push_back(std::move(row));
  }

  solver::LinearModel model_;
  bool is_contradictory_ = false;
};

/// How a piece begins: on a slice that stands, in free room, or in room that is taken (or in any: the slowest).
enum Beginning : std::size_t { kOnSlice, kInFreeRoom, kInTakenRoom, kBeginnings };

/// A piece that stands on a GPU or may.
struct Candidate {
  Piece piece;
  bool stands = false;
  int ready_in = 0;  ///< where it stands
  bool may_begin = false;
  std::array<int, kBeginnings> delay = {};           ///< slots; -1: not needed
  std::vector<int> present;                          ///< [step - 1], columns
  std::array<std::vector<int>, kBeginnings> begins;  ///< [step - 1], columns
};

/// Steps are the slots in which a GPU may change: step k is slot steps[k - 1], step 0 is what stands.
struct GpuColumns {
  std::vector<int> steps;
  std::vector<Candidate> candidates;
  std::vector<std::uint64_t> cliques;  ///< sets of sites of which any two clash
  std::vector<int> changes;            ///< [step - 1], columns
};

/// What a piece gives a service in a slot.
struct Offer {
  int variant = 0;
  double rate = 0;
  LinearSum ready;
};

/// A part of the load between two levels; `weight` is the share of the samples that reach it.
struct Segment {
  double width = 0;
  double weight = 0;
  double level = 0;  ///< its upper end
};

/// Seconds of a service in which its pieces and its load stand still.
struct Stretch {
  std::size_t service = 0;
  int slot = 0;                    ///< slots: the tail
  std::vector<double> stale_gain;  ///< [variant], of one answer
  std::vector<double> fresh_gain;
  LinearSum fresh;  ///< 0 or 1
};

/// A stretch of time from a due slot (or slot 0) to the next (or the end) in which the model begins stale and not done.
struct Epoch {
  int begin = 0;
  int end = 0;
  std::vector<LinearSum> progress;  ///< [slot - begin + 1], at the end of the slot; 0: at the begin
  std::vector<double> progress_max;
  [[nodiscard]] std::size_t after(int slot) const {
    const int index = slot - begin + 1;
    return static_cast<std::size_t>(index);
  }
};

class IntegerProgram {
 public:
  explicit IntegerProgram(const Problem& problem) : problem_(problem) {
    for (std::size_t g = 0; g < problem.gpus.size(); ++g) add_gpu(g);
    for (std::size_t s = 0; s < problem.services.size(); ++s) {
      add_retraining_limit(s);
      add_floor(s);
      add_budget(s);
      add_value(s);
    }
  }

  [[nodiscard]] const ProgramBuilder& program() const { return program_; }

  [[nodiscard]] Schedule schedule_of(const std::vector<double>& values) const {
    Schedule schedule;
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      schedule.gpus.emplace_back();
      Configuration now;
      for (const StandingPiece& standing : problem_.gpus[g].standing) now.push_back(standing.piece);
      for (std::size_t k = 1; k <= gpus_[g].steps.size(); ++k) {
        Configuration next;
        for (const Candidate& candidate : gpus_[g].candidates) {
          if (values[at(candidate.present[k - 1])] > 0.5) next.push_back(candidate.piece);
        }
        if (next == now) continue;
        schedule.gpus[g].push_back({.slot = gpus_[g].steps[k - 1], .to = next});
        now = next;
      }
    }
    return schedule;
  }

 private:
  [[nodiscard]] static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] const ModelTerms& model_of(std::size_t g) const { return problem_.models[at(problem_.gpus[g].model)]; }
  [[nodiscard]] const Rates& rates_of(std::size_t g, const Piece& piece) const {
    return model_of(g).rates[at(model_of(g).sites[at(piece.site)].kind)][at(piece.service)];
  }
  [[nodiscard]] static bool has(std::uint64_t sites, int site) { return (sites >> site & 1) != 0; }

  // ---- candidates

  /// Isolation and trust: only pieces of one group stand on a GPU together.
  [[nodiscard]] std::pair<bool, int> group_of(int service) const {
    const ServiceTerms& terms = problem_.services[at(service)];
    return terms.is_alone_on_gpu ? std::pair(true, service) : std::pair(false, terms.trust_domain);
  }

  /// Pins hold in every configuration after a change: what cannot stand beside them cannot begin.
  [[nodiscard]] bool agrees_with_pins(std::size_t g, const Piece& piece) const {
    return std::ranges::all_of(problem_.gpus[g].pins, [&](const PinnedSite& pin) {
      if (group_of(pin.service) != group_of(piece.service)) return false;
      if (pin.site == piece.site) return pin.service == piece.service;
      return !has(model_of(g).sites[at(pin.site)].clashes, piece.site);
    });
  }

  [[nodiscard]] bool is_useful(std::size_t g, const Piece& piece) const {
    if (piece.use != kRetraining) return rates_of(g, piece).requests_per_second[at(piece.use)] > 0;
    const ServiceTerms& service = problem_.services[at(piece.service)];
    if (!service.retraining || service.retrains_elsewhere || rates_of(g, piece).retraining_slots <= 0) return false;
    const bool is_pinned =
        std::ranges::any_of(problem_.gpus[g].pins, [&](const PinnedSite& pin) { return pin.site == piece.site; });
    return service.retraining->is_stale || !service.retraining->due_slots.empty() || is_pinned;
  }

  void add_candidates(std::size_t g) {
    GpuColumns& gpu = gpus_[g];
    const auto add = [&](const Piece& piece) {
      if (is_useful(g, piece) && agrees_with_pins(g, piece)) {
        gpu.candidates.push_back({.piece = piece, .may_begin = true, .present = {}, .begins = {}});
      }
    };
    for (int site = 0; at(site) < model_of(g).sites.size(); ++site) {
      for (int service = 0; at(service) < problem_.services.size(); ++service) {
        for (int use = kRetraining; use < static_cast<int>(problem_.services[at(service)].variants.size()); ++use) {
          add({.site = site, .service = service, .use = use});
        }
      }
    }
    for (const StandingPiece& standing : problem_.gpus[g].standing) {
      auto found = std::ranges::find(gpu.candidates, standing.piece, &Candidate::piece);
      if (found == gpu.candidates.end()) {
        gpu.candidates.push_back({.piece = standing.piece, .present = {}, .begins = {}});
        found = gpu.candidates.end() - 1;
      }
      found->stands = true;
      found->ready_in = standing.ready_in;
    }
    std::ranges::sort(gpu.candidates, {}, &Candidate::piece);
  }

  [[nodiscard]] static int rounded(double seconds) { return static_cast<int>(std::floor(seconds + 0.5 + 1e-9)); }

  void set_delays(Candidate& candidate) const {
    candidate.delay = {-1, -1, -1};
    if (!candidate.may_begin) return;
    const ServiceTerms& service = problem_.services[at(candidate.piece.service)];
    const double begin = problem_.plumbing_seconds + (candidate.piece.use == kRetraining ? 0 : service.start_seconds);
    const int on_slice = rounded(begin);
    const int in_free = rounded(begin + problem_.create_seconds);
    const int in_taken = rounded(begin + problem_.create_seconds + problem_.destroy_seconds);
    candidate.delay[kInTakenRoom] = in_taken;
    if (in_free < in_taken) candidate.delay[kInFreeRoom] = in_free;
    const bool counts_slices = service.changes_max >= 0 || problem_.change_price > 0;
    if (on_slice < in_taken || counts_slices) candidate.delay[kOnSlice] = on_slice;
  }

  void set_steps(std::size_t g) {
    int first = problem_.gpus[g].free_from;
    for (const StandingPiece& standing : problem_.gpus[g].standing) first = std::max(first, standing.ready_in);
    for (int slot = std::max(first, 0); slot < problem_.slots; ++slot) {
      const bool is_frozen = !problem_.is_frozen.empty() && problem_.is_frozen[at(slot)] != 0;
      if (!is_frozen) gpus_[g].steps.push_back(slot);
    }
  }

  /// Cliques that together hold every two sites that clash. On a real GPU: its placement units.
  [[nodiscard]] static std::vector<std::uint64_t> cliques_of(const ModelTerms& model) {
    std::vector<std::uint64_t> cliques;
    const int count = static_cast<int>(model.sites.size());
    for (int a = 0; a < count; ++a) {
      for (int b = a; b < count; ++b) {
        const bool clash = has(model.sites[at(a)].clashes, b);
        const auto holds_both = [&](std::uint64_t clique) { return has(clique, a) && has(clique, b); };
        if (!clash || std::ranges::any_of(cliques, holds_both)) continue;
        std::uint64_t clique = std::uint64_t{1} << a | std::uint64_t{1} << b;
        for (int c = 0; c < count; ++c) {
          if ((clique & ~model.sites[at(c)].clashes) == 0) clique |= std::uint64_t{1} << c;
        }
        cliques.push_back(clique);
      }
    }
    return cliques;
  }

  // ---- expressions

  [[nodiscard]] static LinearSum present(const Candidate& candidate, std::size_t step) {
    LinearSum sum;
    if (step == 0) {
      sum.constant = candidate.stands ? 1 : 0;
    } else {
      sum.add(1, candidate.present[step - 1]);
    }
    return sum;
  }

  /// Begins of a step, in every way that is offered.
  [[nodiscard]] static LinearSum begins(const Candidate& candidate, std::size_t step) {
    LinearSum sum;
    for (std::size_t way = 0; way < kBeginnings; ++way) {
      if (candidate.delay[way] >= 0) sum.add(1, candidate.begins[way][step - 1]);
    }
    return sum;
  }

  /// Begins of steps before `step_end` after which the piece is not ready in `slot` yet. Not columns of their own: the
  /// library is many times slower with them.
  [[nodiscard]] static LinearSum warming(const GpuColumns& gpu, const Candidate& candidate, int slot,
                                         std::size_t step_end) {
    LinearSum sum;
    for (std::size_t way = 0; way < kBeginnings; ++way) {
      for (std::size_t k = 1; k < step_end && candidate.delay[way] >= 0; ++k) {
        if (gpu.steps[k - 1] + candidate.delay[way] > slot) sum.add(1, candidate.begins[way][k - 1]);
      }
    }
    return sum;
  }

  /// The last step that is not after a slot.
  [[nodiscard]] static std::size_t step_at(const GpuColumns& gpu, int slot) {
    return static_cast<std::size_t>(std::ranges::upper_bound(gpu.steps, slot) - gpu.steps.begin());
  }

  /// 1 where the piece works in the slot. In the tail every piece does.
  [[nodiscard]] LinearSum ready(const GpuColumns& gpu, const Candidate& candidate, int slot) const {
    const std::size_t step = step_at(gpu, slot);
    if (slot < problem_.slots && candidate.stands && slot < candidate.ready_in) return {};
    LinearSum sum = present(candidate, step);
    if (slot < problem_.slots) sum.add(-1, warming(gpu, candidate, slot, step + 1));
    return sum;
  }

  // ---- one GPU

  void add_gpu(std::size_t g) {
    gpus_.emplace_back();
    set_steps(g);
    add_candidates(g);
    GpuColumns& gpu = gpus_[g];
    gpu.cliques = cliques_of(model_of(g));
    for (Candidate& candidate : gpu.candidates) set_delays(candidate);
    for (std::size_t k = 1; k <= gpu.steps.size(); ++k) {
      gpu.changes.push_back(program_.add_column(1, 0, true));
      for (Candidate& candidate : gpu.candidates) {
        candidate.present.push_back(program_.add_column(1, 0, true));
        for (std::size_t way = 0; way < kBeginnings; ++way) {
          const double gain = way == kOnSlice ? 0 : -problem_.change_price;
          if (candidate.delay[way] < 0) continue;
          candidate.begins[way].push_back(program_.add_column(1, gain, kAreBeginsIntegers));
        }
      }
    }
    for (std::size_t k = 1; k <= gpu.steps.size(); ++k) {
      for (const Candidate& candidate : gpu.candidates) {
        add_candidate_rows(gpu, candidate, k);
        if (candidate.piece.use == kRetraining && candidate.may_begin)
          add_promptness_rows(model_of(g), gpu, candidate, k);
      }
      for (const std::uint64_t clique : gpu.cliques) add_clique_rows(gpu, clique, k);
      add_slice_rows(gpu, k);
      if (problem_.change_price > 0) add_destroyed(g, k);
    }
    add_pins(g);
    add_groups(g);
    add_moves_elsewhere(g);
  }

  /// A slice is destroyed where one stood and none stands.
  void add_destroyed(std::size_t g, std::size_t k) {
    for (int site = 0; at(site) < model_of(g).sites.size(); ++site) {
      LinearSum lost;
      for (const Candidate& candidate : gpus_[g].candidates) {
        if (candidate.piece.site != site) continue;
        lost.add(1, present(candidate, k - 1));
        lost.add(-1, present(candidate, k));
      }
      lost.add(-1, program_.add_column(1, -problem_.change_price, false));
      program_.add_at_most_zero(std::move(lost));
    }
  }

  /// A piece is there only if it was or begins; one that begins stays until it is ready.
  void add_candidate_rows(const GpuColumns& gpu, const Candidate& candidate, std::size_t k) {
    LinearSum appears = present(candidate, k);
    appears.add(-1, present(candidate, k - 1));
    appears.add(-1, begins(candidate, k));
    program_.add_at_most_zero(std::move(appears));
    if (!candidate.may_begin) return;
    LinearSum stays = begins(candidate, k);
    stays.add(1, warming(gpu, candidate, gpu.steps[k - 1], k));
    stays.add(-1, present(candidate, k));
    program_.add_at_most_zero(std::move(stays));
  }

  /// More progress can be worth less (a model done too early starts again when it is due): a piece that retrains may
  /// neither begin again while it is there nor in a slower way than it must.
  void add_promptness_rows(const ModelTerms& model, const GpuColumns& gpu, const Candidate& candidate, std::size_t k) {
    const bool is_quicker_on_slice = candidate.delay[kOnSlice] >= 0;
    LinearSum again = present(candidate, k - 1);
    again.constant -= 1;
    again.add(1, begins(candidate, k));
    program_.add_at_most_zero(std::move(again));
    LinearSum created{.constant = -1, .entries = {}};
    LinearSum taken;
    for (const Candidate& old : gpu.candidates) {
      if (old.piece.site == candidate.piece.site) created.add(1, present(old, k - 1));
      if (has(model.sites[at(candidate.piece.site)].clashes, old.piece.site)) taken.add(-1, present(old, k - 1));
    }
    for (const Beginning way : {kInFreeRoom, kInTakenRoom}) {
      if (candidate.delay[way] >= 0) created.add(1, candidate.begins[way][k - 1]);
    }
    taken.add(1, candidate.begins[kInTakenRoom][k - 1]);
    if (is_quicker_on_slice) program_.add_at_most_zero(std::move(created));
    if (candidate.delay[kInFreeRoom] >= 0) program_.add_at_most_zero(std::move(taken));
  }

  /// On a unit: one piece at most; ends and begins are changes; no change while a piece warms up; free room is free.
  void add_clique_rows(const GpuColumns& gpu, std::uint64_t clique, std::size_t k) {
    LinearSum one{.constant = -1, .entries = {}};
    LinearSum end;
    LinearSum begin;
    LinearSum busy{.constant = -1, .entries = {}};
    LinearSum free{.constant = -1, .entries = {}};
    for (const Candidate& candidate : gpu.candidates) {
      if (!has(clique, candidate.piece.site)) continue;
      one.add(1, present(candidate, k));
      end.add(1, present(candidate, k - 1));
      end.add(1, begins(candidate, k));
      end.add(-1, present(candidate, k));
      begin.add(1, begins(candidate, k));
      busy.add(1, warming(gpu, candidate, gpu.steps[k - 1], k));
      free.add(1, present(candidate, k - 1));
      if (candidate.delay[kInFreeRoom] >= 0) free.add(1, candidate.begins[kInFreeRoom][k - 1]);
    }
    end.add(-1, gpu.changes[k - 1]);
    begin.add(-1, gpu.changes[k - 1]);
    program_.add_at_most_zero(std::move(one));
    program_.add_at_most_zero(std::move(end));
    program_.add_at_most_zero(std::move(begin));
    if (!busy.is_constant()) {
      busy.add(1, gpu.changes[k - 1]);
      program_.add_at_most_zero(std::move(busy));
    }
    program_.add_at_most_zero(std::move(free));
  }

  /// Only a slice that stands can be given on.
  void add_slice_rows(const GpuColumns& gpu, std::size_t k) {
    std::vector<LinearSum> sites(64);
    std::uint64_t used = 0;
    for (const Candidate& candidate : gpu.candidates) {
      LinearSum& sum = sites[at(candidate.piece.site)];
      sum.add(-1, present(candidate, k - 1));
      if (candidate.delay[kOnSlice] < 0) continue;
      sum.add(1, candidate.begins[kOnSlice][k - 1]);
      used |= std::uint64_t{1} << candidate.piece.site;
    }
    for (int site = 0; site < 64; ++site) {
      if (has(used, site)) program_.add_at_most_zero(std::move(sites[at(site)]));
    }
  }

  /// From the first change on the owner holds the site; where it does already, always.
  void add_pins(std::size_t g) {
    const GpuColumns& gpu = gpus_[g];
    for (const PinnedSite& pin : problem_.gpus[g].pins) {
      const auto held = [&](std::size_t step) {
        LinearSum sum;
        for (const Candidate& candidate : gpu.candidates) {
          const bool is_held = candidate.piece.site == pin.site && candidate.piece.service == pin.service;
          if (is_held) sum.add(1, present(candidate, step));
        }
        return sum;
      };
      for (std::size_t k = 1; k <= gpu.steps.size(); ++k) {
        LinearSum keeps = held(k - 1);
        keeps.add(-1, held(k));
        program_.add_at_most_zero(std::move(keeps));
        LinearSum gets;
        gets.add(1, gpu.changes[k - 1]);
        gets.add(-1, held(k));
        program_.add_at_most_zero(std::move(gets));
      }
    }
  }

  /// Pieces of one group at a time; what stands together against the rule may until the first change.
  void add_groups(std::size_t g) {
    const GpuColumns& gpu = gpus_[g];
    std::vector<std::pair<bool, int>> groups;
    std::vector<std::pair<bool, int>> standing;
    const auto note = [](auto& list, const auto& group) {
      if (std::ranges::find(list, group) == list.end()) list.push_back(group);
    };
    for (const Candidate& candidate : gpu.candidates) {
      if (candidate.piece.service == kNobody) continue;
      note(groups, group_of(candidate.piece.service));
      if (candidate.stands) note(standing, group_of(candidate.piece.service));
    }
    if (groups.size() < 2) return;
    int untouched_before = -1;
    for (std::size_t k = 1; k <= gpu.steps.size(); ++k) {
      LinearSum one{.constant = -1, .entries = {}};
      LinearSum untouched;
      if (standing.size() > 1) {
        const int column = program_.add_column(1, 0, false);
        untouched.add(1, column);
        LinearSum falls = untouched;
        falls.constant = -1;
        falls.add(1, gpu.changes[k - 1]);
        program_.add_at_most_zero(std::move(falls));
        if (untouched_before >= 0) {
          LinearSum stays_touched = untouched;
          stays_touched.add(-1, untouched_before);
          program_.add_at_most_zero(std::move(stays_touched));
        }
        untouched_before = column;
        one.add(1, untouched);
      }
      for (const auto& group : groups) add_group(gpu, group, k, untouched, one);
      program_.add_at_most_zero(std::move(one));
    }
  }

  void add_group(const GpuColumns& gpu, std::pair<bool, int> group, std::size_t k, const LinearSum& untouched,
                 LinearSum& one) {
    const int column = program_.add_column(1, 0, false);
    one.add(1, column);
    for (const std::uint64_t clique : gpu.cliques) {
      LinearSum sum;
      for (const Candidate& candidate : gpu.candidates) {
        if (candidate.piece.service == kNobody || !has(clique, candidate.piece.site)) continue;
        if (group_of(candidate.piece.service) == group) sum.add(1, present(candidate, k));
      }
      if (sum.is_constant()) continue;
      sum.add(-1, column);
      sum.add(-1, untouched);
      program_.add_at_most_zero(std::move(sum));
    }
  }

  /// What stands and retrains a service that retrains elsewhere goes with the first change.
  void add_moves_elsewhere(std::size_t g) {
    const GpuColumns& gpu = gpus_[g];
    for (const Candidate& candidate : gpu.candidates) {
      if (candidate.piece.service == kNobody || candidate.piece.use != kRetraining) continue;
      if (!problem_.services[at(candidate.piece.service)].retrains_elsewhere) continue;
      for (std::size_t k = 1; k <= gpu.steps.size(); ++k) {
        LinearSum sum = present(candidate, k);
        sum.constant = -1;
        sum.add(1, gpu.changes[k - 1]);
        program_.add_at_most_zero(std::move(sum));
      }
    }
  }

  // ---- rules of a service

  /// Calls `visit(slot)` for the first slot and each in which some GPU has another step than before.
  template <class Visit>
  void for_each_new_slot(int begin, const Visit& visit) const {
    for (int slot = begin; slot < problem_.slots; ++slot) {
      const auto steps = [&](const GpuColumns& gpu) { return std::ranges::binary_search(gpu.steps, slot); };
      if (slot == begin || std::ranges::any_of(gpus_, steps)) visit(slot);
    }
  }

  template <class Factor>
  [[nodiscard]] LinearSum sum_of_present(std::size_t service, int slot, const Factor& factor) const {
    LinearSum sum;
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      for (const Candidate& candidate : gpus_[g].candidates) {
        if (candidate.piece.service != static_cast<int>(service)) continue;
        const double number = factor(g, candidate.piece);
        if (number != 0) sum.add(number, present(candidate, step_at(gpus_[g], slot)));
      }
    }
    return sum;
  }

  void add_retraining_limit(std::size_t service) {
    if (problem_.services[service].retrains_elsewhere) return;
    for_each_new_slot(0, [&](int slot) {
      LinearSum sum = sum_of_present(
          service, slot, [](std::size_t, const Piece& piece) { return piece.use == kRetraining ? 1.0 : 0.0; });
      sum.constant -= 1;
      program_.add_at_most_zero(std::move(sum));
    });
  }

  /// More than what lacks counts as what lacks: the tighter row.
  void add_floor(std::size_t service) {
    constexpr double kMayLack = 1e-9;
    const ServiceTerms& terms = problem_.services[service];
    const double lacks = terms.floor_rate * (1 - kMayLack) - terms.outside_floor_rate;
    if (terms.floor_rate <= 0 || lacks <= 0) return;
    for_each_new_slot(std::max<int>(problem_.floors_from, 0), [&](int slot) {
      LinearSum sum = sum_of_present(service, slot, [&](std::size_t g, const Piece& piece) {
        if (piece.use == kRetraining) return 0.0;
        return -std::min(1.0, rates_of(g, piece).requests_per_second[at(piece.use)] / lacks);
      });
      sum.constant += 1;
      program_.add_at_most_zero(std::move(sum));
    });
  }

  void add_budget(std::size_t service) {
    const int limit = problem_.services[service].changes_max;
    if (limit < 0) return;
    LinearSum used{.constant = -static_cast<double>(limit), .entries = {}};
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      for (int site = 0; at(site) < model_of(g).sites.size(); ++site) {
        for (std::size_t k = 1; k <= gpus_[g].steps.size(); ++k) add_changed(gpus_[g], service, site, k, used);
      }
    }
    program_.add_at_most_zero(std::move(used));
  }

  void add_changed(const GpuColumns& gpu, std::size_t service, int site, std::size_t k, LinearSum& used) {
    LinearSum lost;
    bool may_lose = false;
    for (const Candidate& candidate : gpu.candidates) {
      if (candidate.piece.site != site) continue;
      lost.add(-1, present(candidate, k));
      if (candidate.piece.service != static_cast<int>(service)) continue;
      lost.add(1, present(candidate, k - 1));
      may_lose = true;
      for (const Beginning way : {kInFreeRoom, kInTakenRoom}) {
        if (candidate.delay[way] >= 0) used.add(1, candidate.begins[way][k - 1]);
      }
    }
    if (!may_lose) return;
    const int destroyed = program_.add_column(1, 0, false);
    lost.add(-1, destroyed);
    program_.add_at_most_zero(std::move(lost));
    used.add(1, destroyed);
  }

  // ---- value

  [[nodiscard]] std::vector<Offer> offers_of(std::size_t service, int slot) const {
    std::vector<Offer> offers;
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      for (const Candidate& candidate : gpus_[g].candidates) {
        const Piece& piece = candidate.piece;
        if (piece.service != static_cast<int>(service) || piece.use == kRetraining) continue;
        Offer offer{.variant = piece.use,
                    .rate = rates_of(g, piece).requests_per_second[at(piece.use)],
                    .ready = ready(gpus_[g], candidate, slot)};
        const bool is_nothing = offer.ready.is_constant() && offer.ready.constant == 0;
        if (offer.rate > 0 && !is_nothing) offers.push_back(std::move(offer));
      }
    }
    return offers;
  }

  [[nodiscard]] std::vector<Segment> segments_of(std::size_t service, int slot) const {
    const std::span<const double> loads(problem_.services[service].loads);
    const std::size_t samples = at(problem_.samples);
    const std::span<const double> here = loads.subspan(at(slot) * samples, samples);
    std::vector<double> levels(here.begin(), here.end());
    std::ranges::sort(levels);
    std::vector<Segment> segments;
    double level = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      const double weight = static_cast<double>(samples - i) / static_cast<double>(samples);
      if (levels[i] > level) segments.push_back({.width = levels[i] - level, .weight = weight, .level = levels[i]});
      level = std::max(level, levels[i]);
    }
    return segments;
  }

  void add_value(std::size_t service) {
    const ServiceTerms& terms = problem_.services[service];
    std::vector<LinearSum> fresh(at(problem_.slots), LinearSum{.constant = 1, .entries = {}});
    LinearSum tail_fresh{.constant = 1, .entries = {}};
    if (terms.retraining) {
      tail_fresh = add_retraining(service, fresh);
      add_fresh_value(terms.retraining->fresh_value, tail_fresh);
    }
    const auto gains = [&](double VariantTerms::* accuracy, double seconds) {
      std::vector<double> values;
      values.reserve(terms.variants.size());
      for (const VariantTerms& variant : terms.variants) values.push_back(terms.value * seconds * variant.*accuracy);
      return values;
    };
    for (int slot = 0; slot < problem_.slots; ++slot) {
      add_stretch({.service = service,
                   .slot = slot,
                   .stale_gain = gains(&VariantTerms::accuracy_before, 1),
                   .fresh_gain = gains(&VariantTerms::accuracy_after, 1),
                   .fresh = fresh[at(slot)]});
    }
    const double tail = problem_.tail_seconds;
    const double first = terms.retraining ? std::min(tail, terms.retraining->tail_fresh_seconds) : tail;
    if (first > 0) {
      add_stretch({.service = service,
                   .slot = problem_.slots,
                   .stale_gain = gains(&VariantTerms::accuracy_before, first),
                   .fresh_gain = gains(&VariantTerms::accuracy_after, first),
                   .fresh = tail_fresh});
    }
    if (tail - first > 0) {
      const std::vector<double> rest = gains(&VariantTerms::accuracy_before, tail - first);
      add_stretch({.service = service, .slot = problem_.slots, .stale_gain = rest, .fresh_gain = rest, .fresh = {}});
    }
  }

  void add_fresh_value(double worth, const LinearSum& tail_fresh) {
    ENSURE(worth >= 0);
    if (worth <= 0) return;
    LinearSum counted;
    counted.add(1, program_.add_column(1, worth, false));
    counted.add(-1, tail_fresh);
    program_.add_at_most_zero(std::move(counted));
  }

  /// Answers by variant and segment, before and after the retraining.
  struct Answers {
    std::vector<std::vector<int>> stale;  ///< [variant][segment], columns; empty: none
    std::vector<std::vector<int>> fresh;
  };

  void add_stretch(const Stretch& stretch) {
    const std::vector<Offer> offers = offers_of(stretch.service, stretch.slot);
    const std::vector<Segment> segments = segments_of(stretch.service, stretch.slot);
    const std::size_t variants = stretch.stale_gain.size();
    std::vector<double> outside(variants);
    const std::vector<double>& given = problem_.services[stretch.service].outside;
    for (std::size_t v = 0; v < variants && !given.empty(); ++v) outside[v] = given[at(stretch.slot) * variants + v];
    Answers answers{.stale = std::vector<std::vector<int>>(variants), .fresh = std::vector<std::vector<int>>(variants)};
    for (std::size_t v = 0; v < variants; ++v) {
      const auto serves = [&](const Offer& offer) { return at(offer.variant) == v; };
      if (outside[v] <= 0 && std::ranges::none_of(offers, serves)) continue;
      add_answers(stretch, segments, v, answers);
      add_capacity_rows(offers, outside, segments, answers, static_cast<int>(v));
    }
    if (variants > 1) add_capacity_rows(offers, outside, segments, answers, kAllVariants);
    for (std::size_t k = 0; k < segments.size(); ++k) add_segment_rows(stretch, segments[k], k, answers);
  }

  void add_answers(const Stretch& stretch, const std::vector<Segment>& segments, std::size_t v, Answers& answers) {
    const bool may_be_fresh = !stretch.fresh.is_constant() || stretch.fresh.constant > 0.5;
    const bool may_be_stale = !stretch.fresh.is_constant() || stretch.fresh.constant < 0.5;
    for (const Segment& segment : segments) {
      const auto add = [&](double gain) { return program_.add_column(segment.width, gain * segment.weight, false); };
      if (may_be_stale) answers.stale[v].push_back(add(stretch.stale_gain[v]));
      if (may_be_fresh) answers.fresh[v].push_back(add(stretch.fresh_gain[v]));
    }
  }

  /// The answers up to each level, of one variant or all, are at most what the ready pieces serve. A piece that serves
  /// more than the level counts as the level: the tighter row, and the one of the highest level says it all where no
  /// piece is so large.
  void add_capacity_rows(const std::vector<Offer>& offers, const std::vector<double>& outside,
                         const std::vector<Segment>& segments, const Answers& answers, int variant) {
    double given = 0;
    for (std::size_t v = 0; v < outside.size(); ++v) {
      if (variant == kAllVariants || at(variant) == v) given += outside[v];
    }
    const auto counts = [&](const Offer& offer) { return variant == kAllVariants || offer.variant == variant; };
    for (std::size_t k = 0; k < segments.size(); ++k) {
      const double level = segments[k].level - given;
      if (level <= 0) continue;
      const auto is_large = [&](const Offer& offer) { return counts(offer) && offer.rate > level; };
      const bool is_last = k + 1 == segments.size();
      if (!is_last && std::ranges::none_of(offers, is_large)) continue;
      LinearSum sum{.constant = -given, .entries = {}};
      for (std::size_t v = 0; v < outside.size(); ++v) {
        if (variant != kAllVariants && at(variant) != v) continue;
        for (std::size_t j = 0; j <= k; ++j) {
          if (!answers.stale[v].empty()) sum.add(1, answers.stale[v][j]);
          if (!answers.fresh[v].empty()) sum.add(1, answers.fresh[v][j]);
        }
      }
      for (const Offer& offer : offers) {
        if (counts(offer)) sum.add(-std::min(offer.rate, level), offer.ready);
      }
      program_.add_at_most_zero(std::move(sum));
    }
  }

  /// A segment is answered once; with the fresh model while it is fresh, and with the stale one while it is not.
  void add_segment_rows(const Stretch& stretch, const Segment& segment, std::size_t k, const Answers& answers) {
    LinearSum stale;
    LinearSum fresh;
    int columns = 0;
    for (std::size_t v = 0; v < answers.stale.size(); ++v) {
      if (!answers.stale[v].empty()) stale.add(1, answers.stale[v][k]);
      if (!answers.fresh[v].empty()) fresh.add(1, answers.fresh[v][k]);
      columns += (answers.stale[v].empty() ? 0 : 1) + (answers.fresh[v].empty() ? 0 : 1);
    }
    if (columns < 2) return;
    LinearSum both = stale;
    both.add(1, fresh);
    both.constant -= segment.width;
    program_.add_at_most_zero(std::move(both));
    if (stretch.fresh.is_constant()) return;
    fresh.add(-segment.width, stretch.fresh);
    program_.add_at_most_zero(std::move(fresh));
    if (!is_worse_fresh(stretch.service)) return;
    stale.constant -= segment.width;
    stale.add(segment.width, stretch.fresh);
    program_.add_at_most_zero(std::move(stale));
  }

  // ---- retraining

  /// Some variant is less accurate after a retraining: freshness must be forced.
  [[nodiscard]] bool is_worse_fresh(std::size_t service) const {
    return std::ranges::any_of(problem_.services[service].variants, [](const VariantTerms& variant) {
      return variant.accuracy_before > variant.accuracy_after;
    });
  }

  [[nodiscard]] LinearSum progress_in(std::size_t service, int slot) const {
    LinearSum sum;
    const ServiceTerms& terms = problem_.services[service];
    if (!terms.outside_progress.empty()) sum.constant = terms.outside_progress[at(slot)];
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      for (const Candidate& candidate : gpus_[g].candidates) {
        if (candidate.piece.service != static_cast<int>(service) || candidate.piece.use != kRetraining) continue;
        const double slots_on = rates_of(g, candidate.piece).retraining_slots;
        if (slots_on > 0) sum.add(1 / slots_on, ready(gpus_[g], candidate, slot));
      }
    }
    return sum;
  }

  /// At most one piece retrains at a time.
  [[nodiscard]] double progress_in_max(std::size_t service, int slot) const {
    const ServiceTerms& terms = problem_.services[service];
    double largest = 0;
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      for (const Candidate& candidate : gpus_[g].candidates) {
        if (candidate.piece.service != static_cast<int>(service) || candidate.piece.use != kRetraining) continue;
        const double slots_on = rates_of(g, candidate.piece).retraining_slots;
        if (slots_on <= 0 || slot < first_ready(gpus_[g], candidate)) continue;
        largest = std::max(largest, 1 / slots_on);
      }
    }
    return largest + (terms.outside_progress.empty() ? 0 : terms.outside_progress[at(slot)]);
  }

  [[nodiscard]] int first_ready(const GpuColumns& gpu, const Candidate& candidate) const {
    if (candidate.stands) return candidate.ready_in;
    int delay = problem_.slots;
    for (const int slots : candidate.delay) {
      if (slots >= 0) delay = std::min(delay, slots);
    }
    return gpu.steps.empty() ? problem_.slots : gpu.steps.front() + delay;
  }

  /// Fills `fresh` by slot; gives whether the tail begins fresh or done.
  LinearSum add_retraining(std::size_t service, std::vector<LinearSum>& fresh) {
    const RetrainingTerms& terms = *problem_.services[service].retraining;
    LinearSum always{.constant = 1, .entries = {}};
    int begin = 0;
    LinearSum carried{.constant = terms.progress, .entries = {}};
    double carried_max = terms.progress;
    bool is_open = terms.is_stale && terms.fresh_in == 0;
    int fresh_from = terms.is_stale ? terms.fresh_in : 0;  // where it is not open
    std::vector<int> ends(terms.due_slots.begin(), terms.due_slots.end());
    ends.push_back(problem_.slots);
    for (const int end : ends) {
      if (is_open) {
        const Epoch epoch = add_epoch(service, begin, end, carried, carried_max);
        add_freshness(service, epoch, fresh);
        if (end == problem_.slots) return add_tail_freshness(service, epoch, fresh);
        std::tie(carried, carried_max) = add_carried(service, epoch);
      } else {
        for (int slot = begin; slot < end; ++slot) fresh[at(slot)] = slot >= fresh_from ? always : LinearSum{};
        carried = {};
        carried_max = 0;
      }
      begin = end;
      if (end < problem_.slots) is_open = true;
    }
    return always;
  }

  /// Columns of the progress at the end of each slot.
  Epoch add_epoch(std::size_t service, int begin, int end, const LinearSum& carried, double carried_max) {
    Epoch epoch{.begin = begin, .end = end, .progress = {carried}, .progress_max = {carried_max}};
    for (int slot = begin; slot < end; ++slot) {
      LinearSum sum = epoch.progress.back();
      sum.add(1, progress_in(service, slot));
      epoch.progress_max.push_back(epoch.progress_max.back() + progress_in_max(service, slot));
      if (!sum.is_constant()) {
        const int column = program_.add_column(solver::kInfinity, 0, false);
        sum.add(-1, column);
        program_.add_equal_zero(std::move(sum));
        sum = {};
        sum.add(1, column);
      }
      epoch.progress.push_back(std::move(sum));
    }
    return epoch;
  }

  /// A column that may be 1 only where the progress is done, and must be where it is and `is_forced`. 0 where that
  /// cannot be.
  LinearSum add_done(const LinearSum& progress, double progress_max, bool is_forced) {
    if (progress_max < kDone - 1e-12) return {};
    const int column = program_.add_column(1, 0, true);
    LinearSum allowed;
    allowed.add(kDone, column);
    allowed.add(-1, progress);
    program_.add_at_most_zero(std::move(allowed));
    LinearSum done;
    done.add(1, column);
    if (!is_forced) return done;
    LinearSum forced = progress;
    forced.constant -= 1 - kLessThanDone;
    forced.add(-(progress_max - (1 - kLessThanDone)), column);
    program_.add_at_most_zero(std::move(forced));
    return done;
  }

  void add_freshness(std::size_t service, const Epoch& epoch, std::vector<LinearSum>& fresh) {
    const int swap = problem_.services[service].retraining->swap_slots;
    for (int slot = epoch.begin; slot < epoch.end; ++slot) {
      LinearSum& here = fresh[at(slot)];
      here = {};
      if (slot - 1 - swap < epoch.begin - 1) continue;
      const std::size_t last = epoch.after(slot - 1 - swap);
      here = add_done(epoch.progress[last], epoch.progress_max[last], is_worse_fresh(service));
      if (slot == epoch.begin || fresh[at(slot - 1)].is_constant()) continue;
      LinearSum stays = fresh[at(slot - 1)];
      stays.add(-1, here);
      program_.add_at_most_zero(std::move(stays));
    }
  }

  LinearSum add_tail_freshness(std::size_t service, const Epoch& epoch, const std::vector<LinearSum>& fresh) {
    const double worth = problem_.services[service].retraining->progress_value;
    ENSURE(worth >= 0);
    const LinearSum& progress = epoch.progress.back();
    LinearSum done = add_done(progress, epoch.progress_max.back(), worth > 0 || is_worse_fresh(service));
    if (epoch.end > epoch.begin && !fresh[at(epoch.end - 1)].is_constant()) {
      LinearSum stays = fresh[at(epoch.end - 1)];
      stays.add(-1, done);
      program_.add_at_most_zero(std::move(stays));
    }
    if (worth <= 0) return done;
    const int counted = program_.add_column(1, worth, false);
    LinearSum reached;
    reached.add(1, counted);
    reached.add(-1, progress);
    program_.add_at_most_zero(std::move(reached));
    LinearSum unfinished = done;
    unfinished.constant -= 1;
    unfinished.add(1, counted);
    program_.add_at_most_zero(std::move(unfinished));
    return done;
  }

  /// The progress with which the next epoch begins: all of it where it is kept and was not done before the due slot.
  std::pair<LinearSum, double> add_carried(std::size_t service, const Epoch& epoch) {
    if (!problem_.services[service].retraining->keeps_unfinished) return {LinearSum{}, 0};
    if (epoch.begin == epoch.end) return {epoch.progress.front(), epoch.progress_max.front()};
    const LinearSum& last = epoch.progress.back();
    const std::size_t before = epoch.after(epoch.end - 2);
    const LinearSum done = add_done(epoch.progress[before], epoch.progress_max[before], true);
    if (done.is_constant()) return {last, epoch.progress_max.back()};
    const double most = std::min(epoch.progress_max.back(), 1 + progress_in_max(service, epoch.end - 1));
    LinearSum kept;
    kept.add(1, program_.add_column(most, 0, false));
    LinearSum not_more = kept;
    not_more.add(-1, last);
    program_.add_at_most_zero(std::move(not_more));
    LinearSum none = kept;
    none.constant -= most;
    none.add(most, done);
    program_.add_at_most_zero(std::move(none));
    LinearSum not_less = last;
    not_less.add(-1, kept);
    not_less.add(-epoch.progress_max.back(), done);
    program_.add_at_most_zero(std::move(not_less));
    return {kept, most};
  }

  static constexpr int kAllVariants = -1;
  /// They are whole by themselves where the rest is; the library's cuts are better when it is told.
  static constexpr bool kAreBeginsIntegers = true;

  const Problem& problem_;
  ProgramBuilder program_;
  std::vector<GpuColumns> gpus_;
};

/// The library's solver of integer programs knows no answer without integer columns.
solver::MipAnswer solve_program(const solver::LinearModel& model, const solver::MipLimits& limits) {
  if (std::ranges::any_of(model.columns, &solver::Column::is_integer)) return solver::solve_mip(model, limits);
  const solver::LpAnswer answer = solver::solve_lp(model);
  return {.status = answer.status,
          .objective = answer.objective,
          .bound = answer.status == solver::Status::kOptimal ? answer.objective : -solver::kInfinity,
          .values = answer.values};
}

/// Nothing changes.
Answer standstill(const Problem& problem) {
  Answer answer;
  answer.schedule.gpus.resize(problem.gpus.size());
  answer.objective = -std::numeric_limits<double>::infinity();
  if (!find_fault(problem, answer.schedule)) answer.objective = evaluate(problem, answer.schedule).objective;
  return answer;
}

}  // namespace

IntegerModelSize integer_model_size(const Problem& problem) {
  const IntegerProgram program(problem);
  const solver::LinearModel& model = program.program().model();
  return {.columns = static_cast<int>(model.columns.size()),
          .integers = static_cast<int>(std::ranges::count(model.columns, true, &solver::Column::is_integer)),
          .rows = static_cast<int>(model.rows.size())};
}

Answer solve_by_integer_program(const Problem& problem, const solver::MipLimits& limits) {
  const IntegerProgram program(problem);
  Answer answer = standstill(problem);
  solver::MipAnswer found{.status = solver::Status::kInfeasible, .values = {}};
  solver::MipLimits exact = limits;
  exact.is_reduced_first = false;
  if (!program.program().is_contradictory()) found = solve_program(program.program().model(), exact);
  if (found.status == solver::Status::kInfeasible) {
    answer.is_infeasible = true;
    answer.bound = answer.objective;
    return answer;
  }
  answer.bound = -found.bound;
  if (!found.values.empty()) {
    Schedule schedule = program.schedule_of(found.values);
    if (!find_fault(problem, schedule)) {
      const double objective = evaluate(problem, schedule).objective;
      if (objective > answer.objective) {
        answer.objective = objective;
        answer.schedule = std::move(schedule);
      }
    }
  }
  // The library's tolerance, not a gap.
  if (std::abs(answer.bound - answer.objective) <= kSameObjective * std::abs(answer.objective)) {
    answer.bound = answer.objective;
  }
  return answer;
}

}  // namespace berth::planner
