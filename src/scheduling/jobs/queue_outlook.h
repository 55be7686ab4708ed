/// Guesses of the start of a waiting job from the state of the pool, without any history of earlier waits.
///
/// Three views of one instant, after its decision:
/// - drain: the GPUs requested by the jobs ahead and the job itself, divided by the recent rate at which first starts
///   have taken GPUs: over the time that the head (berth: the oldest job) has waited, at least 600 s, and under fifo
///   and easy over a time as long as the answer itself, refined twice;
/// - head: how long the first job of the queue has waited (fifo, easy);
/// - projection: when the job starts if jobs start in order as soon as enough GPUs are free, no other job arrives, and
///   all run as long as their estimates, or the median of their kind.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "scheduling/jobs/durations.h"
#include "scheduling/jobs/simulation.h"

namespace berth::sched {

/// Seconds from now.
struct Outlook {
  GpuCount gpus_ahead = 0;  ///< requested by the waiting jobs ahead, without the job itself
  std::optional<double> drain = std::nullopt;
  std::optional<double> head = std::nullopt;
  std::optional<double> projection = std::nullopt;
};

/// A simulation in which jobs start in order as GPUs become free.
class Projection {
 public:
  void reset(Seconds now, GpuCount free);
  /// A running job ends.
  void add_end(Seconds end, GpuCount gpus);
  /// Places the next job in order; returns its start.
  Seconds place(GpuCount gpus, Seconds runs);

 private:
  std::vector<std::pair<Seconds, GpuCount>> ends_;  ///< a heap, the earliest first
  GpuCount free_ = 0;
  Seconds time_ = 0;
};

class QueueOutlook {
 public:
  explicit QueueOutlook(const Workload& workload);

  /// To be called in order of time; a job is submitted before it starts.
  void submitted(JobIndex job);
  void started_first(JobIndex job, Seconds now);
  void finished(JobIndex job);

  /// Whether every submitted, unfinished job has an estimate.
  [[nodiscard]] bool are_all_estimated() const { return unestimated_ == 0; }
  /// The outlooks of waiting jobs, in the order given. O(waiting + running), but under fifo and easy O(jobs given) for
  /// long queues: their projection is recomputed only from time to time, and extended in between.
  [[nodiscard]] std::vector<Outlook> look(const Simulation& simulation, const std::vector<JobIndex>& jobs);
  /// Makes the next `look` recompute the projection, whatever the queue.
  void renew_next() { credit_ = std::numeric_limits<std::int32_t>::max(); }

 private:
  /// Sums of GPUs by position in the order of fifo and easy: a Fenwick tree.
  void change_waiting(JobIndex job, GpuCount by);
  [[nodiscard]] GpuCount waiting_before(JobIndex job) const;
  /// The outlook of a job in the current `look`; nullptr for other jobs.
  [[nodiscard]] Outlook* outlook_of(JobIndex job, std::vector<Outlook>& outlooks) const;
  void look_at_queue(const Simulation& simulation, const std::vector<JobIndex>& jobs, std::vector<Outlook>& outlooks);
  void look_at_order(const Simulation& simulation, const std::vector<JobIndex>& jobs, std::vector<Outlook>& outlooks);
  void project(const Simulation& simulation, const std::vector<JobIndex>& queue, const std::vector<JobIndex>& jobs,
               std::vector<Outlook>& outlooks);
  [[nodiscard]] bool may_renew(std::size_t jobs);
  void begin_projection(const World& world);
  [[nodiscard]] Seconds remaining(const World& world, JobIndex job);
  /// The time to start `wanted` GPUs at the rate of the last `back` seconds, at least 600; nothing if no job has
  /// started in them. Seconds before the first submit count as seconds without starts, because a run younger than the
  /// answer has seen few slow times (measured: without them p90 holds no more often).
  [[nodiscard]] std::optional<double> drain(Seconds now, double wanted, Seconds back) const;

  const Workload* workload_;
  Durations durations_;
  std::int64_t unestimated_ = 0;
  std::vector<std::size_t> place_;      ///< by job, from 1
  std::vector<GpuCount> waiting_gpus_;  ///< the tree
  std::vector<std::uint32_t> asked_;    ///< by job: its position, from 1, in the current look
  GpuCount waiting_total_ = 0;
  std::vector<std::pair<Seconds, GpuCount>> starts_;  ///< first starts, and the GPUs of all until then
  Projection projection_;
  bool is_projected_ = false;
  std::int64_t credit_;
};

}  // namespace berth::sched
