/// An explanation in a sentence.
#pragma once

#include <string>

#include "scheduling/jobs/why.h"

namespace berth::sched {

/// Such as "j17 waits for 8 GPUs: 3 of 64 are free". Reads everything in the explanation except its message.
[[nodiscard]] std::string why_message(const World& world, const Explanation& explanation);

}  // namespace berth::sched
