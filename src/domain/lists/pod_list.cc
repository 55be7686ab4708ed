#include "domain/lists/pod_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/core/first_error.h"
#include "base/core/rows.h"
#include "base/core/text.h"

namespace berth {
namespace {

constexpr std::int64_t kPodNumberMax = 1'000'000'000;
constexpr int kWholeGpuMilli = 1000;
constexpr int kSliceCountMax = 99;

struct PodColumn {
  enum : std::size_t { kName, kCpu, kMemory, kGpus, kGpuMilli, kGpuSpec, kGang, kGpuMemory, kProfile };
};

const NamedColumns pod_columns = {.required = {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"},
                                  .optional = {"gpu_spec", "gang", "gpu_memory_mib", "profile"}};

/// The words between bars, empty ones too.
std::vector<std::string_view> split_alternatives(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('|', from), text.size());
    words.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return words;
}

std::vector<std::string> split_models(std::string_view text) {
  std::vector<std::string> models;
  for (const std::string_view model : split_alternatives(text)) {
    if (!model.empty() && std::ranges::find(models, model) == models.end()) models.emplace_back(model);
  }
  return models;
}

/// "2x2g.20gb" or "2g.20gb"; nothing if it is neither.
std::optional<SliceRequest> slice_request(std::string_view text, const PodListForm& form) {
  const std::size_t times = text.find('x');
  const auto count = parse_count(text.substr(0, std::min(times, text.size())), kSliceCountMax);
  const bool has_count = times != std::string_view::npos && count && *count > 0;
  const std::string_view profile = has_count ? text.substr(times + 1) : text;
  if (!form.is_profile(profile)) return std::nullopt;
  return SliceRequest{.count = has_count ? static_cast<int>(*count) : 1, .profile = std::string(profile)};
}

Result<std::vector<SliceRequest>> slice_requests(const Rows& rows, int gpu_count, const PodListForm& form) {
  std::vector<SliceRequest> requests;
  const std::string_view text = rows.field(PodColumn::kProfile);
  if (form.is_profile == nullptr || text.empty()) return requests;
  if (gpu_count != 1) return rows.refuse(PodColumn::kProfile, fmt::format("nothing with num_gpu {}", gpu_count));
  for (const std::string_view word : split_alternatives(text)) {
    auto request = slice_request(word, form);
    if (!request) return rows.refuse(PodColumn::kProfile, "MIG profiles such as 3g.40gb or 2x2g.20gb, joined by |");
    requests.push_back(std::move(*request));
  }
  if (rows.field(PodColumn::kGpuMilli).empty() && !form.fits_one_gpu(requests.front())) {
    return rows.refuse(PodColumn::kProfile, "first slices that one GPU can hold or a gpu_milli");
  }
  return requests;
}

/// The share of each GPU: 0 for a pod without GPUs.
Result<int> gpu_milli(const Rows& rows, int gpu_count) {
  const int min = gpu_count == 0 ? 0 : gpu_count == 1 ? 1 : kWholeGpuMilli;
  const int max = gpu_count == 0 ? 0 : kWholeGpuMilli;
  const auto milli = rows.integer(PodColumn::kGpuMilli, min, max);
  if (milli) return static_cast<int>(*milli);
  const std::string range = min == max ? fmt::format("{}", max) : fmt::format("a whole number from {} to {}", min, max);
  return rows.refuse(PodColumn::kGpuMilli, fmt::format("{} with num_gpu {}", range, gpu_count));
}

Result<Pod> pod_row(const Rows& rows, const PodListForm& form) {
  FirstError first;
  Pod pod;
  pod.name = first.take(rows.word(PodColumn::kName));
  pod.cpu_milli = first.take(rows.integer(PodColumn::kCpu, 0, kPodNumberMax));
  pod.memory_mib = first.take(rows.integer(PodColumn::kMemory, 0, kPodNumberMax));
  pod.gpu_count = static_cast<int>(first.take(rows.integer(PodColumn::kGpus, 0, form.gpu_count_max)));
  if (!first.is_clear()) return first.passed_on();
  pod.slices = first.take(slice_requests(rows, pod.gpu_count, form));
  const bool is_milli_open = !pod.slices.empty() && rows.field(PodColumn::kGpuMilli).empty();
  if (!is_milli_open) pod.gpu_milli = first.take(gpu_milli(rows, pod.gpu_count));
  pod.gpu_spec = rows.field(PodColumn::kGpuSpec);
  pod.gpu_models = split_models(pod.gpu_spec);
  pod.gang = rows.field(PodColumn::kGang);
  if (!rows.field(PodColumn::kGpuMemory).empty())
    pod.gpu_memory_mib = first.take(rows.integer(PodColumn::kGpuMemory, 0, kPodNumberMax));
  if (!first.is_clear()) return first.passed_on();
  return pod;
}

}  // namespace

Result<std::vector<Pod>> read_pods(std::string_view text, std::string_view file, const PodListForm& form) {
  Rows rows(text, file, pod_columns);
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  std::vector<Pod> pods;
  std::unordered_set<std::string> names;
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) break;
    auto pod = pod_row(rows, form);
    if (!pod) return pass_on(pod.error());
    if (!names.insert(pod->name).second) return rows.refuse(PodColumn::kName, "a name that no other pod has");
    pods.push_back(std::move(*pod));
  }
  if (pods.empty()) return rows.fail_file("wanted at least one pod, found none");
  return pods;
}

}  // namespace berth
