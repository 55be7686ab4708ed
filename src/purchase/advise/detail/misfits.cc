#include "purchase/advise/detail/misfits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "base/core/text.h"

namespace berth::purchase::advise {
namespace {

std::string wish_of(const Pod& pod) {
  std::string wish = fmt::format("{} milli CPU and {} MiB", pod.cpu_milli, pod.memory_mib);
  if (pod.gpu_count == 0) return wish;
  if (pod.is_shared()) {
    wish += fmt::format(", {} thousandths of a GPU", pod.gpu_milli);
  } else {
    wish += fmt::format(", {} GPU{}", pod.gpu_count, pod.gpu_count == 1 ? "" : "s");
  }
  if (!pod.gpu_models.empty()) wish += fmt::format(" of {}", fmt::join(pod.gpu_models, "|"));
  if (pod.gpu_memory_mib > 0) wish += fmt::format(" with {} MiB of GPU memory", pod.gpu_memory_mib);
  return wish;
}

/// What an offer is short of, in words.
std::vector<std::string> shortages(const Pod& pod, const PodClass& pods, const Box& box, const pricing::Shape& shape) {
  std::vector<std::string> found;
  if (box.accepts[pods.kind] == 0) {
    const bool is_small = shape.gpu_memory_mib < pod.gpu_memory_mib;
    found.push_back(is_small ? fmt::format("GPUs with {} MiB", shape.gpu_memory_mib)
                             : fmt::format("GPUs of the model {}", shape.gpu_model));
  }
  if (pod.gpu_count > shape.gpu_count) found.push_back(fmt::format("{} GPUs", shape.gpu_count));
  if (pod.cpu_milli > shape.vcpu_milli) found.push_back(fmt::format("{} milli CPU", shape.vcpu_milli));
  if (pod.memory_mib > shape.memory_mib) found.push_back(fmt::format("{} MiB", shape.memory_mib));
  return found;
}

/// The offer that is short of the fewest resources; ties: the cheapest, then the first.
std::string nearest_offer(const Pod& pod, const PodClass& pods, std::span<const pricing::Offer> offers,
                          const Problem& problem) {
  const auto key = [&](const Box& box) {
    return std::tuple(shortages(pod, pods, box, offers[box.offer].shape).size(), box.micro_usd, box.offer);
  };
  const auto nearest = std::ranges::min_element(problem.boxes, {}, key);
  const pricing::Offer& offer = offers[nearest->offer];
  return fmt::format("the nearest, {} {} in {}, has {}", offer.key.provider, offer.key.instance_type, offer.key.region,
                     fmt::join(shortages(pod, pods, *nearest, offer.shape), ", "));
}

/// "; 7 more pods fit none: "b", "c" and others", or nothing.
std::string words_for_others(std::span<const Pod> pods, std::span<const std::size_t> rows) {
  if (rows.empty()) return "";
  std::string words = fmt::format("; {} more pod{}: ", rows.size(), rows.size() == 1 ? " fits none" : "s fit none");
  const std::size_t named = std::min(rows.size(), kMisfitsNamedMax);
  for (std::size_t i = 0; i < named; ++i)
    words += fmt::format("{}{}", i == 0 ? "" : ", ", in_quotes(pods[rows[i]].name));
  return words + (named < rows.size() ? " and others" : "");
}

}  // namespace

Result<void> check_each_fits(std::span<const Pod> pods, std::span<const pricing::Offer> offers, const Problem& problem,
                             std::string_view file) {
  if (problem.boxes.empty()) return invalid("wanted at least one offer that can be bought, found none");
  std::vector<std::size_t> misfits;
  for (std::size_t row = 0; row < pods.size(); ++row) {
    const PodClass& of = problem.class_of_row(row);
    const auto holds = [&](std::size_t box) { return holds_alone(problem.boxes[box], of); };
    if (std::ranges::none_of(problem.choices, holds)) misfits.push_back(row);
  }
  if (misfits.empty()) return {};
  const std::size_t row = misfits.front();
  constexpr std::size_t kFirstLine = 2;  // after the header
  const std::string message =
      fmt::format("wanted a pod that an offer holds, found {} with {}; {}{}", in_quotes(pods[row].name),
                  wish_of(pods[row]), nearest_offer(pods[row], problem.class_of_row(row), offers, problem),
                  words_for_others(pods, std::span(misfits).subspan(1)));
  return tl::unexpected(error_at(file, {row + kFirstLine, 1}, message));
}

}  // namespace berth::purchase::advise
