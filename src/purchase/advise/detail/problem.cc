#include "purchase/advise/detail/problem.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace berth::purchase::advise {
namespace {

/// A pod's requirements on GPUs beyond their number.
struct GpuKind {
  std::vector<std::string> models;  ///< in lower case, sorted; empty: any
  std::int64_t memory_mib = 0;

  friend auto operator<=>(const GpuKind&, const GpuKind&) = default;
};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// Pods without GPUs may run anywhere, whatever their models.
GpuKind kind_of(const Pod& pod) {
  GpuKind kind;
  if (pod.gpu_count == 0) return kind;
  for (const std::string& model : pod.gpu_models) kind.models.push_back(in_lower_case(model));
  std::ranges::sort(kind.models);
  const auto repeated = std::ranges::unique(kind.models);
  kind.models.erase(repeated.begin(), repeated.end());
  kind.memory_mib = pod.gpu_memory_mib;
  return kind;
}

bool is_accepted(const GpuKind& kind, const pricing::Shape& shape) {
  if (shape.gpu_memory_mib < kind.memory_mib) return false;
  return kind.models.empty() || std::ranges::binary_search(kind.models, in_lower_case(shape.gpu_model));
}

Need need_of(const Pod& pod) {
  return {.cpu_milli = pod.cpu_milli,
          .memory_mib = pod.memory_mib,
          .whole_gpus = pod.is_shared() ? 0 : pod.gpu_count,
          .share_milli = pod.is_shared() ? pod.gpu_milli : 0};
}

/// Returns the kinds, in the order of first use.
std::vector<GpuKind> take_pods(std::span<const Pod> pods, Problem& problem) {
  std::vector<GpuKind> kinds;
  std::map<GpuKind, std::size_t> kind_numbers;
  std::map<std::pair<Need, std::size_t>, std::size_t> class_numbers;
  problem.class_of.reserve(pods.size());
  for (std::size_t row = 0; row < pods.size(); ++row) {
    GpuKind wanted = kind_of(pods[row]);
    const auto [kind, is_new_kind] = kind_numbers.emplace(wanted, kinds.size());
    if (is_new_kind) kinds.push_back(std::move(wanted));
    const Need need = need_of(pods[row]);
    const auto [found, is_new] = class_numbers.emplace(std::pair(need, kind->second), problem.classes.size());
    if (is_new) problem.classes.push_back({.need = need, .kind = kind->second, .rows = {}, .weights = {}});
    problem.classes[found->second].rows.push_back(row);
    problem.class_of.push_back(found->second);
  }
  return kinds;
}

/// Bit s is set if shares of these sizes (any number of each) can sum to s.
std::bitset<kGpuMilli + 1> reachable_sums(const std::set<int>& sizes) {
  std::bitset<kGpuMilli + 1> sums;
  sums.set(0);
  for (const int size : sizes) {
    for (int sum = size; sum <= kGpuMilli; ++sum) {
      if (sums.test(static_cast<std::size_t>(sum - size))) sums.set(static_cast<std::size_t>(sum));
    }
  }
  return sums;
}

/// The largest size that a share can be raised to without excluding any packing. A GPU that holds the share always
/// leaves some thousandths free; its copies on that GPU, at most 1000 / size, divide them.
int raised_share(int size, const std::set<int>& sizes) {
  const auto sums = reachable_sums(sizes);
  int others = kGpuMilli - size;
  while (!sums.test(static_cast<std::size_t>(others))) --others;
  return size + (kGpuMilli - size - others) / (kGpuMilli / size);
}

/// Raises the sizes one after the other, the largest first: each step preserves the feasible packings, so all together
/// do.
std::map<int, int> raised_shares(const std::vector<PodClass>& classes) {
  std::set<int> sizes;
  for (const PodClass& pods : classes) {
    if (pods.need.share_milli > 0) sizes.insert(pods.need.share_milli);
  }
  std::map<int, int> raised;
  const std::vector<int> originals(sizes.rbegin(), sizes.rend());
  std::vector<int> now = originals;
  for (std::size_t i = 0; i < now.size(); ++i) {
    now[i] = raised_share(now[i], std::set<int>(now.begin(), now.end()));
    raised[originals[i]] = now[i];
  }
  return raised;
}

/// The dual feasible function u(k): x where (k + 1) x is a whole number, else floor((k + 1) x) / k.
/// Returns `unit` x u(k); `unit` is a multiple of k and of k + 1.
std::int64_t steps_of(int milli, int k, int unit) {
  const int scaled = (k + 1) * milli;
  if (scaled % kGpuMilli == 0) return std::int64_t{unit} * (scaled / kGpuMilli) / (k + 1);
  return std::int64_t{unit} * (scaled / kGpuMilli) / k;
}

constexpr int kHalves = 2;
constexpr int kSixths = 6;
constexpr int kTwelfths = 12;
constexpr int kTwentieths = 20;

Weights weights_of(const Need& need, const std::map<int, int>& raised) {
  Weights weights = {};
  weights[kCpu] = need.cpu_milli;
  weights[kMemory] = need.memory_mib;
  const bool is_shared = need.share_milli > 0;
  const int milli = is_shared ? raised.at(need.share_milli) : kGpuMilli;
  const std::int64_t count = is_shared ? 1 : need.whole_gpus;
  weights[kGpuThousandths] = count * milli;
  weights[kGpuHalves] = count * steps_of(milli, 1, kHalves);
  weights[kGpuSixths] = count * steps_of(milli, 2, kSixths);
  weights[kGpuTwelfths] = count * steps_of(milli, 3, kTwelfths);
  weights[kGpuTwentieths] = count * steps_of(milli, 4, kTwentieths);
  return weights;
}

Box box_of(const pricing::Offer& offer, std::size_t number, const std::vector<GpuKind>& kinds) {
  const std::int64_t gpus = offer.shape.gpu_count;
  Box box{.offer = number,
          .micro_usd = *offer.micro_usd_per_hour,
          .gpu_count = offer.shape.gpu_count,
          .capacity = {offer.shape.vcpu_milli, offer.shape.memory_mib, gpus * kGpuMilli, gpus * kHalves, gpus * kSixths,
                       gpus * kTwelfths, gpus * kTwentieths},
          .accepts = {}};
  box.accepts.reserve(kinds.size());
  for (const GpuKind& kind : kinds) box.accepts.push_back(is_accepted(kind, offer.shape) ? 1 : 0);
  return box;
}

/// Whether `a` can replace `b` everywhere.
bool is_no_worse(const Box& a, const Box& b) {
  if (a.micro_usd > b.micro_usd) return false;
  for (std::size_t resource = 0; resource < kResources; ++resource) {
    if (a.capacity[resource] < b.capacity[resource]) return false;
  }
  for (std::size_t kind = 0; kind < a.accepts.size(); ++kind) {
    if (a.accepts[kind] < b.accepts[kind]) return false;
  }
  return true;
}

std::vector<std::size_t> choices_of(const std::vector<Box>& boxes) {
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // At equal prices the larger capacity comes first, so that a box comes after those that dominate it.
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::tie(boxes[a].micro_usd, boxes[b].capacity, a) < std::tie(boxes[b].micro_usd, boxes[a].capacity, b);
  });
  std::vector<std::size_t> choices;
  for (const std::size_t box : order) {
    const auto replaces = [&](std::size_t other) { return is_no_worse(boxes[other], boxes[box]); };
    if (std::ranges::none_of(choices, replaces)) choices.push_back(box);
  }
  return choices;
}

}  // namespace

Problem make_problem(std::span<const Pod> pods, std::span<const pricing::Offer> offers) {
  Problem problem;
  const std::vector<GpuKind> kinds = take_pods(pods, problem);
  const std::map<int, int> raised = raised_shares(problem.classes);
  for (PodClass& pods_alike : problem.classes) pods_alike.weights = weights_of(pods_alike.need, raised);
  for (std::size_t number = 0; number < offers.size(); ++number) {
    if (pricing::is_buyable(offers[number])) problem.boxes.push_back(box_of(offers[number], number, kinds));
  }
  problem.choices = choices_of(problem.boxes);
  return problem;
}

void Load::add(const Need& need) {
  cpu_milli += need.cpu_milli;
  memory_mib += need.memory_mib;
  whole_gpus += need.whole_gpus;
  if (need.share_milli == 0) return;
  const auto fits = [&](int used) { return used + need.share_milli <= kGpuMilli; };
  const auto gpu = std::ranges::find_if(used_milli, fits);
  if (gpu == used_milli.end()) {
    used_milli.push_back(need.share_milli);
  } else {
    *gpu += need.share_milli;
  }
}

bool is_within(const Load& load, const Box& box) {
  return load.cpu_milli <= box.capacity[kCpu] && load.memory_mib <= box.capacity[kMemory] &&
         load.gpus_used() <= box.gpu_count;
}

bool holds_alone(const Box& box, const PodClass& pods) {
  if (box.accepts[pods.kind] == 0) return false;
  for (std::size_t resource = 0; resource < kResources; ++resource) {
    if (pods.weights[resource] > box.capacity[resource]) return false;
  }
  return true;
}

}  // namespace berth::purchase::advise
