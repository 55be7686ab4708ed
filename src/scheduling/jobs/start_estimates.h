/// When waiting jobs are expected to start: estimated at their submit, from the information available then.
///
/// **p50** is the lower median of several guesses of the wait, made in different ways, so that no single one can spoil
/// it: the usual waits of this size (the median of the last 500 and of the last 50), the outlook of the queue as it is
/// (queue_outlook.h: drain, head, projection), and drain and projection scaled by their recent relative error, (wait +
/// 60 s) / (guess + 60 s), for this size.
///
/// **p90** is a longer wait from the same sources, stretched or shrunk by the outcomes of earlier promises
/// (coverage_control.h), so that nine of ten starts come by then.
///
/// Four situations, distinguished only by the available information:
/// - foreseen: fifo or easy, all unfinished jobs have estimates, and of the last 50 waits, as multiples of the
///   projection, the 90 % quantile is 1 within 0.5 % (or fewer than 20 are known). Then the start is certain and there
///   is no distribution to take quantiles of: p50 is the projection, and so is p90 for nine jobs of ten; for the tenth
///   both are a second earlier. That is the exact 90 % statement about a certain value (a smoothed conformal predictor
///   breaks ties by chance; here by counting). If too many promises hold it is one job in four, if too few hold p90 is
///   stretched. docs/decisions/0041 says why.
/// - estimated: all unfinished jobs have estimates. Under berth p90 also counts jobs that have been waiting longer than
///   expected (censored_quantile.h).
/// - unknown, fifo and easy: p90 is 1.4 times (easy: 1.3) the usual 90 % wait, p50, or the middle of the usual wait
///   and the drain (of at most twice the usual), whichever is longest.
/// - unknown, berth: a waiting job is served at the latest when, after its patience, enough running jobs have to yield
///   to it; neither quantile is later than that.
///
/// Source of the smoothed predictor: Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "scheduling/jobs/coverage_control.h"
#include "scheduling/jobs/last_values.h"
#include "scheduling/jobs/queue_outlook.h"
#include "scheduling/jobs/simulation.h"

namespace berth::sched {

/// Instants, not waits. p50 <= p90.
struct StartEstimate {
  JobIndex job;
  Seconds p50 = 0;
  Seconds p90 = 0;
};

/// Whether starts are estimated under this policy: fifo, easy, berth.
[[nodiscard]] bool has_start_estimates(Policy policy);

/// Follows a run. A value: a copy continues independently. The workload must outlive it.
class StartEstimates {
 public:
  /// Requires: has_start_estimates(policy).
  StartEstimates(const Workload& workload, Policy policy);

  /// To be called after the decision of every instant of the run: estimates for the jobs submitted at it, by row. For a
  /// job that started at once both quantiles are now.
  [[nodiscard]] std::vector<StartEstimate> passed(const Simulation& simulation);
  /// Whether every submitted, unfinished job has an estimate.
  [[nodiscard]] bool are_all_estimated() const { return outlook_.are_all_estimated(); }
  /// The current estimate for a waiting job, whether it waits for the first time or was preempted, as of the latest
  /// instant passed. Requires: the simulation has not advanced beyond that instant, except through time without events.
  [[nodiscard]] StartEstimate of_waiting(const Simulation& simulation, JobIndex job) const;

 private:
  enum class Situation : std::uint8_t { kForeseen, kEstimated, kQueue, kBerth };
  /// Waits in seconds, from now on.
  struct Waits {
    double half = 0;
    double most = 0;
  };
  /// The guesses made at the submit of a waiting job.
  struct Thought {
    JobIndex job;
    Seconds submit = 0;
    std::optional<double> drain = std::nullopt;
    std::optional<double> projection = std::nullopt;
    bool is_estimated = false;
  };
  /// How much longer than guessed jobs have waited, by size and overall.
  class Ratios {
   public:
    void add(GpuCount gpus, double ratio);
    [[nodiscard]] std::optional<double> quantile(GpuCount gpus, std::size_t percent) const;

   private:
    static constexpr std::size_t kCountMax = 200;
    static constexpr std::size_t kOwnMin = 10;
    std::map<GpuCount, LastValues> by_size_;
    LastValues all_{kCountMax};
  };
  struct UsualWaits {
    LastValues last{500};
    LastValues latest{50};
  };
  /// Guesses of one job.
  struct Guesses {
    Outlook outlook = {};
    double waited = 0;
    std::optional<double> usual_half = std::nullopt;
    std::optional<double> usual_most = std::nullopt;
    std::optional<double> latest_half = std::nullopt;
    std::optional<double> drain_half = std::nullopt;
    std::optional<double> drain_most = std::nullopt;
    std::optional<double> projection_half = std::nullopt;
    std::optional<double> projection_most = std::nullopt;
    std::optional<double> latest_start = std::nullopt;
  };

  void learn_start(JobIndex job, Seconds now);
  [[nodiscard]] Situation situation() const;
  [[nodiscard]] Guesses guesses(const Simulation& simulation, JobIndex job, const Outlook& outlook) const;
  [[nodiscard]] Waits waits(const Guesses& guesses, Situation situation, bool is_early) const;
  [[nodiscard]] Waits foreseen(const Guesses& guesses, bool is_early) const;
  [[nodiscard]] Waits estimated(const Guesses& guesses) const;
  [[nodiscard]] Waits of_queue(const Guesses& guesses) const;
  [[nodiscard]] Waits of_berth(const Guesses& guesses) const;
  /// The 90 % wait by a guess whose ratios include jobs that still wait.
  [[nodiscard]] std::optional<double> censored_most(std::optional<double> Thought::* guess,
                                                    std::optional<double> now) const;
  [[nodiscard]] StartEstimate estimate(const Simulation& simulation, JobIndex job, const Waits& waits) const;

  const Workload* workload_;
  Policy policy_;
  std::vector<JobIndex> arrivals_;  ///< by submit, then row
  std::size_t next_arrival_ = 0;
  Seconds now_ = 0;
  QueueOutlook outlook_;
  CoverageControl control_;
  std::map<GpuCount, UsualWaits> usual_;
  Ratios drain_ratios_;
  Ratios projection_ratios_;
  LastValues foreseen_ratios_{50};  ///< of projections made while all jobs had estimates
  std::int64_t foreseen_count_ = 0;
  std::vector<std::optional<std::size_t>> place_;  ///< by job: index into `pending_`
  std::vector<Thought> pending_;                   ///< of jobs that wait for their first start
  struct Outcome {
    Thought thought;
    Seconds wait = 0;
  };
  std::deque<Outcome> outcomes_;  ///< the latest
};

}  // namespace berth::sched
