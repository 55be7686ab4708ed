#include "sim/study/size_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/policy/registry.h"
#include "sim/study/size_remarks.h"

namespace berth::study {
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

/// A class of policies: with or without hindsight, and keeping the isolation or not.
struct PolicyClass {
  bool is_hindsight = false;
  bool is_isolated = true;
};

const PolicySize* smallest_of(const SizeResult& result, PolicyClass wanted) {
  const PolicySize* smallest = nullptr;
  for (const PolicySize& policy : result.policies) {
    if (!policy.gpus || policy.is_hindsight != wanted.is_hindsight || keeps_isolation(policy) != wanted.is_isolated) {
      continue;
    }
    if (smallest == nullptr || is_smaller(policy, *smallest)) smallest = &policy;
  }
  return smallest;
}

/// The policies with the fewest GPUs, with or without hindsight: `best` keeps the isolation if any policy does;
/// `looser` needs fewer GPUs but does not keep it.
struct Smallest {
  const PolicySize* best = nullptr;
  const PolicySize* looser = nullptr;
};

Smallest smallest_of(const SizeResult& result, bool is_hindsight) {
  const PolicySize* isolated = smallest_of(result, {.is_hindsight = is_hindsight, .is_isolated = true});
  const PolicySize* loose = smallest_of(result, {.is_hindsight = is_hindsight, .is_isolated = false});
  if (isolated == nullptr) return {.best = loose, .looser = nullptr};
  const bool is_looser_smaller = loose != nullptr && *loose->gpus < *isolated->gpus;
  return {.best = isolated, .looser = is_looser_smaller ? loose : nullptr};
}

/// " (does not keep a.isolation; smallest of those tried; 2 counts below not tried)", or nothing.
std::string caveats(const PolicySize& policy) {
  std::vector<std::string> words;
  for (std::string some : {not_kept_words(policy), not_proven_words(policy)}) {
    if (!some.empty()) words.push_back(std::move(some));
  }
  return words.empty() ? "" : fmt::format(" ({})", fmt::join(words, "; "));
}

/// "with up to 64 GPUs", or "with the counts tried up to 64 GPUs" where not all of them were.
std::string up_to_words(const SizeResult& result, bool is_proven) {
  return fmt::format("with {}up to {}", is_proven ? "" : "the counts tried ", counted_gpus(result.options.gpus_max));
}

/// "38% less cost than shared (8 GPUs) at 1.60 times its effective utilisation"; empty without that reference.
std::string reference_words(const SizeResult& result, const PolicySize& policy, std::string_view reference) {
  const PolicySize* other = size_of(result, reference);
  if (other == nullptr || other == &policy) return "";
  if (!other->gpus) {
    return fmt::format("{} does not reach the target {}", reference, up_to_words(result, other->is_smallest_proven));
  }
  const SizeComparison compared = *compare_sizes(result, policy, reference);
  std::string text =
      fmt::format("{} {} ({}{})", cost_words(compared.cost_change), reference, counted_gpus(*other->gpus),
                  keeps_isolation(*other) ? "" : ", " + not_kept_words(*other));
  if (compared.effective_ratio) {
    text += fmt::format(" at {:.2f} times its effective utilisation", *compared.effective_ratio);
  }
  return text;
}

/// The policy compared with each reference, after a colon; empty without references.
std::string references_words(const SizeResult& result, const PolicySize& policy) {
  std::string text;
  for (const std::string& reference : policy::reference_names()) {
    const std::string words = reference_words(result, policy, reference);
    if (!words.empty()) text += (text.empty() ? ": " : ", ") + words;
  }
  return text;
}

bool has_isolated(const SizeResult& result) {
  return std::ranges::any_of(result.policies,
                             [](const PolicySize& policy) { return policy.gpus && keeps_isolation(policy); });
}

/// "paris needs 3 GPUs, the fewest without hindsight: ...", and the policy that needs fewer by breaking the isolation.
std::string best_words(const SizeResult& result, const Smallest& smallest) {
  const PolicySize& best = *smallest.best;
  // GPUs saved by breaking the isolation do not count as a saving if another policy keeps it.
  const bool has_savings = keeps_isolation(best) || !has_isolated(result);
  const bool is_among_isolated = smallest.looser != nullptr;
  std::string text =
      fmt::format("{} needs {}{}, the fewest {} hindsight{}{}.", best.name, counted_gpus(*best.gpus), caveats(best),
                  best.is_hindsight ? "with" : "without", is_among_isolated ? " of those that keep the isolation" : "",
                  has_savings ? references_words(result, best) : "");
  if (is_among_isolated) {
    const PolicySize& looser = *smallest.looser;
    text += fmt::format(" {} needs {}{}.", looser.name, counted_gpus(*looser.gpus), caveats(looser));
  }
  return text;
}

/// The sentence that no policy reaches the target for every service, or none without hindsight.
std::string nobody_words(const SizeResult& result) {
  const auto has_none = [](const PolicySize& policy) { return !policy.gpus; };
  const bool is_proven = std::ranges::all_of(
      result.policies, [&](const PolicySize& policy) { return !has_none(policy) || policy.is_smallest_proven; });
  return fmt::format("No policy {}reaches the target for every service {}.",
                     std::ranges::all_of(result.policies, has_none) ? "" : "without hindsight ",
                     up_to_words(result, is_proven));
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
  const Smallest live = smallest_of(result, false);
  const Smallest hindsight = smallest_of(result, true);
  if (live.best == nullptr && hindsight.best == nullptr) return nobody_words(result);
  const bool is_live_asked = !std::ranges::all_of(result.policies, &PolicySize::is_hindsight);
  std::string text;
  if (live.best != nullptr) {
    text = best_words(result, live);
  } else if (is_live_asked) {
    text = nobody_words(result);
  } else {
    return best_words(result, hindsight);
  }
  for (const PolicySize* policy : {hindsight.best, hindsight.looser}) {
    if (policy == nullptr) continue;
    const bool is_only_isolated = live.best != nullptr && !keeps_isolation(*live.best) && keeps_isolation(*policy);
    if (live.best != nullptr && *policy->gpus >= *live.best->gpus && !is_only_isolated) continue;
    text +=
        fmt::format(" {}, which knows the whole trace beforehand, needs {}{}{}.", policy->name,
                    counted_gpus(*policy->gpus), is_only_isolated ? " and keeps the isolation" : "", caveats(*policy));
  }
  return text;
}

}  // namespace berth::study
