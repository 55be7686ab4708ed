/// Which models are left out together: a csv `model,group`.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth::tier {

/// The group of each model. Models that the data does not have are allowed. Errors are FILE:LINE:COLUMN: another
/// header, an empty field, a model twice, no rows.
[[nodiscard]] Result<std::map<std::string, std::string>> read_leave_file(std::string_view text, std::string_view file);

}  // namespace berth::tier
