#include "sim/size_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace berth::sim {
namespace {

const PolicySize* size_of(const SizeResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.policies, name, &PolicySize::name);
  return found == result.policies.end() ? nullptr : &*found;
}

/// Fewer GPUs, or as many and more goodput.
bool is_smaller(const PolicySize& a, const PolicySize& b) {
  if (*a.gpus != *b.gpus) return *a.gpus < *b.gpus;
  return a.at_answer->figures.goodput_mean_of_services.value_or(0) >
         b.at_answer->figures.goodput_mean_of_services.value_or(0);
}

const PolicySize* smallest_of(const SizeResult& result, bool is_hindsight) {
  const PolicySize* smallest = nullptr;
  for (const PolicySize& policy : result.policies) {
    if (!policy.gpus || policy.is_hindsight != is_hindsight) continue;
    if (smallest == nullptr || is_smaller(policy, *smallest)) smallest = &policy;
  }
  return smallest;
}

/// "38% less cost than shared (8 GPUs) at 1.60 times its effective utilisation"; empty without that reference.
std::string reference_words(const SizeResult& result, const PolicySize& policy, std::string_view reference) {
  const PolicySize* other = size_of(result, reference);
  if (other == nullptr || other == &policy) return "";
  if (!other->gpus) return fmt::format("{} does not hold with up to {}", reference, result.options.gpus_max);
  const SizeComparison compared = *compare_sizes(result, policy, reference);
  std::string text = fmt::format("{} {} ({})", cost_words(compared.cost_change), reference, counted_gpus(*other->gpus));
  if (compared.effective_ratio) {
    text += fmt::format(" at {:.2f} times its effective utilisation", *compared.effective_ratio);
  }
  return text;
}

/// What the policy is against each reference, after a colon; or nothing.
std::string references_words(const SizeResult& result, const PolicySize& policy) {
  std::string text;
  for (const std::string_view reference : kReferencePolicies) {
    const std::string words = reference_words(result, policy, reference);
    if (!words.empty()) text += (text.empty() ? ": " : ", ") + words;
  }
  return text;
}

}  // namespace

std::optional<SizeComparison> compare_sizes(const SizeResult& result, const PolicySize& policy,
                                            std::string_view reference) {
  const PolicySize* other = size_of(result, reference);
  if (other == nullptr || other == &policy || !policy.gpus || !other->gpus) return std::nullopt;
  SizeComparison compared{
      .cost_change = static_cast<double>(*policy.gpus - *other->gpus) / static_cast<double>(*other->gpus),
      .effective_ratio = std::nullopt};
  const double used = other->at_answer->figures.utilisation.effective;
  if (used > 0) compared.effective_ratio = policy.at_answer->figures.utilisation.effective / used;
  return compared;
}

std::string cost_words(double cost_change) {
  const double percent = std::round(cost_change * 100);
  if (percent == 0) return "the same cost as";
  return fmt::format("{:.0f}% {} cost than", std::abs(percent), percent > 0 ? "more" : "less");
}

std::string size_headline(const SizeResult& result) {
  const PolicySize* live = smallest_of(result, false);
  const PolicySize* hindsight = smallest_of(result, true);
  std::string text;
  if (live != nullptr) {
    text = fmt::format("{} needs {}, the fewest without hindsight{}.", live->name, counted_gpus(*live->gpus),
                       references_words(result, *live));
  } else {
    text = fmt::format("No policy without hindsight keeps every share with up to {} GPUs.", result.options.gpus_max);
  }
  if (hindsight != nullptr && (live == nullptr || *hindsight->gpus < *live->gpus)) {
    text += fmt::format(" {}, which knows the whole trace beforehand, needs {}.", hindsight->name,
                        counted_gpus(*hindsight->gpus));
  }
  return text;
}

}  // namespace berth::sim
