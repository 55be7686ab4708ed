/// What a reader of an answer must know beside the count: how far it is proven, what it does not keep, what it hides.
#pragma once

#include <string>
#include <vector>

#include "study/size.h"

namespace berth::study {

/// Whether it keeps the isolation and the trust domains that the scenario asks for, at its answer. Requires: `gpus`.
[[nodiscard]] bool keeps_isolation(const PolicySize& policy);

/// "does not keep a.isolation, b.floor", at most three by name; empty where it keeps all. Requires: `gpus`.
[[nodiscard]] std::string not_kept_words(const PolicySize& policy);

/// "smallest of those tried; 7 counts below not tried"; empty where it is proven. Requires: `gpus`.
[[nodiscard]] std::string not_proven_words(const PolicySize& policy);

/// Why no count holds, or: what is not proven, a larger count that fails, seeds that need fewer, and what a policy
/// aims at instead. One text each, without the policy's name; empty where there is nothing to say.
[[nodiscard]] std::vector<std::string> size_remarks_on(const SizeOptions& options, const PolicySize& policy);

}  // namespace berth::study
