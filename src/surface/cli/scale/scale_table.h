/// The results of autoscalers on a recorded load as text for people.
#pragma once

#include <string>

#include "purchase/scale/comparison.h"

namespace berth::cli {

[[nodiscard]] std::string scale_table(const scale::Comparison& comparison, bool has_colour);

}  // namespace berth::cli
