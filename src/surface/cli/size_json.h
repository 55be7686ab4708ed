/// How many GPUs each policy needs, as JSON: the words of docs/size.md, in their order.
#pragma once

#include <string>

#include "study/size.h"

namespace berth::cli {

/// One line of JSON with a newline. Absent figures are null, and a policy that no count satisfies has `infeasible` and
/// null figures. `ignores` and `notes` stand only where they say something. The same result gives the same bytes.
[[nodiscard]] std::string size_json(const study::SizeResult& result);

}  // namespace berth::cli
