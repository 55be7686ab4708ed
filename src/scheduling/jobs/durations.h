/// How long jobs without an estimate run, learned from those that have finished.
///
/// Model: durations fall into bins, eight per doubling. For each bin the hazard h is the share of jobs that end in it
/// of those that reach it: finished jobs, weighted down with age, and unfinished jobs, which have reached their
/// progress so far. Jobs of a tenant and size are smoothed towards all of that size, these towards all jobs, and those
/// towards a distribution in which every doubling of the duration is equally likely: h = (ended + k h') / (reached +
/// k), h' the hazard of the coarser class. Unfinished jobs are counted because at first only short jobs have finished
/// (censoring).
///
/// For a job that has run for some time, the hazards give its mean and median remaining time, and its cost: the least
/// ratio, over all horizons, of its expected running time within the horizon to the chance that it ends within it. A
/// policy that always runs the job with the least cost minimises the mean completion time on one machine.
///
/// Source: Gittins, "Bandit processes and dynamic allocation indices", JRSS B 1979; Aalto, Ayesta and Righter, "On the
/// Gittins index in the M/G/1 queue", 2009.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "scheduling/jobs/world.h"

namespace berth::sched {

/// Figures of a job that has run for some time; in seconds.
struct Remaining {
  double cost = 0;
  Seconds mean = 1;
  Seconds median = 1;
};

class Durations {
 public:
  Durations();

  /// To be called when a job without an estimate is submitted or has finished.
  void submitted(const Workload& workload, JobIndex job);
  void finished(const Workload& workload, JobIndex job);
  /// Requires: submitted, not finished. Learned figures are recomputed once enough has happened.
  [[nodiscard]] Remaining remaining(const World& world, JobIndex job);
  /// The chance that it ends within `within` seconds of progress, 0 to 1. Requires: as remaining(), within >= 0.
  [[nodiscard]] double chance_of_end(const World& world, JobIndex job, Seconds within);

  static constexpr std::size_t kBinsPerDoubling = 8;
  static constexpr std::size_t kBins = 25 * kBinsPerDoubling;  ///< up to 388 days
  /// The bin of a duration of at least 1 s; longer than the last: the last.
  [[nodiscard]] static std::size_t bin_of(Seconds duration);

 private:
  using PerBin = std::array<double, kBins>;
  struct JobClass {
    std::size_t parent = 0;
    int depth = 0;
    std::vector<std::size_t> children = {};
    std::vector<JobIndex> at_hand = {};
    // Weighted counts of finished jobs.
    PerBin ended = {};
    PerBin reached = {};
    double count = 0;
    std::int64_t finished = 0;
    // Values derived from them, and when.
    PerBin hazard = {};
    std::array<Remaining, kBins> remaining = {};
    bool is_derived = false;
    std::int64_t finished_then = 0;
    std::int64_t total_then = 0;
    Seconds derived_at = 0;
  };

  std::size_t add_class(std::size_t parent);
  [[nodiscard]] std::size_t class_of(const Job& job);
  void count_finished(std::size_t index, Seconds duration);
  void add_at_hand(const World& world, std::size_t index, PerBin& reached) const;
  /// Recomputes the figures of a class if enough has happened.
  void renew(const World& world, std::size_t index);
  void derive(const World& world, std::size_t index);
  void derive_hazard(const World& world, std::size_t index);
  void derive_remaining(JobClass& of) const;
  /// The share of a class's jobs that run for longer than `duration`.
  [[nodiscard]] double share_longer_than(const JobClass& of, Seconds duration) const;

  std::vector<JobClass> classes_;  ///< the first: all jobs; then sizes and tenants of a size
  std::map<GpuCount, std::size_t> class_of_size_;
  std::map<std::pair<TenantIndex, GpuCount>, std::size_t> class_of_tenant_;
  std::int64_t total_ = 0;
  std::array<double, kBins + 1> edges_ = {};
};

}  // namespace berth::sched
