/// Places in the arguments of a command that get values: "{port}", "{model}". "{{" and "}}" stand for one brace.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth::programs {

inline constexpr std::string_view kPortPlaceholder = "port";

/// The names in an argument, in order. Error: a brace that is neither of a place nor doubled.
[[nodiscard]] Result<std::vector<std::string>> placeholders_of(std::string_view argument);

/// The argument with the values in their places. Requires: it was accepted by placeholders_of, and each name has a
/// value.
[[nodiscard]] std::string filled(std::string_view argument, const std::map<std::string, std::string>& values);

}  // namespace berth::programs
