#include "scheduling/jobs/waiting_jobs.h"

#include <algorithm>
#include <bit>

namespace berth::sched {

WaitingJobs::WaitingJobs(const Workload& workload, const std::vector<JobIndex>& order)
    : workload_(&workload),
      order_(order),
      place_of_(order.size()),
      width_(std::bit_ceil(std::max<std::size_t>(1, order.size()))),
      nodes_(2 * width_) {
  for (std::size_t place = 0; place < order_.size(); ++place)
    place_of_[static_cast<std::size_t>(order_[place])] = place;
}

void WaitingJobs::set(std::size_t place, const Least& least) {
  std::size_t node = width_ + place;
  nodes_[node] = least;
  for (node /= 2; node > 0; node /= 2) {
    nodes_[node] = {.gpus = std::min(nodes_[2 * node].gpus, nodes_[2 * node + 1].gpus),
                    .seconds = std::min(nodes_[2 * node].seconds, nodes_[2 * node + 1].seconds)};
  }
}

void WaitingJobs::add(JobIndex job, Seconds estimate) {
  set(place_of_[static_cast<std::size_t>(job)], {.gpus = workload_->job(job).gpus, .seconds = estimate});
}

void WaitingJobs::remove(JobIndex job) { set(place_of_[static_cast<std::size_t>(job)], {}); }

std::vector<JobIndex> WaitingJobs::all() const {
  std::vector<JobIndex> jobs;
  collect(1, 0, width_, jobs);
  return jobs;
}

void WaitingJobs::collect(std::size_t node, std::size_t begin, std::size_t end, std::vector<JobIndex>& jobs) const {
  if (nodes_[node].gpus == kNone) return;
  if (end - begin == 1) return jobs.push_back(order_[begin]);
  const std::size_t middle = begin + (end - begin) / 2;
  collect(2 * node, begin, middle, jobs);
  collect(2 * node + 1, middle, end, jobs);
}

void WaitingJobs::reorder(const std::vector<JobIndex>& order) {
  WaitingJobs reordered(*workload_, order);
  for (const JobIndex job : all())
    reordered.add(job, nodes_[width_ + place_of_[static_cast<std::size_t>(job)]].seconds);
  *this = std::move(reordered);
}

std::optional<JobIndex> WaitingJobs::first() const {
  return first_that_fits({.gpus = kNone - 1, .gpus_longer = kNone - 1}, std::nullopt);
}

std::optional<JobIndex> WaitingJobs::first_that_fits(const Room& room, std::optional<JobIndex> after) const {
  const std::size_t from = after ? place_of_[static_cast<std::size_t>(*after)] + 1 : 0;
  const auto place = find(1, 0, width_, from, room);
  return place ? std::optional(order_[*place]) : std::nullopt;
}

std::optional<std::size_t> WaitingJobs::find(std::size_t node, std::size_t begin, std::size_t end, std::size_t from,
                                             const Room& room) const {
  if (end <= from || !may_fit(nodes_[node], room)) return std::nullopt;
  if (end - begin == 1) return begin;
  const std::size_t middle = begin + (end - begin) / 2;
  if (const auto left = find(2 * node, begin, middle, from, room)) return left;
  return find(2 * node + 1, middle, end, from, room);
}

}  // namespace berth::sched
