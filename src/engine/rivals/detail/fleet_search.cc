#include "engine/rivals/detail/fleet_search.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace berth::partition::detail {
namespace {

/// A gain below this is rounding noise.
constexpr double kGainMin = 1e-9;

double quanta_of(const GpuModel& model, ProfileId profile, int sms) {
  if (!profile.is_full()) return model.profiles[profile.index].compute_slices;
  if (model.is_mig_capable()) return model.compute_slices;
  constexpr double kSmsOfOneSlice = 14;  // of an A100: converts a whole GPU to the same unit
  return std::max(1.0, static_cast<double>(sms) / kSmsOfOneSlice);
}

int length_of(const ModelView& view, int kind) {
  const ProfileId profile = view.map.kinds[kind].profile;
  return profile.is_full() ? std::max(1, view.model->units) : view.model->profiles[profile.index].length;
}

Worth worth_of_share(const ShareValue& value, int service, const Share& share) {
  return {share.inference_count == 0 ? 1 : 0, value(service, share), 0};
}

/// The existing slices of each GPU.
std::vector<std::vector<StandingSite>> standing_sites(const FleetView& fleet, const Snapshot& snapshot) {
  std::vector<std::vector<StandingSite>> standing(fleet.gpu_count());
  for (const StandingSlice& slice : snapshot.staying()) {
    const Holding& holding = slice.holding;
    const ModelView& view = fleet.of_gpu(static_cast<int>(holding.slice.gpu.index));
    const auto site = view.map.find_site({.start = holding.slice.start, .profile = holding.slice.profile});
    if (!site) continue;
    int owner = kNoOwner;
    if (holding.services.size() == 1) {
      owner = static_cast<int>(holding.services.front().index);
      if (holding.role == Role::kRetraining) owner = retraining_owner(fleet, owner);
    }
    standing[holding.slice.gpu.index].push_back({view.map.sites[*site], owner, slice.is_ready});
  }
  return standing;
}

}  // namespace

FleetPlan standing_plan(const FleetView& fleet, const Snapshot& snapshot) {
  const auto standing = standing_sites(fleet, snapshot);
  FleetPlan plan = empty_plan(fleet);
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const std::vector<Partition>& partitions = fleet.of_gpu(gpu).partitions;
    const auto partition = std::ranges::find_if(partitions, [&](const Partition& candidate) {
      return std::ranges::all_of(standing[gpu], [&](const StandingSite& stood) {
        return std::ranges::find(candidate.pieces, stood.site) != candidate.pieces.end();
      });
    });
    if (partition == partitions.end()) continue;
    plan[gpu] = {static_cast<int>(partition - partitions.begin()),
                 std::vector<int>(partition->pieces.size(), kNoOwner)};
    for (const StandingSite& stood : standing[gpu]) {
      plan[gpu].owners[std::ranges::find(partition->pieces, stood.site) - partition->pieces.begin()] = stood.owner;
    }
  }
  return plan;
}

JobRates job_rates(const FleetView& fleet) {
  JobRates rates;
  for (const ModelView& view : fleet.models) {
    auto& serving = rates.requests_per_second.emplace_back();
    auto& retraining = rates.retraining_seconds.emplace_back();
    auto& quanta = rates.quanta.emplace_back();
    for (std::size_t kind = 0; kind < view.map.kinds.size(); ++kind) {
      quanta.push_back(quanta_of(*view.model, view.map.kinds[kind].profile, view.map.kinds[kind].sms));
      auto& served = serving.emplace_back();
      auto& retrained = retraining.emplace_back();
      for (int service = 0; service < fleet.service_count; ++service) {
        const auto& throughput = view.throughput[kind][service];
        served.push_back(throughput ? throughput->to_double() : 0);
        const auto& spec = fleet.scenario->services[service].retraining;
        const auto time =
            spec ? retraining_time_on(*spec, *view.model, view.map.kinds[kind].profile) : std::optional<Micros>();
        retrained.push_back(time ? std::max(1e-6, time->to_seconds()) : 0);
      }
    }
  }
  return rates;
}

FleetSearch::FleetSearch(const FleetView& fleet, const JobRates& rates, const Snapshot& snapshot, ShareValue value,
                         const std::vector<char>& may_retrain, const RepartitionLimits& limits)
    : fleet_(fleet),
      rates_(rates),
      value_(std::move(value)),
      may_retrain_(may_retrain),
      limits_(limits),
      standing_on_(standing_sites(fleet, snapshot)),
      standing_(standing_plan(fleet, snapshot)) {
  is_empty_ = std::ranges::all_of(standing_on_, [](const auto& sites) { return sites.empty(); });
  gpus_ = gpus_in_turn(snapshot);
}

std::vector<int> FleetSearch::gpus_in_turn(const Snapshot& snapshot) const {
  std::vector<int> gpus(fleet_.gpu_count());
  std::iota(gpus.begin(), gpus.end(), 0);
  if (is_empty_ || fleet_.gpu_count() <= limits_.gpus_recut_max) return gpus;
  // A different part of a large fleet each time, so that every GPU gets its turn.
  const auto first = static_cast<std::ptrdiff_t>(snapshot.version * 2'654'435'761U % gpus.size());
  std::rotate(gpus.begin(), gpus.begin() + first, gpus.end());
  gpus.resize(limits_.gpus_recut_max);
  return gpus;
}

// ---- shares

double FleetSearch::seconds_until_ready(int gpu, const mig::Site& piece, int owner) const {
  const Scenario& scenario = *fleet_.scenario;
  const bool retrains = owner >= fleet_.service_count;
  const int service = retrains ? owner - fleet_.service_count : owner;
  const double start =
      scenario.changes.plumbing.to_seconds() + (retrains ? 0.0 : scenario.services[service].start.to_seconds());
  const ModelView& view = fleet_.of_gpu(gpu);
  bool is_room_taken = false;
  for (const StandingSite& standing : standing_on_[gpu]) {
    if (standing.site == piece) {
      if (standing.owner != owner) return start;
      return standing.is_ready ? 0 : start / 2;  // starting; on average half of it is left
    }
    is_room_taken = is_room_taken || (standing.site.start < piece.start + length_of(view, piece.kind) &&
                                      piece.start < standing.site.start + length_of(view, standing.site.kind));
  }
  if (is_empty_) return 0;  // the first layout is ready at once
  const double destroy = is_room_taken ? scenario.changes.destroy.to_seconds() : 0;
  return start + scenario.changes.create.to_seconds() + destroy;
}

Share FleetSearch::with_piece(Share share, int gpu, const mig::Site& piece, int owner) const {
  const int model = fleet_.model_of[gpu];
  const bool retrains = owner >= fleet_.service_count;
  const int service = retrains ? owner - fleet_.service_count : owner;
  const double rate = rates_.requests_per_second[model][piece.kind][service];
  const double coming_seconds = seconds_until_ready(gpu, piece, owner);
  share.sms += fleet_.models[model].map.kinds[piece.kind].sms;
  if (retrains) {
    share.retrains = true;
    share.retraining_seconds = rates_.retraining_seconds[model][piece.kind][service];
    share.retraining_coming_seconds = coming_seconds;
    share.retraining_rate = rate;
    share.retraining_quanta = rates_.quanta[model][piece.kind];
    return share;
  }
  ++share.inference_count;
  share.quanta += rates_.quanta[model][piece.kind];
  if (coming_seconds > 0) {
    share.rate_coming += rate;
    share.rate_seconds += rate * coming_seconds;
  } else {
    share.rate += rate;
  }
  return share;
}

std::vector<Share> FleetSearch::shares_of(const FleetPlan& plan) const {
  std::vector<Share> shares(fleet_.service_count);
  for (int gpu = 0; gpu < fleet_.gpu_count(); ++gpu) add_gpu(shares, gpu, plan[gpu]);
  return shares;
}

void FleetSearch::add_gpu(std::vector<Share>& shares, int gpu, const GpuPlan& plan) const {
  const std::vector<mig::Site>& pieces = fleet_.of_gpu(gpu).partitions[plan.partition].pieces;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const int owner = plan.owners[i];
    if (owner == kNoOwner) continue;
    const int service = owner >= fleet_.service_count ? owner - fleet_.service_count : owner;
    shares[service] = with_piece(shares[service], gpu, pieces[i], owner);
  }
}

FleetSearch::PlanWorth FleetSearch::worth_of(const FleetPlan& plan) const {
  PlanWorth worth;
  const std::vector<Share> shares = shares_of(plan);
  for (int service = 0; service < fleet_.service_count; ++service) {
    worth.uncovered += shares[service].inference_count == 0 ? 1 : 0;
    worth.value += value_(service, shares[service]);
  }
  return worth;
}

bool FleetSearch::is_better_plan(const PlanWorth& a, const PlanWorth& b) {
  if (a.uncovered != b.uncovered) return a.uncovered < b.uncovered;
  return a.value > b.value + kGainMin;
}

// ---- one GPU

std::vector<int> FleetSearch::candidates_for(int gpu, const GpuPlan& now, const std::vector<Share>& others) const {
  std::vector<int> candidates(fleet_.service_count);
  std::iota(candidates.begin(), candidates.end(), 0);
  if (fleet_.service_count <= limits_.services_max) return candidates;
  const int model = fleet_.model_of[gpu];
  std::vector<std::tuple<int, double, int>> order;  // class (smaller first), less gain, service
  for (const int service : candidates) {
    const bool stands = std::ranges::any_of(
        now.owners, [&](int owner) { return owner == service || owner == retraining_owner(fleet_, service); });
    double gain = 0;
    for (std::size_t kind = 0; kind < fleet_.models[model].map.kinds.size(); ++kind) {
      if (rates_.requests_per_second[model][kind][service] <= 0) continue;
      Share more = others[service];
      more.rate += rates_.requests_per_second[model][kind][service];
      ++more.inference_count;
      const double per_sm =
          (value_(service, more) - value_(service, others[service])) / fleet_.models[model].map.kinds[kind].sms;
      gain = std::max(gain, per_sm);
    }
    const int group = stands || others[service].inference_count == 0 ? 0 : 1;
    order.emplace_back(group, -gain, service);
  }
  std::ranges::sort(order);
  candidates.clear();
  for (int i = 0; i < limits_.services_max; ++i) candidates.push_back(std::get<2>(order[i]));
  std::ranges::sort(candidates);
  return candidates;
}

FleetSearch::ServiceChoices FleetSearch::choices_on(int gpu, const std::vector<mig::Site>& pieces, int service,
                                                    const Share& others) const {
  const int model = fleet_.model_of[gpu];
  const std::uint32_t mask_count = 1U << pieces.size();
  ServiceChoices choices{std::vector<Worth>(mask_count, Worth{kImpossible, 0, 0}),
                         std::vector<int>(mask_count, kNoOwner)};
  std::vector<std::optional<Share>> serving(mask_count);  // with all of the mask for inference
  serving[0] = others;
  for (std::uint32_t mask = 1; mask < mask_count; ++mask) {
    const int last = static_cast<int>(std::bit_width(mask)) - 1;
    const std::optional<Share>& rest = serving[mask & ~(1U << last)];
    if (!rest || rates_.requests_per_second[model][pieces[last].kind][service] <= 0) continue;
    serving[mask] = with_piece(*rest, gpu, pieces[last], service);
  }
  const bool may_retrain = may_retrain_[service] != 0 && !others.retrains;
  for (std::uint32_t mask = 0; mask < mask_count; ++mask) {
    if (serving[mask]) choices.worth[mask] = worth_of_share(value_, service, *serving[mask]);
    for (std::size_t piece = 0; may_retrain && piece < pieces.size(); ++piece) {
      if ((mask >> piece & 1U) == 0 || !serving[mask & ~(1U << piece)]) continue;
      if (rates_.retraining_seconds[model][pieces[piece].kind][service] <= 0) continue;
      const Share share =
          with_piece(*serving[mask & ~(1U << piece)], gpu, pieces[piece], retraining_owner(fleet_, service));
      const Worth worth = worth_of_share(value_, service, share);
      if (!is_better(worth, choices.worth[mask])) continue;
      choices.worth[mask] = worth;
      choices.retraining_piece[mask] = static_cast<int>(piece);
    }
    choices.worth[mask].owned = std::popcount(mask);
  }
  return choices;
}

GpuPlan FleetSearch::best_recut_of(int gpu, const GpuPlan& now, const std::vector<Share>& others) const {
  const std::vector<Partition>& partitions = fleet_.of_gpu(gpu).partitions;
  const std::vector<int> candidates = candidates_for(gpu, now, others);
  GpuPlan best = now;
  Worth best_worth = worth_with(gpu, now, candidates, others);
  for (int partition = 0; partition < static_cast<int>(partitions.size()); ++partition) {
    const std::vector<mig::Site>& pieces = partitions[partition].pieces;
    WorthTable table;
    std::vector<ServiceChoices> choices;
    choices.reserve(candidates.size());
    table.reserve(candidates.size());
    for (const int service : candidates) {
      choices.push_back(choices_on(gpu, pieces, service, others[service]));
      table.push_back(choices.back().worth);
    }
    const Assignment found = best_assignment(table, pieces.size());
    const bool is_gain = found.worth.uncovered != best_worth.uncovered
                             ? found.worth.uncovered < best_worth.uncovered
                             : found.worth.value > best_worth.value + kGainMin;
    if (!is_gain) continue;
    best_worth = found.worth;
    best = {partition, std::vector<int>(pieces.size(), kNoOwner)};
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      std::uint32_t mask = 0;
      for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        if (found.owners[piece] != static_cast<int>(i)) continue;
        mask |= 1U << piece;
        best.owners[piece] = candidates[i];
      }
      const int retraining_piece = choices[i].retraining_piece[mask];
      if (retraining_piece != kNoOwner) best.owners[retraining_piece] = retraining_owner(fleet_, candidates[i]);
    }
  }
  return best;
}

Worth FleetSearch::worth_with(int gpu, const GpuPlan& plan, const std::vector<int>& services,
                              const std::vector<Share>& others) const {
  std::vector<Share> shares = others;
  add_gpu(shares, gpu, plan);
  Worth worth;
  for (const int service : services) {
    const Worth one = worth_of_share(value_, service, shares[service]);
    worth.uncovered += one.uncovered;
    worth.value += one.value;
  }
  return worth;
}

// ---- all GPUs

FleetPlan FleetSearch::descend_over(FleetPlan plan, const std::vector<int>& gpus) const {
  for (int pass = 0; pass < limits_.passes_max; ++pass) {
    bool has_changed = false;
    for (const int gpu : gpus) {
      std::vector<Share> others(fleet_.service_count);
      for (int other = 0; other < fleet_.gpu_count(); ++other) {
        if (other != gpu) add_gpu(others, other, plan[other]);
      }
      GpuPlan recut = best_recut_of(gpu, plan[gpu], others);
      has_changed = has_changed || recut != plan[gpu];
      plan[gpu] = std::move(recut);
    }
    if (!has_changed || gpus.size() == 1) break;
  }
  return plan;
}

FleetPlan FleetSearch::descend(FleetPlan plan) const { return descend_over(std::move(plan), gpus_); }

void FleetSearch::disturb(FleetPlan& plan) const {
  PlanWorth worth = worth_of(plan);
  for (int gpu = 0; gpu < fleet_.gpu_count(); ++gpu) {
    FleetPlan disturbed = plan;
    std::ranges::fill(disturbed[gpu].owners, kNoOwner);
    std::vector<int> order = gpus_;
    std::rotate(order.begin(), order.begin() + gpu + 1, order.end());  // the emptied one last
    disturbed = descend_over(std::move(disturbed), order);
    const PlanWorth found = worth_of(disturbed);
    if (!is_better_plan(found, worth)) continue;
    plan = std::move(disturbed);
    worth = found;
  }
}

FleetPlan FleetSearch::best(const std::vector<FleetPlan>& more_starts) const {
  FleetPlan best = descend(standing_);
  PlanWorth best_worth = worth_of(best);
  const auto consider = [&](FleetPlan plan) {
    const PlanWorth worth = worth_of(plan);
    if (!is_better_plan(worth, best_worth)) return;
    best = std::move(plan);
    best_worth = worth;
  };
  const bool is_small = fleet_.gpu_count() <= limits_.gpus_disturbed_max;
  // On one GPU a descent covers every plan, from any start.
  if (fleet_.gpu_count() > 1) {
    if (!is_empty_ && is_small) consider(descend(empty_plan(fleet_)));
    for (const FleetPlan& start : more_starts) consider(descend(start));
    if (is_small) {
      FleetPlan disturbed = best;
      disturb(disturbed);
      consider(std::move(disturbed));
    }
  }
  return best;
}

// ---- the target

Target target_of(const FleetView& fleet, const FleetPlan& plan, const Snapshot& snapshot,
                 const std::function<std::optional<PointChoice>(const Slice&, ServiceId)>& point_of) {
  std::map<Slice, const StandingSlice*> standing;
  for (const StandingSlice& slice : snapshot.staying()) standing.emplace(slice.holding.slice, &slice);
  Target target;
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const ModelView& view = fleet.of_gpu(gpu);
    const std::vector<mig::Site>& pieces = view.partitions[plan[gpu].partition].pieces;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Slice slice{{static_cast<std::uint32_t>(gpu)}, pieces[i].start, pieces[i].profile};
      const int owner = plan[gpu].owners[i];
      Wanted wanted{.holding = {.slice = slice, .services = {}}};
      if (owner == kNoOwner) {
        if (!standing.contains(slice)) continue;
      } else {
        const bool retrains = owner >= fleet.service_count;
        const ServiceId service{static_cast<std::uint32_t>(retrains ? owner - fleet.service_count : owner)};
        wanted.holding.role = retrains ? Role::kRetraining : Role::kInference;
        wanted.holding.services = {service};
        if (!retrains) wanted.point = point_of(slice, service);
      }
      target.holdings.push_back(std::move(wanted));
    }
  }
  return target;
}

}  // namespace berth::partition::detail
