#include "purchase/advise/detail/gpu_sharing.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>

#include "base/core/ensure.h"
#include "purchase/advise/detail/problem.h"

namespace berth::purchase::advise {
namespace {

/// Depth first, the largest share first, trying only GPUs whose free capacity differs from those tried before.
class SharingSearch {
 public:
  SharingSearch(std::span<const int> sizes, const std::vector<std::size_t>& order, int gpu_count, int nodes_max)
      : sizes_(sizes),
        order_(order),
        free_(static_cast<std::size_t>(gpu_count), kGpuMilli),
        gpu_(sizes.size()),
        nodes_max_(nodes_max) {}

  /// First fit decreasing.
  bool first_fit() {
    for (const std::size_t item : order_) {
      const auto gpu = std::ranges::find_if(free_, [&](int free) { return free >= sizes_[item]; });
      if (gpu == free_.end()) return false;
      *gpu -= sizes_[item];
      gpu_[item] = static_cast<int>(gpu - free_.begin());
    }
    return true;
  }

  bool search() {
    std::ranges::fill(free_, kGpuMilli);
    return place(0);
  }

  /// Whether the search ended at its limit; it has proven nothing then.
  [[nodiscard]] bool is_out_of_nodes() const { return nodes_ > nodes_max_; }

  [[nodiscard]] std::vector<int> answer() const { return gpu_; }

 private:
  // Bounded by the number of shares in depth, and by `nodes_max` calls.
  bool place(std::size_t depth) {
    if (depth == order_.size()) return true;
    if (++nodes_ > nodes_max_) return false;
    const std::size_t item = order_[depth];
    for (std::size_t gpu = 0; gpu < free_.size(); ++gpu) {
      const int rest = free_[gpu];
      const auto begin = free_.begin();
      const bool is_tried =
          std::find(begin, begin + static_cast<std::ptrdiff_t>(gpu), rest) != begin + static_cast<std::ptrdiff_t>(gpu);
      if (rest < sizes_[item] || is_tried) continue;
      free_[gpu] -= sizes_[item];
      gpu_[item] = static_cast<int>(gpu);
      if (place(depth + 1)) return true;
      free_[gpu] += sizes_[item];
    }
    return false;
  }

  std::span<const int> sizes_;
  const std::vector<std::size_t>& order_;
  std::vector<int> free_;
  std::vector<int> gpu_;
  int nodes_ = 0;
  int nodes_max_;
};

/// The indices of the sizes, the largest size first.
std::vector<std::size_t> descending(std::span<const int> sizes) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order,
                    [&](std::size_t a, std::size_t b) { return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : a < b; });
  return order;
}

int gpus_for_sum(std::span<const int> sizes) {
  const int sum = std::accumulate(sizes.begin(), sizes.end(), 0);
  return (sum + kGpuMilli - 1) / kGpuMilli;
}

/// There are many sets, and their GPU counts need not be exact.
constexpr int kNodesPerSet = 300;

/// A lower bound on the number of GPUs.
int fewest_gpus(std::span<const int> sizes, int at_least) {
  const std::vector<std::size_t> order = descending(sizes);
  for (int gpus = std::max(at_least, gpus_for_sum(sizes));; ++gpus) {
    SharingSearch search(sizes, order, gpus, kNodesPerSet);
    if (search.first_fit() || search.search() || search.is_out_of_nodes()) return gpus;
  }
}

}  // namespace

Sharing share_gpus(std::span<const int> sizes, int gpu_count, int nodes_max) {
  ENSURE(gpu_count >= 0 && nodes_max >= 0);
  if (sizes.empty()) return {.gpus = std::vector<int>(), .is_proven = true};
  if (gpu_count < gpus_for_sum(sizes)) return {.gpus = std::nullopt, .is_proven = true};
  const std::vector<std::size_t> order = descending(sizes);
  SharingSearch search(sizes, order, gpu_count, nodes_max);
  if (search.first_fit() || search.search()) return {.gpus = search.answer(), .is_proven = true};
  return {.gpus = std::nullopt, .is_proven = !search.is_out_of_nodes()};
}

ShareSets::ShareSets() : sets_(1), numbers_({{{}, 0}}), size_numbers_(kGpuMilli + 1, kUnknown) {}

int ShareSets::with(int set, int size, int count) {
  for (int i = 0; i < count; ++i) set = with_one(set, size);
  return set;
}

int ShareSets::with_one(int set, int size) {
  int& size_number = size_numbers_[static_cast<std::size_t>(size)];
  if (size_number == kUnknown) size_number = size_count_++;
  const auto at = static_cast<std::size_t>(size_number);
  const Set& from = sets_[static_cast<std::size_t>(set)];
  if (at < from.next.size() && from.next[at] != kUnknown) return from.next[at];
  std::vector<int> sizes;
  sizes.reserve(from.sizes.size() + 1);
  sizes = from.sizes;
  sizes.insert(std::ranges::upper_bound(sizes, size, std::greater<>()), size);
  const int number = set_of(std::move(sizes), from.gpus_min);
  std::vector<int>& next = sets_[static_cast<std::size_t>(set)].next;
  if (next.size() <= at) next.resize(at + 1, kUnknown);
  next[at] = number;
  return number;
}

int ShareSets::set_of(std::vector<int> sizes, int gpus_at_least) {
  const auto [found, is_new] = numbers_.emplace(std::move(sizes), static_cast<int>(sets_.size()));
  if (is_new) {
    sets_.push_back({.sizes = found->first, .gpus_min = fewest_gpus(found->first, gpus_at_least), .next = {}});
  }
  return found->second;
}

bool ShareSets::is_no_harder(int a, int b) const {
  if (a == b) return true;
  const std::vector<int>& easier = sets_[static_cast<std::size_t>(a)].sizes;
  const std::vector<int>& harder = sets_[static_cast<std::size_t>(b)].sizes;
  if (easier.size() > harder.size()) return false;
  return std::equal(easier.begin(), easier.end(), harder.begin(), std::less_equal<>());
}

}  // namespace berth::purchase::advise
