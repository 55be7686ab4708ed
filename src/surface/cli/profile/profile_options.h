/// The options of `berth profile`: as typed, and checked.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "models/profiling/profile_request.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct ProfileWords {
  std::optional<std::string> path = std::nullopt;
  std::optional<std::string> url = std::nullopt;
  std::optional<std::string> model = std::nullopt;
  std::optional<std::string> device = std::nullopt;
  std::string batches = "1,2,4,8,16,32";
  std::string processes = "1,2";
  std::optional<std::string> inputs = std::nullopt;
  std::optional<std::string> as = std::nullopt;
  std::string seconds = "3";
  std::string seed = "1";
  std::optional<std::string> engine = std::nullopt;
  std::string out = {};
  std::string format = "table";
};

struct CheckedProfile {
  models::ProfileRequest request = {};
  std::string out = {};  ///< the database
  OutputFormat format = OutputFormat::kTable;
};

[[nodiscard]] OptionTable profile_option_rows(ProfileWords& words);

/// Checked, as far as possible without the files and the server.
[[nodiscard]] Result<CheckedProfile> check_profile_options(const ProfileWords& words);

}  // namespace berth::cli
