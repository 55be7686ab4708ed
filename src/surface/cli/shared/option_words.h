/// Options that several verbs share: from typed words to values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// "a,b" as names in that order. Refuses repeated names and those that are not `known` (the message lists the known
/// ones).
[[nodiscard]] Result<std::vector<std::string>> parse_policies(std::string_view text,
                                                              const std::vector<std::string>& known);

/// "a,b" as texts in that order; refuses empty and repeated ones. `wanted` is the noun in the message: "files".
[[nodiscard]] Result<std::vector<std::string>> split_words(std::string_view option, std::string_view text,
                                                           std::string_view wanted);

/// The value of --attainment: a share above 0, at most 1.
[[nodiscard]] Result<Decimal> parse_attainment(std::string_view text);

/// A whole number from min to max.
[[nodiscard]] Result<std::int64_t> whole_option(std::string_view option, std::string_view text, std::int64_t min,
                                                std::int64_t max);
/// A whole number of seconds from min to max.
[[nodiscard]] Result<std::int64_t> seconds_option(std::string_view option, std::string_view text, std::int64_t min,
                                                  std::int64_t max);

/// The largest search budget that --nodes accepts.
inline constexpr std::int64_t kNodesAskedMax = 1'000'000'000'000'000;

/// The value of --format.
[[nodiscard]] Result<OutputFormat> parse_format(std::string_view text);

}  // namespace berth::cli
