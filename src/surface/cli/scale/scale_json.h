/// The results of autoscalers on a recorded load as JSON.
#pragma once

#include <string>

#include "purchase/scale/comparison.h"

namespace berth::cli {

[[nodiscard]] std::string scale_json(const scale::Comparison& comparison);

/// A line of --log: the number wanted from this second on, and the reason if the policy has one.
[[nodiscard]] std::string scale_log_line(scale::Policy policy, const scale::WantChange& change);

}  // namespace berth::cli
