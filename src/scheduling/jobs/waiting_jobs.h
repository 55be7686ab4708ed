/// Waiting jobs, in an order that is fixed from the beginning.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "scheduling/jobs/workload.h"

namespace berth::sched {

/// Finds the first job in order that fits into the free GPUs without examining each job: a tree over the order stores
/// the least GPUs and the least estimate of the jobs below each of its nodes. Adding and removing cost O(log n).
class WaitingJobs {
 public:
  /// `order` has every job of the workload, the first one first.
  WaitingJobs(const Workload& workload, const std::vector<JobIndex>& order);

  /// `estimate` is compared with `Room::seconds`.
  void add(JobIndex job, Seconds estimate);
  void remove(JobIndex job);
  /// All jobs, in order.
  [[nodiscard]] std::vector<JobIndex> all() const;
  /// Switches to another workload with the same jobs and GPUs per job, and to another order.
  void rebase(const Workload& workload) { workload_ = &workload; }
  void reorder(const std::vector<JobIndex>& order);
  [[nodiscard]] bool is_empty() const { return nodes_[1].gpus == kNone; }

  /// The free GPUs: for a job of at most `gpus` that ends within `seconds`, or of at most `gpus_longer`.
  struct Room {
    GpuCount gpus = 0;
    Seconds seconds = std::numeric_limits<Seconds>::max();
    GpuCount gpus_longer = 0;
  };
  /// The first job that fits, among all or among those after another one.
  [[nodiscard]] std::optional<JobIndex> first() const;
  [[nodiscard]] std::optional<JobIndex> first_that_fits(const Room& room, std::optional<JobIndex> after) const;

 private:
  static constexpr GpuCount kNone = std::numeric_limits<GpuCount>::max();
  struct Least {
    GpuCount gpus = kNone;
    Seconds seconds = std::numeric_limits<Seconds>::max();
  };
  [[nodiscard]] static bool may_fit(const Least& least, const Room& room) {
    return least.gpus <= room.gpus && (least.seconds <= room.seconds || least.gpus <= room.gpus_longer);
  }
  void collect(std::size_t node, std::size_t begin, std::size_t end, std::vector<JobIndex>& jobs) const;
  void set(std::size_t place, const Least& least);
  [[nodiscard]] std::optional<std::size_t> find(std::size_t node, std::size_t begin, std::size_t end, std::size_t from,
                                                const Room& room) const;

  const Workload* workload_;
  std::vector<JobIndex> order_;
  std::vector<std::size_t> place_of_;  ///< by job
  std::size_t width_ = 1;
  std::vector<Least> nodes_;  ///< 1 is the root, 2i and 2i + 1 are below i
};

}  // namespace berth::sched
