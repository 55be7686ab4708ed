/// The policies of a pool of GPUs, by name.
#pragma once

#include <array>
#include <string_view>

namespace berth::sched {

enum class Policy { kFifo, kSkip, kSjf, kEasy, kLas, kSrpt, kFair, kBerth };
inline constexpr std::array kPolicies = {Policy::kFifo, Policy::kSkip, Policy::kSjf,  Policy::kEasy,
                                         Policy::kLas,  Policy::kSrpt, Policy::kFair, Policy::kBerth};

/// The name of a policy, such as "easy".
[[nodiscard]] std::string_view name_of(Policy policy);
/// Whether the policy knows the durations of unfinished jobs.
[[nodiscard]] bool has_hindsight(Policy policy);
/// Whether it keeps the limits of tenants.
[[nodiscard]] bool obeys_limits(Policy policy);
/// Whether it decides only at multiples of the round.
[[nodiscard]] bool decides_in_rounds(Policy policy);

}  // namespace berth::sched
