#include "planner/many_gpus/detail/timing.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace berth::planner::fleet {
namespace {

constexpr double kWorthMoving = 1e-9;  ///< of the most that any schedule is worth
constexpr std::array kShiftsTried = {-12, -6, -3, -1, 1, 3, 6, 12};
constexpr int kMovesMax = 4;  ///< of one change

std::size_t standing_stays(const GpuTerms& gpu) {
  return static_cast<std::size_t>(
      std::ranges::count_if(gpu.standing, [](const StandingPiece& each) { return each.piece.service != kNoService; }));
}

}  // namespace

double Timing::improve(FleetState& state, GpuIndex gpu) {
  const double least = kWorthMoving * (1 + terms_->value_max);
  double sum = 0;
  for (std::size_t c = 0; c < state.path(gpu).changes.size(); ++c) {
    for (int move = 0; move < kMovesMax; ++move) {
      if (!begin(state, gpu, c)) break;
      double best = least;
      int by = 0;
      for (const int step : kShiftsTried) {
        if (slot_ + step < 0 || slot_ + step >= terms_->slots) continue;
        add_shifts(step);
        const double gain = gain_of_shifts(state);
        if (gain <= best) continue;
        std::vector<Change> changes = state.path(gpu).changes;
        changes[c].slot += step;
        if (!may_carry_out(*terms_, gpu, changes)) continue;
        best = gain;
        by = step;
      }
      ++nodes_;
      if (by == 0) break;
      std::vector<Change> changes = state.path(gpu).changes;
      changes[c].slot += by;
      const double before = state.score();
      state.take_out(gpu);
      state.put(gpu, make_path(*terms_, gpu, std::move(changes)));
      sum += state.score() - before;
    }
  }
  return sum;
}

/// Records the pieces that begin and end with a change. False if one of them is a retraining.
bool Timing::begin(const FleetState& state, GpuIndex gpu, std::size_t change) {
  const Path& path = state.path(gpu);
  model_ = terms_->problem.gpus[idx(gpu)].model;
  slot_ = path.changes[change].slot;
  begun_.clear();
  ended_.clear();
  const std::size_t standing = standing_stays(terms_->problem.gpus[idx(gpu)]);
  for (std::size_t i = 0; i < path.stays.size(); ++i) {
    const Stay& stay = path.stays[i];
    const bool is_begun = i >= standing && stay.from == slot_;
    const bool is_ended = stay.until == slot_;
    if (!is_begun && !is_ended) continue;
    if (stay.piece.use == kRetraining) return false;
    (is_begun ? begun_ : ended_).push_back(stay);
  }
  return true;
}

void Timing::add_shifts(int by) {
  shifts_.clear();
  const double sign = by > 0 ? 1 : -1;
  for (const Stay& stay : ended_) {
    const SlotIndex from = std::min(slot_, slot_ + by);
    const SlotIndex until = std::max(slot_, slot_ + by);
    add(stay, std::max(from, stay.ready), until, sign, false);
    add(stay, std::max(from, stay.from), until, sign, true);
  }
  for (const Stay& stay : begun_) {
    const SlotIndex until = std::min(stay.until, terms_->tail());
    add(stay, std::min(stay.ready, stay.ready + by), std::min(until, std::max(stay.ready, stay.ready + by)), -sign,
        false);
    add(stay, std::min(slot_, slot_ + by), std::min(until, std::max(slot_, slot_ + by)), -sign, true);
  }
}

void Timing::add(const Stay& stay, SlotIndex from, SlotIndex until, double sign, bool is_for_floor) {
  const ServiceIndex service = stay.piece.service;
  const double rate = terms_->rates(model_, stay.kind, service).requests_per_second[idx(stay.piece.use)];
  const bool counts = !is_for_floor || terms_->problem.services[idx(service)].floor_rate > 0;
  if (from >= until || rate <= 0 || !counts) return;
  shifts_.push_back({.service = service,
                     .use = stay.piece.use,
                     .from = from,
                     .until = until,
                     .rate = sign * (is_for_floor ? floor_part(terms_->problem.services[idx(service)], rate) : rate),
                     .is_for_floor = is_for_floor});
}

double Timing::gain_of_shifts(const FleetState& state) {
  std::ranges::sort(shifts_, {}, [](const Shift& shift) {
    return std::tuple(shift.service, shift.is_for_floor, shift.use, shift.from, shift.until, shift.rate);
  });
  double sum = 0;
  for (std::size_t i = 0; i < shifts_.size();) {
    std::size_t end = i + 1;
    while (end < shifts_.size() && shifts_[end].service == shifts_[i].service &&
           shifts_[end].is_for_floor == shifts_[i].is_for_floor) {
      ++end;
    }
    sum += shifts_[i].is_for_floor ? gain_of_floor(state, i, end) : gain_of_capacity(state, i, end);
    i = end;
  }
  return sum;
}

double Timing::gain_of_capacity(const FleetState& state, std::size_t from, std::size_t until) {
  const ServiceIndex service = shifts_[from].service;
  const std::size_t variants = terms_->problem.services[idx(service)].variants.size();
  SlotIndex first = terms_->tail();
  SlotIndex last;
  for (std::size_t i = from; i < until; ++i) {
    first = std::min(first, shifts_[i].from);
    last = std::max(last, shifts_[i].until);
  }
  const bool can_be_stale = terms_->problem.services[idx(service)].retraining.has_value();
  std::optional<Freshness> freshness;
  if (can_be_stale) freshness = freshness_of(*terms_, service, state.service(service).progress);
  double sum = 0;
  for (SlotIndex slot = first; slot < last; ++slot) {
    const double* now = state.service(service).capacity.data() + idx(slot) * variants;
    capacity_.assign(now, now + variants);
    for (std::size_t i = from; i < until; ++i) {
      if (shifts_[i].from <= slot && slot < shifts_[i].until) capacity_[idx(shifts_[i].use)] += shifts_[i].rate;
    }
    const bool is_fresh = !freshness || freshness->is_fresh[idx(slot)] != 0;
    sum += terms_->worth(service, slot, is_fresh, capacity_.data()) - terms_->worth(service, slot, is_fresh, now);
  }
  return sum;
}

double Timing::gain_of_floor(const FleetState& state, std::size_t from, std::size_t until) const {
  const ServiceIndex service = shifts_[from].service;
  const double floor = terms_->problem.services[idx(service)].floor_rate;
  SlotIndex first = terms_->tail();
  SlotIndex last;
  for (std::size_t i = from; i < until; ++i) {
    first = std::min(first, shifts_[i].from);
    last = std::max(last, shifts_[i].until);
  }
  double sum = 0;
  for (SlotIndex slot = std::max(first, terms_->problem.floors_from); slot < last; ++slot) {
    const double now = state.service(service).standing[idx(slot)];
    double then = now;
    for (std::size_t i = from; i < until; ++i) {
      if (shifts_[i].from <= slot && slot < shifts_[i].until) then += shifts_[i].rate;
    }
    const auto shortfall_of = [&](double standing) {
      const double shortfall = 1 - standing / floor;
      return shortfall > kFloorSlack ? shortfall : 0.0;
    };
    sum += terms_->shortfall_price * (shortfall_of(now) - shortfall_of(then));
  }
  return sum;
}

}  // namespace berth::planner::fleet
