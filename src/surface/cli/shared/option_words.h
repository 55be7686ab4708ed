/// Options that several verbs share: from the words typed to values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// "a,b" as names in that order. Refuses names that are not `known` (the message lists those that are) and repeated
/// ones.
[[nodiscard]] Result<std::vector<std::string>> parse_policies(std::string_view text,
                                                              const std::vector<std::string>& known);

/// The value of --format.
[[nodiscard]] Result<OutputFormat> parse_format(std::string_view text);

}  // namespace berth::cli
