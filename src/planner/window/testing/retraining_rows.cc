#include "planner/window/testing/retraining_rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/core/ensure.h"

namespace berth::planner::testing {
namespace {

/// The largest progress that counts as unfinished is this much below 1: more than the library's tolerance.
constexpr double kLessThanDone = 1e-5;

/// A sum and the most that it can be.
struct BoundedSum {
  LinearSum sum;
  double max = 0;
};

/// The slots from one that is due (or slot 0) to the next (or the window's end), if the model is stale and not done at
/// their beginning.
struct RetrainingPeriod {
  SlotIndex begin;
  SlotIndex end;
  std::vector<BoundedSum> progress;  ///< [slot - begin + 1], at the end of the slot; 0: at the beginning

  /// The progress at the end of the slot. Requires: begin - 1 <= slot < end.
  [[nodiscard]] const BoundedSum& after(SlotIndex slot) const {
    ENSURE(slot >= begin - 1 && slot < end);
    const int slots = slot - begin + 1;
    return progress[static_cast<std::size_t>(slots)];
  }
};

class RetrainingRows {
 public:
  /// Requires: the service retrains.
  RetrainingRows(const Problem& problem, const std::vector<GpuColumns>& gpus, ServiceIndex service,
                 ProgramBuilder& program)
      : problem_(problem),
        service_terms_(problem.services[service]),
        terms_(*service_terms_.retraining),
        gpus_(gpus),
        service_(service),
        program_(program),
        is_worse_fresh_(is_worse_fresh(service_terms_)) {
    fresh_.by_slot.resize(static_cast<std::size_t>(problem.slots));
  }

  [[nodiscard]] FreshSums add_all() {
    fresh_.in_tail = add_periods();
    add_fresh_value();
    return fresh_;
  }

 private:
  /// Sets the freshness in each slot; returns whether the tail begins fresh or done.
  LinearSum add_periods() {
    SlotIndex begin;
    BoundedSum carried{.sum = constant_sum(terms_.progress), .max = terms_.progress};
    bool is_open = terms_.is_stale && terms_.fresh_in == 0;
    const int fresh_from = terms_.is_stale ? terms_.fresh_in : 0;  // if not open
    std::vector<SlotIndex> ends = terms_.due_slots;
    ends.emplace_back(problem_.slots);
    for (const SlotIndex end : ends) {
      if (is_open) {
        const RetrainingPeriod period = add_period(begin, end, std::move(carried));
        add_freshness(period);
        if (end == problem_.slots) return add_end(period);
        carried = add_carried(period);
      } else {
        for (SlotIndex slot = begin; slot < end; ++slot) fresh_in(slot) = constant_sum(slot >= fresh_from ? 1 : 0);
        carried = {};
      }
      begin = end;
      is_open = true;
    }
    return constant_sum(1);
  }

  /// Columns of the progress at the end of each slot.
  RetrainingPeriod add_period(SlotIndex begin, SlotIndex end, BoundedSum carried) {
    RetrainingPeriod period{.begin = begin, .end = end, .progress = {std::move(carried)}};
    for (SlotIndex slot = begin; slot < end; ++slot) {
      BoundedSum progress = period.progress.back();
      progress.sum.add(1, progress_in(slot));
      progress.max += progress_in_max(slot);
      if (!progress.sum.is_constant()) {
        const int column = program_.add_column({.upper = solver::kInfinity});
        progress.sum.add(-1, column);
        program_.add_equal_zero(std::move(progress.sum));
        progress.sum = column_sum(column);
      }
      period.progress.push_back(std::move(progress));
    }
    return period;
  }

  [[nodiscard]] LinearSum progress_in(SlotIndex slot) const {
    LinearSum sum = constant_sum(outside_progress_in(slot));
    for (const GpuIndex g : indices_of<GpuIndex>(gpus_)) {
      for (const PieceColumns& candidate : gpus_[g].pieces()) {
        const double slots = retraining_slots_of(g, candidate.piece());
        if (slots > 0) sum.add(1 / slots, gpus_[g].ready(candidate, slot));
      }
    }
    return sum;
  }

  /// At most one piece retrains at a time.
  [[nodiscard]] double progress_in_max(SlotIndex slot) const {
    double largest = 0;
    for (const GpuIndex g : indices_of<GpuIndex>(gpus_)) {
      for (const PieceColumns& candidate : gpus_[g].pieces()) {
        const double slots = retraining_slots_of(g, candidate.piece());
        if (slots <= 0 || slot < gpus_[g].first_ready(candidate)) continue;
        largest = std::max(largest, 1 / slots);
      }
    }
    return largest + outside_progress_in(slot);
  }

  [[nodiscard]] double outside_progress_in(SlotIndex slot) const {
    const std::vector<double>& progress = service_terms_.outside_progress;
    return progress.empty() ? 0 : progress[static_cast<std::size_t>(slot)];
  }

  /// The slots of a whole retraining of the service by the piece; 0: it does not retrain.
  [[nodiscard]] double retraining_slots_of(GpuIndex gpu, const Piece& piece) const {
    if (piece.service != service_ || piece.use != kRetraining) return 0;
    return rates_of(problem_, gpu, piece).retraining_slots;
  }

  /// A column that may be 1 only if the progress is done, and must be 1 if it is and `is_forced`. 0 if that is
  /// impossible.
  LinearSum add_done(const BoundedSum& progress, bool is_forced) {
    if (progress.max < kDone - 1e-12) return {};
    const int column = program_.add_column({.is_integer = true});
    LinearSum allowed;
    allowed.add(kDone, column);
    allowed.add(-1, progress.sum);
    program_.add_at_most_zero(std::move(allowed));
    LinearSum done = column_sum(column);
    if (!is_forced) return done;
    LinearSum forced = progress.sum;
    forced.constant -= 1 - kLessThanDone;
    forced.add(-(progress.max - (1 - kLessThanDone)), column);
    program_.add_at_most_zero(std::move(forced));
    return done;
  }

  /// Within a period a fresh model stays fresh.
  void add_freshness(const RetrainingPeriod& period) {
    for (SlotIndex slot = period.begin; slot < period.end; ++slot) {
      const SlotIndex done_after = slot - 1 - terms_.swap_slots;
      fresh_in(slot) = {};
      if (done_after < period.begin - 1) continue;
      fresh_in(slot) = add_done(period.after(done_after), is_worse_fresh_);
      if (slot > period.begin) add_stays(fresh_in(slot - 1), fresh_in(slot));
    }
  }

  /// `before` <= `now`. `before` is a column or 0.
  void add_stays(const LinearSum& before, const LinearSum& now) {
    if (before.is_constant()) return;
    LinearSum stays = before;
    stays.add(-1, now);
    program_.add_at_most_zero(std::move(stays));
  }

  /// Ends the last period: returns whether the tail begins fresh or done. Unfinished progress has its value.
  LinearSum add_end(const RetrainingPeriod& period) {
    const double worth = terms_.progress_value;
    ENSURE(worth >= 0);
    const BoundedSum& progress = period.progress.back();
    LinearSum done = add_done(progress, worth > 0 || is_worse_fresh_);
    if (period.end > period.begin) add_stays(fresh_in(period.end - 1), done);
    if (worth <= 0) return done;
    const int counted = program_.add_column({.gain = worth});
    LinearSum reached = column_sum(counted);
    reached.add(-1, progress.sum);
    program_.add_at_most_zero(std::move(reached));
    LinearSum unfinished = done;
    unfinished.constant -= 1;
    unfinished.add(1, counted);
    program_.add_at_most_zero(std::move(unfinished));
    return done;
  }

  /// The progress at the beginning of the next period: all of it if it is kept and was not done before the due slot.
  BoundedSum add_carried(const RetrainingPeriod& period) {
    if (!terms_.keeps_unfinished) return {};
    if (period.begin == period.end) return period.progress.front();
    const BoundedSum& last = period.progress.back();
    const LinearSum done = add_done(period.after(period.end - 2), true);
    if (done.is_constant()) return last;
    const double most = std::min(last.max, 1 + progress_in_max(period.end - 1));
    LinearSum kept = column_sum(program_.add_column({.upper = most}));
    LinearSum not_more = kept;
    not_more.add(-1, last.sum);
    program_.add_at_most_zero(std::move(not_more));
    LinearSum none = kept;
    none.constant -= most;
    none.add(most, done);
    program_.add_at_most_zero(std::move(none));
    LinearSum not_less = last.sum;
    not_less.add(-1, kept);
    not_less.add(-last.max, done);
    program_.add_at_most_zero(std::move(not_less));
    return {.sum = std::move(kept), .max = most};
  }

  /// Adds the value of a model that is fresh or done at the window's end.
  void add_fresh_value() {
    const double worth = terms_.fresh_value;
    ENSURE(worth >= 0);
    if (worth <= 0) return;
    LinearSum counted = column_sum(program_.add_column({.gain = worth}));
    counted.add(-1, fresh_.in_tail);
    program_.add_at_most_zero(std::move(counted));
  }

  [[nodiscard]] LinearSum& fresh_in(SlotIndex slot) { return fresh_.by_slot[static_cast<std::size_t>(slot)]; }

  const Problem& problem_;
  const ServiceTerms& service_terms_;
  const RetrainingTerms& terms_;
  const std::vector<GpuColumns>& gpus_;
  ServiceIndex service_;
  ProgramBuilder& program_;
  bool is_worse_fresh_;
  FreshSums fresh_;
};

}  // namespace

FreshSums add_retraining(const Problem& problem, const std::vector<GpuColumns>& gpus, ServiceIndex service,
                         ProgramBuilder& program) {
  if (problem.services[service].retraining) return RetrainingRows(problem, gpus, service, program).add_all();
  const LinearSum always = constant_sum(1);
  return {.by_slot = std::vector<LinearSum>(static_cast<std::size_t>(problem.slots), always), .in_tail = always};
}

bool is_worse_fresh(const ServiceTerms& service) {
  return std::ranges::any_of(
      service.variants, [](const VariantTerms& variant) { return variant.accuracy_before > variant.accuracy_after; });
}

}  // namespace berth::planner::testing
