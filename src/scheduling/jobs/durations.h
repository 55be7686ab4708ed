/// How long jobs without an estimate run, learned from those that have finished.
///
/// Model: durations fall into bins, eight per doubling. For each bin the hazard h is the share of jobs that end in it
/// of those that reach it: finished jobs, weighted down with age, and jobs at hand, which have reached what they have
/// done so far. Jobs of a tenant and size are smoothed towards all of that size, these towards all jobs, and those
/// towards a duration of which every doubling is equally likely: h = (ended + k h') / (reached + k), h' the hazard of
/// the coarser class. Jobs at hand are counted because otherwise only short jobs would have finished in the beginning
/// (censoring).
///
/// From the hazards follow, for a job that has run for some time, its mean and median remaining time, and its cost: the
/// least ratio, over all horizons, of the time that it is expected to run until then and the chance that it has ended
/// by then. A policy that always runs the job with the least cost minimises the mean completion on one machine.
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

/// Of a job that has run for some time; seconds.
struct Remaining {
  double cost = 0;
  Seconds mean = 1;
  Seconds median = 1;
};

class Durations {
 public:
  Durations();

  /// A job that has no estimate was submitted, or has finished.
  void submitted(const Workload& workload, JobIndex job);
  void finished(const Workload& workload, JobIndex job);
  /// Requires: submitted, not finished. Learned figures are renewed when enough has happened.
  [[nodiscard]] Remaining remaining(const World& world, JobIndex job);
  /// The chance that it ends within so many seconds of progress, 0 to 1. Requires: as remaining(), within >= 0.
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
    // What is derived from them, and when.
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
  /// Derives the figures of a class anew if enough has happened.
  void renew(const World& world, std::size_t index);
  void derive(const World& world, std::size_t index);
  void derive_hazard(const World& world, std::size_t index);
  void derive_remaining(JobClass& of) const;
  /// Of jobs of a class, the share that runs for longer than this.
  [[nodiscard]] double share_longer_than(const JobClass& of, Seconds duration) const;

  std::vector<JobClass> classes_;  ///< the first: all jobs; then sizes and tenants of a size
  std::map<GpuCount, std::size_t> class_of_size_;
  std::map<std::pair<TenantIndex, GpuCount>, std::size_t> class_of_tenant_;
  std::int64_t total_ = 0;
  std::array<double, kBins + 1> edges_ = {};
};

}  // namespace berth::sched
