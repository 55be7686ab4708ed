/// Counts in sentences for people.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace berth {

/// "1 GPU", "1,200 GPUs": the noun with an s unless it is one.
[[nodiscard]] std::string counted_noun(std::int64_t number, std::string_view noun);
/// "fgd is as good", "fgd and 1 other are as good", "fgd and 3 others are as good". Requires: at least one name.
[[nodiscard]] std::string as_good_words(std::span<const std::string_view> names);

}  // namespace berth
