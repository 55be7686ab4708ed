/// Values of the API as people read them: at most three digits after the point, times to the millisecond, ages. JSON
/// and YAML keep the server's text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/yaml/document.h"

namespace berth::cli {

/// A number of JSON with at most three digits after the point, rounded: "85.4700854" as "85.47". One that would be 0 so
/// is "<0.001" or ">-0.001", one that is no number stays as it is.
[[nodiscard]] std::string short_number(const std::string& number);
/// A time of RFC 3339 in UTC without what it has beyond the millisecond, and without a fraction of 0; any other text
/// stays as it is.
[[nodiscard]] std::string short_time(const std::string& text);
/// A scalar by these two rules, any other value as JSON in one line with its scalars so; "" for null.
[[nodiscard]] std::string readable(const yaml::Node& value);

/// The time since `since`, of which the two largest units are shown: "45s", "3m12s", "5h", "2d4h". Both are times of
/// the world (RFC 3339). Absent if one of them is unknown or is no time; "0s" if `since` is later.
[[nodiscard]] std::optional<std::string> age_text(const std::optional<std::string>& since,
                                                  const std::optional<std::string>& now);

}  // namespace berth::cli
