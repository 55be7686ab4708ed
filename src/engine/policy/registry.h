/// The list of all policies, read by studies, the command line, reports and live programs.
///
/// To add a policy, write its maker in detail/ and its row in registry.cc (docs/how_to/adding_a_policy.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/policy/policy.h"

namespace berth::policy {

/// All policies, in the order in which they are shown.
[[nodiscard]] const std::vector<Policy>& policies();

/// The row of a policy; nullptr if no policy has that name.
[[nodiscard]] const Policy* find_policy(std::string_view name);

/// The row of a policy. Requires: a policy has that name.
[[nodiscard]] const Policy& policy_named(std::string_view name);

/// The names of all policies, and of those that can be sized, in that order.
[[nodiscard]] const std::vector<std::string>& names();
[[nodiscard]] const std::vector<std::string>& sizable_names();

/// The names of the references (Policy::is_reference), in that order.
[[nodiscard]] const std::vector<std::string>& reference_names();

}  // namespace berth::policy
