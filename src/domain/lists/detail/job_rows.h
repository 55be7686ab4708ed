/// The reader of each format; times are as in the file.
#pragma once

#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/lists/job_list.h"

namespace berth::job_list_detail {

inline constexpr std::int64_t kNumberMax = 1'000'000'000;

[[nodiscard]] Result<std::vector<ListedJob>> read_own_jobs(std::string_view text, std::string_view file);
[[nodiscard]] Result<std::vector<ListedJob>> read_philly_jobs(std::string_view text, std::string_view file);
[[nodiscard]] Result<std::vector<ListedJob>> read_shockwave_jobs(std::string_view text, std::string_view file);

/// A number from `min` to `kNumberMax`, rounded up to a whole one; nothing if the text is not such a number.
[[nodiscard]] std::optional<std::int64_t> rounded_up(std::string_view text, std::int64_t min);

}  // namespace berth::job_list_detail
