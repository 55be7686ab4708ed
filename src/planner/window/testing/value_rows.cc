#include "planner/window/testing/value_rows.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/core/ensure.h"
#include "planner/window/testing/retraining_rows.h"

namespace berth::planner::testing {
namespace {

/// Seconds in which the pieces and the load of a service are constant: a slot, or a part of the tail.
struct ServingPeriod {
  ServiceIndex service;
  SlotIndex slot;                  ///< the window's end: the tail
  std::vector<double> stale_gain;  ///< [variant], of one answer per second
  std::vector<double> fresh_gain;
  LinearSum fresh;  ///< 0 or 1
};

/// The requests per second that a piece can answer once it is ready.
struct PieceCapacity {
  std::size_t variant = 0;
  double rate = 0;
  LinearSum ready;
};

/// The load between two levels.
struct LoadPart {
  double width = 0;
  double weight = 0;  ///< the share of the samples that reach it
  double level = 0;   ///< its upper end
};

std::vector<LoadPart> load_parts_of(const Problem& problem, ServiceIndex service, SlotIndex slot) {
  const auto samples = static_cast<std::size_t>(problem.samples);
  const std::span<const double> loads(problem.services[service].loads);
  const std::span<const double> here = loads.subspan(static_cast<std::size_t>(slot) * samples, samples);
  std::vector<double> levels(here.begin(), here.end());
  std::ranges::sort(levels);
  std::vector<LoadPart> parts;
  double level = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const double weight = static_cast<double>(samples - i) / static_cast<double>(samples);
    if (levels[i] > level) parts.push_back({.width = levels[i] - level, .weight = weight, .level = levels[i]});
    level = std::max(level, levels[i]);
  }
  return parts;
}

/// The capacities of the service's pieces that may be ready in the slot.
std::vector<PieceCapacity> capacities_of(const Problem& problem, const std::vector<GpuColumns>& gpus,
                                         ServiceIndex service, SlotIndex slot) {
  std::vector<PieceCapacity> capacities;
  for (const GpuIndex g : indices_of<GpuIndex>(gpus)) {
    for (const PieceColumns& candidate : gpus[g].pieces()) {
      const Piece& piece = candidate.piece();
      if (piece.service != service || piece.use == kRetraining) continue;
      const auto variant = static_cast<std::size_t>(piece.use);
      const double rate = rates_of(problem, g, piece).requests_per_second[variant];
      LinearSum ready = gpus[g].ready(candidate, slot);
      const bool is_never_ready = ready.is_constant() && ready.constant == 0;
      if (rate <= 0 || is_never_ready) continue;
      capacities.push_back({.variant = variant, .rate = rate, .ready = std::move(ready)});
    }
  }
  return capacities;
}

/// The capacity of pieces outside the problem: requests per second, [variant].
std::vector<double> outside_of(const ServiceTerms& service, SlotIndex slot) {
  const std::size_t variants = service.variants.size();
  std::vector<double> rates(variants);
  if (service.outside.empty()) return rates;
  for (std::size_t v = 0; v < variants; ++v) rates[v] = service.outside[static_cast<std::size_t>(slot) * variants + v];
  return rates;
}

/// The columns and rows of one period.
class PeriodRows {
 public:
  PeriodRows(const Problem& problem, const std::vector<GpuColumns>& gpus, const ServingPeriod& period,
             ProgramBuilder& program)
      : period_(period),
        capacities_(capacities_of(problem, gpus, period.service, period.slot)),
        parts_(load_parts_of(problem, period.service, period.slot)),
        outside_(outside_of(problem.services[period.service], period.slot)),
        is_worse_fresh_(is_worse_fresh(problem.services[period.service])),
        stale_answers_(outside_.size()),
        fresh_answers_(outside_.size()),
        program_(program) {
    ENSURE(period.stale_gain.size() == outside_.size() && period.fresh_gain.size() == outside_.size());
  }

  void add_all() {
    for (std::size_t v = 0; v < outside_.size(); ++v) {
      const auto serves = [&](const PieceCapacity& capacity) { return capacity.variant == v; };
      if (outside_[v] <= 0 && std::ranges::none_of(capacities_, serves)) continue;
      add_answers(v);
      add_capacity_rows(v);
    }
    if (outside_.size() > 1) add_capacity_rows(std::nullopt);
    for (std::size_t j = 0; j < parts_.size(); ++j) add_part_rows(j);
  }

 private:
  void add_answers(std::size_t variant) {
    const bool may_be_fresh = !period_.fresh.is_constant() || period_.fresh.constant > 0.5;
    const bool may_be_stale = !period_.fresh.is_constant() || period_.fresh.constant < 0.5;
    for (const LoadPart& part : parts_) {
      const auto add = [&](double gain) {
        return program_.add_column({.upper = part.width, .gain = gain * part.weight});
      };
      if (may_be_stale) stale_answers_[variant].push_back(add(period_.stale_gain[variant]));
      if (may_be_fresh) fresh_answers_[variant].push_back(add(period_.fresh_gain[variant]));
    }
  }

  /// The answers up to each level, of one variant or (nothing) all, are at most what the ready pieces can answer. A
  /// rate above the level counts as the level, which makes the row tighter. If no rate is above the level, the row of
  /// the last level is equivalent.
  void add_capacity_rows(std::optional<std::size_t> variant) {
    const auto counts = [&](std::size_t v) { return !variant || *variant == v; };
    double given = 0;
    for (std::size_t v = 0; v < outside_.size(); ++v) {
      if (counts(v)) given += outside_[v];
    }
    for (std::size_t j = 0; j < parts_.size(); ++j) {
      const double level = parts_[j].level - given;
      if (level <= 0) continue;
      const auto is_large = [&](const PieceCapacity& each) { return counts(each.variant) && each.rate > level; };
      const bool is_last = j + 1 == parts_.size();
      if (!is_last && std::ranges::none_of(capacities_, is_large)) continue;
      LinearSum sum = constant_sum(-given);
      for (std::size_t v = 0; v < outside_.size(); ++v) {
        if (counts(v)) add_answers_up_to(j, v, sum);
      }
      for (const PieceCapacity& capacity : capacities_) {
        if (counts(capacity.variant)) sum.add(-std::min(capacity.rate, level), capacity.ready);
      }
      program_.add_at_most_zero(std::move(sum));
    }
  }

  /// Adds the answers of the variant in the parts 0 to `last` to the sum.
  void add_answers_up_to(std::size_t last, std::size_t variant, LinearSum& sum) const {
    for (std::size_t j = 0; j <= last; ++j) {
      if (!stale_answers_[variant].empty()) sum.add(1, stale_answers_[variant][j]);
      if (!fresh_answers_[variant].empty()) sum.add(1, fresh_answers_[variant][j]);
    }
  }

  /// A part is answered once; with the fresh model while it is fresh, and with the stale one while it is not.
  void add_part_rows(std::size_t j) {
    const double width = parts_[j].width;
    const LinearSum stale = answers_in(j, stale_answers_);
    const LinearSum fresh = answers_in(j, fresh_answers_);
    if (stale.entries.size() + fresh.entries.size() < 2) return;
    LinearSum both = stale;
    both.add(1, fresh);
    both.constant -= width;
    program_.add_at_most_zero(std::move(both));
    if (period_.fresh.is_constant()) return;
    LinearSum while_fresh = fresh;
    while_fresh.add(-width, period_.fresh);
    program_.add_at_most_zero(std::move(while_fresh));
    if (!is_worse_fresh_) return;
    LinearSum while_stale = stale;
    while_stale.constant -= width;
    while_stale.add(width, period_.fresh);
    program_.add_at_most_zero(std::move(while_stale));
  }

  [[nodiscard]] static LinearSum answers_in(std::size_t part, const std::vector<std::vector<int>>& answers) {
    LinearSum sum;
    for (const std::vector<int>& columns : answers) {
      if (!columns.empty()) sum.add(1, columns[part]);
    }
    return sum;
  }

  const ServingPeriod& period_;
  std::vector<PieceCapacity> capacities_;
  std::vector<LoadPart> parts_;
  std::vector<double> outside_;  ///< [variant]
  bool is_worse_fresh_;
  std::vector<std::vector<int>> stale_answers_;  ///< [variant][part], columns; empty: none
  std::vector<std::vector<int>> fresh_answers_;
  ProgramBuilder& program_;
};

/// The gains of one answer per second over a duration, [variant].
std::vector<double> gains_of(const ServiceTerms& service, double VariantTerms::* accuracy, double seconds) {
  std::vector<double> gains;
  gains.reserve(service.variants.size());
  for (const VariantTerms& variant : service.variants) gains.push_back(service.value * seconds * variant.*accuracy);
  return gains;
}

/// The slots; the first part of the tail, in which a model that is fresh or done at its beginning stays fresh; the rest
/// of the tail.
std::vector<ServingPeriod> serving_periods_of(const Problem& problem, ServiceIndex service, const FreshSums& fresh) {
  const ServiceTerms& terms = problem.services[service];
  std::vector<ServingPeriod> periods;
  const auto add = [&](SlotIndex slot, double seconds, const LinearSum& fresh_now) {
    periods.push_back({.service = service,
                       .slot = slot,
                       .stale_gain = gains_of(terms, &VariantTerms::accuracy_before, seconds),
                       .fresh_gain = gains_of(terms, &VariantTerms::accuracy_after, seconds),
                       .fresh = fresh_now});
  };
  for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) {
    add(slot, 1, fresh.by_slot[static_cast<std::size_t>(slot)]);
  }
  const SlotIndex tail(problem.slots);
  const double seconds = problem.tail_seconds;
  const double first = terms.retraining ? std::min(seconds, terms.retraining->tail_fresh_seconds) : seconds;
  if (first > 0) add(tail, first, fresh.in_tail);
  if (seconds - first > 0) add(tail, seconds - first, {});
  return periods;
}

}  // namespace

void add_value(const Problem& problem, const std::vector<GpuColumns>& gpus, ServiceIndex service,
               ProgramBuilder& program) {
  const FreshSums fresh = add_retraining(problem, gpus, service, program);
  for (const ServingPeriod& period : serving_periods_of(problem, service, fresh)) {
    PeriodRows(problem, gpus, period, program).add_all();
  }
}

}  // namespace berth::planner::testing
