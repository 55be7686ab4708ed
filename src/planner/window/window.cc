#include "planner/window/window.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/core/ensure.h"
#include "domain/values/frozen.h"
#include "domain/values/start_times.h"
#include "planner/window/others.h"

namespace berth::planner {
namespace {

int slots_of(Micros duration) {
  return static_cast<int>((std::max<std::int64_t>(duration.count(), 0) + kMicrosPerSecond - 1) / kMicrosPerSecond);
}

/// Due times of a retraining after slot 0: the slots in the window, and the seconds from the window's end to the next.
struct DueTimes {
  std::vector<SlotIndex> slots;
  double next_after_window = 0;
};

DueTimes due_times(const Retraining& retraining, const Moment& moment, Instant since) {
  DueTimes times;
  const Instant end = moment.begins + Micros::seconds(moment.slots);
  Instant due = since + retraining.offset;
  if (due <= moment.begins) {
    const std::int64_t past = (moment.begins - due).count() / retraining.every.count();
    due = due + retraining.every * (past + 1);
  }
  for (; due < end; due = due + retraining.every) {
    const SlotIndex slot((due - moment.begins).count() / kMicrosPerSecond);
    if (times.slots.empty() || times.slots.back() != slot) times.slots.push_back(slot);
  }
  times.next_after_window = (due - end).to_seconds();
  return times;
}

RetrainingTerms retraining_terms(const ServiceSpec& service, const Moment& moment, const RetrainingNow& now,
                                 const ServiceTerms& terms) {
  const Retraining& spec = *service.retraining;
  RetrainingTerms result;
  result.is_stale = now.is_stale;
  result.progress = now.is_stale ? std::clamp(now.progress, 0.0, kDone - 1e-9) : 0;
  if (!now.is_stale && now.fresh_in > Micros()) {
    result.is_stale = true;
    result.fresh_in = slots_of(now.fresh_in);
  }
  DueTimes times = due_times(spec, moment, now.due_since);
  result.due_slots = std::move(times.slots);
  result.keeps_unfinished = spec.keeps_unfinished;
  result.swap_slots = slots_of(spec.swap);
  result.tail_fresh_seconds = std::min(moment.tail_seconds, times.next_after_window);
  // The value of progress 1 at the end of the window: the better answers until the next due time, minus those lost in
  // the remaining work. Linear in the progress, so that a retraining longer than the window is worthwhile, too.
  double load = 0;
  const auto tail = static_cast<std::size_t>(moment.slots) * static_cast<std::size_t>(moment.samples);
  for (int sample = 0; sample < moment.samples; ++sample) {
    load += terms.loads[tail + static_cast<std::size_t>(sample)] / moment.samples;
  }
  double gain = 0;
  for (const VariantTerms& variant : terms.variants) {
    gain = std::max(gain, variant.accuracy_after - variant.accuracy_before);
  }
  constexpr double kShareOfRest = 0.7;
  const double seconds = std::min(times.next_after_window, moment.tail_seconds + moment.seconds_beyond_tail);
  const double gain_per_second = std::max(0.0, gain) * terms.value * load;
  result.progress_value = gain_per_second * seconds * kShareOfRest;
  result.fresh_value = gain_per_second * std::max(0.0, seconds - moment.tail_seconds);
  return result;
}

VariantTerms variant_terms(const Accuracy& accuracy) {
  return {.accuracy_before = static_cast<double>(accuracy.before_micro) / 1e6,
          .accuracy_after = static_cast<double>(accuracy.after_micro) / 1e6};
}

/// Numbers for the trust domains, in order of appearance; -1 for services that named none.
std::vector<int> trust_domains(const Scenario& scenario) {
  std::map<std::string, int> numbers;
  std::vector<int> domains;
  domains.reserve(scenario.services.size());
  for (const ServiceSpec& service : scenario.services) {
    domains.push_back(!service.trust_domain
                          ? -1
                          : numbers.emplace(*service.trust_domain, static_cast<int>(numbers.size())).first->second);
  }
  return domains;
}

double weights_sum(const Scenario& scenario) {
  double sum = 0;
  for (const ServiceSpec& service : scenario.services) {
    if (!service.is_absent) sum += service.weight.to_double();
  }
  return sum;
}

ServiceTerms service_terms(const Scenario& scenario, const Moment& moment, std::size_t index) {
  const ServiceSpec& service = scenario.services[index];
  const Outlook& outlook = moment.outlooks[index];
  ENSURE(outlook.loads.size() == static_cast<std::size_t>((moment.slots + 1) * moment.samples));
  ServiceTerms terms;
  terms.value = scenario.objective == Objective::kRequests
                    ? 1
                    : service.weight.to_double() / weights_sum(scenario) / std::max(outlook.mean_rate, 1e-6);
  terms.loads = outlook.loads;
  terms.variants.push_back(variant_terms(service.accuracy));
  for (const Variant& variant : service.variants) terms.variants.push_back(variant_terms(variant.accuracy));
  terms.start_seconds = start_time(scenario, service).to_seconds();
  if (service.retraining) terms.retraining = retraining_terms(service, moment, moment.retraining[index], terms);
  if (service.floor_attainment) {
    terms.floor_rate = floor_rate(outlook, moment, service.floor_attainment->to_double());
  }
  if (service.changes_per_hour && outlook.changes_left)
    terms.changes_max = static_cast<int>(std::max<std::int64_t>(*outlook.changes_left, 0));
  terms.is_alone_on_gpu = service.isolation == Isolation::kGpu;
  return terms;
}

/// The highest rate of the service on any kind of slice.
double best_rate(const Frame& frame, std::size_t service) {
  double best = 0;
  for (const ModelTerms& model : frame.models) {
    for (const std::vector<Rates>& of_kind : model.rates) {
      for (const double rate : of_kind[service].requests_per_second) best = std::max(best, rate);
    }
  }
  return best;
}

/// `replicas`: numbers of slices. One slice is what a floor in requests per second needs anyway; for more of them, that
/// floor is raised to what one slice fewer cannot carry.
void set_slice_limits(const ReplicaLimits& limits, int standing, double rate_max, ServiceTerms& terms) {
  if (limits.slices_max) {
    terms.slices_max = static_cast<int>(std::max<std::int64_t>(*limits.slices_max, standing));
  }
  if (limits.slices_min <= 0 || rate_max <= 0) return;
  if (terms.floor_rate > 0) {
    constexpr double kJustMore = 1 + 1e-6;
    const double too_few = static_cast<double>(limits.slices_min - 1) * rate_max * kJustMore;
    terms.floor_rate = std::max(terms.floor_rate, too_few);
  } else {
    terms.counts_slices = true;
    terms.floor_rate = static_cast<double>(limits.slices_min);
  }
}

void set_slice_limits(const Scenario& scenario, const Frame& frame, Problem& problem) {
  std::vector<int> standing(problem.services.size());
  for (const GpuTerms& gpu : problem.gpus) {
    for (const StandingPiece& piece : gpu.standing) {
      if (piece.piece.service != kNoService && piece.piece.use != kRetraining) ++standing[piece.piece.service];
    }
  }
  for (std::size_t index = 0; index < scenario.services.size(); ++index) {
    const auto& limits = scenario.services[index].running.replicas;
    if (!limits || scenario.services[index].is_absent) continue;
    set_slice_limits(*limits, standing[index], best_rate(frame, index), problem.services[index]);
  }
}

std::vector<char> frozen_slots(const Scenario& scenario, const Moment& moment) {
  std::vector<char> frozen;
  if (scenario.frozen.empty() && scenario.no_changes.spans.empty()) return frozen;
  for (const SlotIndex slot : Indices<SlotIndex>(moment.slots)) {
    const Instant at = moment.begins + Micros::seconds(slot);
    frozen.push_back(is_frozen(scenario, at) ? 1 : 0);
  }
  return frozen;
}

/// Uses the measured times of creating and destroying, where a model has them.
void set_measured_times(const Scenario& scenario, const Frame& frame, Problem& problem) {
  if (scenario.measured_times.empty()) return;
  for (std::uint32_t gpu = 0; gpu < frame.model_of_gpu.size(); ++gpu) {
    const GpuModel& model = scenario.model_of({gpu});
    ModelTerms& terms = problem.models[static_cast<std::size_t>(frame.model_of_gpu[gpu])];
    const auto is_it = [&](const auto& measured) { return measured.first.model == model.name; };
    if (!terms.create_seconds.empty() || std::ranges::none_of(scenario.measured_times, is_it)) continue;
    terms.create_seconds.resize(terms.rates.size());
    terms.destroy_seconds.resize(terms.rates.size());
    for (const Site& site : terms.sites) {
      const auto seconds = [&](ActionKind action) {
        return change_time(scenario, model, site.profile, action).to_seconds();
      };
      terms.create_seconds[site.kind] = seconds(ActionKind::kCreation);
      terms.destroy_seconds[site.kind] = seconds(ActionKind::kDestruction);
    }
  }
}

}  // namespace

double floor_rate(const Outlook& outlook, const Moment& moment, double attainment) {
  const auto count = static_cast<std::size_t>(moment.slots) * static_cast<std::size_t>(moment.samples);
  double total = 0;
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    total += outlook.loads[i];
    largest = std::max(largest, outlook.loads[i]);
  }
  double low = 0;
  double high = largest;
  constexpr int kSteps = 60;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    double served = 0;
    for (std::size_t i = 0; i < count; ++i) served += std::min(outlook.loads[i], middle);
    (served >= attainment * total ? high : low) = middle;
  }
  return high;
}

Problem make_problem(const Scenario& scenario, const Frame& frame, const Moment& moment) {
  Problem problem;
  problem.slots = moment.slots;
  problem.samples = moment.samples;
  problem.tail_seconds = moment.tail_seconds;
  problem.destroy_seconds = scenario.changes.destroy.to_seconds();
  problem.create_seconds = scenario.changes.create.to_seconds();
  problem.plumbing_seconds = scenario.changes.plumbing.to_seconds();
  problem.is_frozen = frozen_slots(scenario, moment);
  while (!problem.is_frozen.empty() && problem.floors_from < moment.slots &&
         problem.is_frozen[static_cast<std::size_t>(problem.floors_from)] != 0) {
    ++problem.floors_from;
  }
  problem.models = frame.models;
  set_measured_times(scenario, frame, problem);
  const std::vector<int> domains = trust_domains(scenario);
  for (std::size_t index = 0; index < scenario.services.size(); ++index) {
    problem.services.push_back(service_terms(scenario, moment, index));
    problem.services.back().trust_domain = domains[index];
  }
  problem.gpus.resize(frame.model_of_gpu.size());
  for (std::size_t gpu = 0; gpu < problem.gpus.size(); ++gpu) {
    problem.gpus[gpu].model = frame.model_of_gpu[gpu];
    const auto is_set = [&](const std::vector<char>& flags) { return !flags.empty() && flags[gpu] != 0; };
    problem.gpus[gpu].free_from =
        SlotIndex(is_set(moment.is_gpu_closed) ? moment.slots : (is_set(moment.is_gpu_leaving) ? 1 : 0));
  }
  std::vector<char> retrains(problem.services.size());
  for (const StandingNow& standing : moment.standing) {
    const auto site = frame.site_of(standing.holding.slice);
    if (!site) continue;
    const auto& services = standing.holding.services;
    ServiceIndex owner = services.empty() ? kNoService : ServiceIndex(services.front().index);
    // A file's layout may have several slices on which one service retrains. The model allows one: the others count as
    // unowned.
    if (owner != kNoService && standing.use == kRetraining && std::exchange(retrains[owner], 1) != 0)
      owner = kNoService;
    problem.gpus[standing.holding.slice.gpu.index].standing.push_back(
        {.piece = {.site = *site, .service = owner, .use = owner == kNoService ? 0 : standing.use},
         .ready_in = slots_of(standing.ready_in)});
  }
  for (GpuTerms& gpu : problem.gpus) {
    std::ranges::sort(gpu.standing, {}, [](const StandingPiece& piece) { return piece.piece.site; });
  }
  for (std::size_t index = 0; index < scenario.services.size(); ++index) {
    for (const Pin& pin : scenario.services[index].pins) {
      const auto site = frame.site_of(pin.slice);
      ENSURE(site.has_value());
      problem.gpus[pin.slice.gpu.index].pins.push_back({.site = *site, .service = ServiceIndex(index)});
    }
  }
  set_slice_limits(scenario, frame, problem);
  keep_off_others(scenario, frame, moment.others, problem);
  return problem;
}

}  // namespace berth::planner
