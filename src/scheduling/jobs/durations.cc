#include "scheduling/jobs/durations.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::sched {
namespace {

/// A finished job counts half as much after some 5,700 more of its class; in coarser classes after more.
constexpr double kMemory = 8192;
constexpr double kMemoryOfSize = 4 * kMemory;
constexpr double kMemoryOfAll = 16 * kMemory;
/// The weight of the coarser class, in jobs.
constexpr double kPriorOfAll = 1;
constexpr double kPriorOfSize = 32;
constexpr double kPriorOfTenant = 2;
constexpr double kHazardMax = 0.999;
// When the figures of a class are recomputed.
constexpr std::int64_t kRenewShare = 16;
constexpr std::int64_t kRenewTotal = 128;
constexpr Seconds kRenewSeconds = 21'600;

double memory_of(int depth) { return depth == 0 ? kMemoryOfAll : depth == 1 ? kMemoryOfSize : kMemory; }
double prior_of(int depth) { return depth == 0 ? kPriorOfAll : depth == 1 ? kPriorOfSize : kPriorOfTenant; }

}  // namespace

Durations::Durations() {
  for (std::size_t bin = 0; bin <= kBins; ++bin) {
    const double octave = std::ldexp(1.0, static_cast<int>(bin / kBinsPerDoubling));
    edges_[bin] = octave * (1 + static_cast<double>(bin % kBinsPerDoubling) / kBinsPerDoubling);
  }
  classes_.emplace_back();
}

std::size_t Durations::bin_of(Seconds duration) {
  if (duration < 1) return 0;
  const auto value = static_cast<std::uint64_t>(duration);
  const auto octave = static_cast<std::size_t>(std::bit_width(value)) - 1;
  const std::uint64_t eighths = octave >= 3 ? value >> (octave - 3) : value << (3 - octave);
  return std::min(octave * kBinsPerDoubling + static_cast<std::size_t>(eighths % kBinsPerDoubling), kBins - 1);
}

std::size_t Durations::add_class(std::size_t parent) {
  const std::size_t added = classes_.size();
  classes_.push_back({.parent = parent, .depth = classes_[parent].depth + 1});
  classes_[parent].children.push_back(added);
  return added;
}

std::size_t Durations::class_of(const Job& job) {
  const auto [known, is_new] = class_of_tenant_.try_emplace({job.tenant, job.gpus}, 0);
  if (!is_new) return known->second;
  const auto [size, is_new_size] = class_of_size_.try_emplace(job.gpus, 0);
  if (is_new_size) size->second = add_class(0);
  return known->second = add_class(size->second);
}

void Durations::submitted(const Workload& workload, JobIndex job) {
  classes_[class_of(workload.job(job))].at_hand.push_back(job);
}

void Durations::finished(const Workload& workload, JobIndex index) {
  const Job& job = workload.job(index);
  const std::size_t own = class_of(job);
  std::vector<JobIndex>& at_hand = classes_[own].at_hand;
  at_hand.erase(std::ranges::find(at_hand, index));
  ++total_;
  count_finished(own, job.duration);
  count_finished(classes_[own].parent, job.duration);
  count_finished(0, job.duration);
}

void Durations::count_finished(std::size_t index, Seconds duration) {
  JobClass& of = classes_[index];
  const double kept = 1 - 1 / memory_of(of.depth);
  for (double& count : of.ended) count *= kept;
  for (double& count : of.reached) count *= kept;
  const std::size_t bin = bin_of(duration);
  of.ended[bin] += 1;
  for (std::size_t i = 0; i <= bin; ++i) of.reached[i] += 1;
  of.count = of.count * kept + 1;
  ++of.finished;
}

/// An unfinished job counts as having reached its current bin by about half.
void Durations::add_at_hand(const World& world, std::size_t index, PerBin& reached) const {
  for (const JobIndex job : classes_[index].at_hand) {
    const Seconds progress = world.progress(job);
    if (progress <= 0) continue;
    const std::size_t bin = bin_of(progress);
    reached[bin] += 0.5;
    if (bin > 0) reached[bin - 1] += 0.5;
  }
  for (const std::size_t child : classes_[index].children) add_at_hand(world, child, reached);
}

void Durations::renew(const World& world, std::size_t index) {
  const JobClass& of = classes_[index];
  const bool is_fresh = of.is_derived &&
                        of.finished - of.finished_then < 1 + static_cast<std::int64_t>(of.count) / kRenewShare &&
                        total_ - of.total_then < kRenewTotal && world.now() - of.derived_at < kRenewSeconds;
  if (!is_fresh) derive(world, index);
}

void Durations::derive(const World& world, std::size_t index) {
  if (index != 0) renew(world, classes_[index].parent);
  derive_hazard(world, index);
  JobClass& of = classes_[index];
  derive_remaining(of);
  of.is_derived = true;
  of.finished_then = of.finished;
  of.total_then = total_;
  of.derived_at = world.now();
}

void Durations::derive_hazard(const World& world, std::size_t index) {
  PerBin reached = {};
  add_at_hand(world, index, reached);
  for (std::size_t bin = kBins - 1; bin > 0; --bin) reached[bin - 1] += reached[bin];
  JobClass& of = classes_[index];
  const double prior = prior_of(of.depth);
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double coarser = index == 0 ? 1 - edges_[bin] / edges_[bin + 1] : classes_[of.parent].hazard[bin];
    of.hazard[bin] = std::min(kHazardMax, (of.ended[bin] + prior * coarser) / (reached[bin] + of.reached[bin] + prior));
  }
}

void Durations::derive_remaining(JobClass& of) const {
  std::array<double, kBins + 1> survives = {};  // the chance to reach a bin,
  PerBin runs = {};                             // and the seconds that are expected to run in it
  survives[0] = 1;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    survives[bin + 1] = survives[bin] * (1 - of.hazard[bin]);
    runs[bin] = (survives[bin] + survives[bin + 1]) / 2 * (edges_[bin + 1] - (bin == 0 ? 0 : edges_[bin]));
  }
  for (std::size_t from = 0; from < kBins; ++from) {
    const double begin = from == 0 ? 0 : edges_[from];
    double run = 0;
    double cost = 0;
    double median = 0;
    for (std::size_t bin = from; bin < kBins; ++bin) {
      run += runs[bin];
      const double ratio = run / (survives[from] - survives[bin + 1]);
      if (bin == from || ratio < cost) cost = ratio;
      if (median == 0 && survives[bin + 1] <= survives[from] / 2) median = edges_[bin + 1] - begin;
    }
    of.remaining[from] = {.cost = cost,
                          .mean = std::max<Seconds>(1, static_cast<Seconds>(run / survives[from])),
                          .median = std::max<Seconds>(1, static_cast<Seconds>(median))};
  }
}

Remaining Durations::remaining(const World& world, JobIndex job) {
  const std::size_t own = class_of(world.workload().job(job));
  renew(world, own);
  return classes_[own].remaining[bin_of(world.progress(job))];
}

double Durations::share_longer_than(const JobClass& of, Seconds duration) const {
  const std::size_t last = bin_of(duration);
  double share = 1;
  for (std::size_t bin = 0; bin < last; ++bin) share *= 1 - of.hazard[bin];
  const double begin = last == 0 ? 0 : edges_[last];
  const double part = std::min(1.0, (static_cast<double>(duration) - begin) / (edges_[last + 1] - begin));
  return share * (1 - of.hazard[last] * part);
}

double Durations::chance_of_end(const World& world, JobIndex job, Seconds within) {
  ENSURE(within >= 0);
  const std::size_t own = class_of(world.workload().job(job));
  renew(world, own);
  const Seconds done = world.progress(job);
  return 1 - share_longer_than(classes_[own], done + within) / share_longer_than(classes_[own], done);
}

}  // namespace berth::sched
