#include "purchase/advise/detail/plan.h"

#include <algorithm>

#include "purchase/advise/detail/gpu_sharing.h"

namespace berth::purchase::advise {
namespace {

bool is_each_accepted(const Problem& problem, const Box& box, const std::vector<std::size_t>& rows) {
  return std::ranges::all_of(rows, [&](std::size_t row) { return box.accepts[problem.class_of_row(row).kind] != 0; });
}

}  // namespace

std::int64_t cost_of(const Problem& problem, const Plan& plan) {
  std::int64_t sum = 0;
  for (const Filled& filled : plan) sum += problem.boxes[filled.box].micro_usd;
  return sum;
}

std::optional<std::size_t> cheapest_holder(const Problem& problem, const std::vector<std::size_t>& rows) {
  Load load;
  std::vector<int> shares;
  for (const std::size_t row : rows) {
    const Need& need = problem.class_of_row(row).need;
    load.cpu_milli += need.cpu_milli;
    load.memory_mib += need.memory_mib;
    load.whole_gpus += need.whole_gpus;
    if (need.share_milli > 0) shares.push_back(need.share_milli);
  }
  for (const std::size_t number : problem.choices) {
    const Box& box = problem.boxes[number];
    if (!is_within(load, box) || !is_each_accepted(problem, box, rows)) continue;
    if (share_gpus(shares, box.gpu_count - load.whole_gpus, kSharingNodes).gpus) return number;
  }
  return std::nullopt;
}

}  // namespace berth::purchase::advise
