/// The number of GPUs that each policy needs, as JSON: the keys of docs/reference/size.md, in their order.
#pragma once

#include <string>

#include "sim/study/size.h"

namespace berth::cli {

/// One line of JSON with a newline. Absent figures are null, and a policy that no count satisfies has `infeasible` and
/// null figures. `ignores` and `notes` are present only if not empty. The same result gives the same bytes.
[[nodiscard]] std::string size_json(const study::SizeResult& result);

}  // namespace berth::cli
