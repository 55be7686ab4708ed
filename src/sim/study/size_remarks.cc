#include "sim/study/size_remarks.h"
#include "engine/policy/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace berth::study {
namespace {

/// "5, 4, 5"; a question mark for a count that is not known.
std::string by_seed_words(const PolicySize& policy) {
  std::vector<std::string> counts;
  counts.reserve(policy.gpus_by_seed.size());
  for (const auto& gpus : policy.gpus_by_seed) counts.push_back(gpus ? fmt::format("{}", *gpus) : "?");
  return fmt::format("{}", fmt::join(counts, ", "));
}

}  // namespace

bool keeps_isolation(const PolicySize& policy) {
  return std::ranges::none_of(policy.at_answer->ignores, [](const NamedConstraint& constraint) {
    return constraint.kind == ConstraintKind::kIsolation || constraint.kind == ConstraintKind::kTrustDomain;
  });
}

std::string not_kept_words(const PolicySize& policy) {
  constexpr std::size_t kNamedMax = 3;
  const std::vector<std::string> names = constraint_names(policy.at_answer->ignores);
  if (names.empty()) return "";
  if (names.size() <= kNamedMax) return fmt::format("does not keep {}", fmt::join(names, ", "));
  return fmt::format("does not keep {} and {} more", fmt::join(std::span(names).first(kNamedMax - 1), ", "),
                     names.size() - kNamedMax + 1);
}

std::string not_proven_words(const PolicySize& policy) {
  if (policy.is_smallest_proven) return "";
  return fmt::format("smallest of those tried; {} below not tried", counted_counts(untried_counts(policy, 0)));
}

std::vector<std::string> size_remarks_on(const SizeOptions& options, const PolicySize& policy) {
  if (!policy.gpus) return {policy.infeasible.value_or("")};
  std::vector<std::string> remarks;
  if (std::string words = not_proven_words(policy); !words.empty()) remarks.push_back(std::move(words));
  if (const auto above = failing_count_above(policy)) {
    remarks.push_back(fmt::format("more GPUs are not always better: {} do not reach the target", counted_gpus(*above)));
  }
  if (policy.is_stable == false) {
    remarks.push_back(fmt::format("not stable: with each of the seeds {} alone, {} GPUs would suffice",
                                  fmt::join(options.seeds, ", "), by_seed_words(policy)));
  }
  if (const auto remark = policy::policy_named(policy.name).sizing_remark) remarks.emplace_back(*remark);
  return remarks;
}

}  // namespace berth::study
