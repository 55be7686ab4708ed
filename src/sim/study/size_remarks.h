/// Remarks on the answer for a policy: how far the count is proven, which constraints it does not keep, and caveats.
#pragma once

#include <string>
#include <vector>

#include "sim/study/size.h"

namespace berth::study {

/// Whether the policy keeps the scenario's isolation and trust domains at its answer. Requires: `policy.gpus`.
[[nodiscard]] bool keeps_isolation(const PolicySize& policy);

/// "does not keep a.isolation, b.floor", at most three by name; empty if it keeps all. Requires: `policy.gpus`.
[[nodiscard]] std::string not_kept_words(const PolicySize& policy);

/// "smallest of those tried; 7 counts below not tried"; empty if it is proven. Requires: `policy.gpus`.
[[nodiscard]] std::string not_proven_words(const PolicySize& policy);

/// Why no count holds, or else: what is not proven, a larger count that fails, seeds that need fewer, and the policy's
/// own objective (Policy::sizing_remark). One text each, without the policy's name; empty if there are none.
[[nodiscard]] std::vector<std::string> size_remarks_on(const SizeOptions& options, const PolicySize& policy);

}  // namespace berth::study
