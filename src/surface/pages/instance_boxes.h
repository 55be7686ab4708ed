/// Pictures of instances: their GPUs as columns with the pods' shares, CPU and memory as bars.
#pragma once

#include <cstddef>
#include <string>

#include "purchase/advise/verdict.h"

namespace berth::report {

/// A figure for each kind of filling, in the order of the advice.
[[nodiscard]] std::string instance_figures(const purchase::advise::AdviceCase& advice_case);

/// The number of figures without the limit.
[[nodiscard]] std::size_t filling_count(const purchase::advise::AdviceCase& advice_case);

/// What the colours mean.
[[nodiscard]] std::string pod_key(const purchase::advise::AdviceCase& advice_case);

}  // namespace berth::report
