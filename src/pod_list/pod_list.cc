#include "pod_list/pod_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/first_error.h"
#include "base/rows.h"

namespace berth {
namespace {

constexpr std::int64_t kNumberMax = 1'000'000'000;
constexpr int kWholeGpuMilli = 1000;
constexpr int kGpusMax = 1'000'000;

enum Column : std::size_t { kName, kCpu, kMemory, kGpus, kGpuMilli, kGpuSpec, kGang, kGpuMemory };

const NamedColumns pod_columns = {.required = {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"},
                                  .optional = {"gpu_spec", "gang", "gpu_memory_mib"}};

std::vector<std::string> split_models(std::string_view text) {
  std::vector<std::string> models;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size());
    std::string model(text.substr(0, end));
    if (!model.empty() && std::ranges::find(models, model) == models.end()) models.push_back(std::move(model));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return models;
}

/// The share of each GPU: 0 for a pod without GPUs.
Result<int> gpu_milli(const Rows& rows, int gpu_count) {
  const int min = gpu_count == 0 ? 0 : gpu_count == 1 ? 1 : kWholeGpuMilli;
  const int max = gpu_count == 0 ? 0 : kWholeGpuMilli;
  const auto milli = rows.integer(kGpuMilli, min, max);
  if (milli) return static_cast<int>(*milli);
  const std::string range = min == max ? fmt::format("{}", max) : fmt::format("a whole number from {} to {}", min, max);
  return rows.refuse(kGpuMilli, fmt::format("{} with num_gpu {}", range, gpu_count));
}

Result<Pod> pod_row(const Rows& rows) {
  FirstError first;
  Pod pod;
  pod.name = first.take(rows.word(kName));
  pod.cpu_milli = first.take(rows.integer(kCpu, 0, kNumberMax));
  pod.memory_mib = first.take(rows.integer(kMemory, 0, kNumberMax));
  pod.gpu_count = static_cast<int>(first.take(rows.integer(kGpus, 0, kGpusMax)));
  if (!first.is_clear()) return first.passed_on();
  pod.gpu_milli = first.take(gpu_milli(rows, pod.gpu_count));
  pod.gpu_models = split_models(rows.field(kGpuSpec));
  pod.gang = rows.field(kGang);
  if (!rows.field(kGpuMemory).empty()) pod.gpu_memory_mib = first.take(rows.integer(kGpuMemory, 0, kNumberMax));
  if (!first.is_clear()) return first.passed_on();
  return pod;
}

}  // namespace

Result<std::vector<Pod>> read_pods(std::string_view text, std::string_view file) {
  Rows rows(text, file, pod_columns);
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  std::vector<Pod> pods;
  std::unordered_set<std::string> names;
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) break;
    auto pod = pod_row(rows);
    if (!pod) return pass_on(pod.error());
    if (!names.insert(pod->name).second) return rows.refuse(kName, "a name that no other pod has");
    pods.push_back(std::move(*pod));
  }
  if (pods.empty()) return rows.fail_file("wanted at least one pod, found none");
  return pods;
}

}  // namespace berth
