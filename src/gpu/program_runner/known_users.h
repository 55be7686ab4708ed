/// Users of this machine that must not be users of tenants, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "gpu/programs/program_rules.h"

namespace berth::edges {

/// The texts of /etc/passwd, /etc/group, and /etc/subuid; empty: there is no such file.
struct UserFiles {
  std::string users = {};
  std::string groups = {};
  std::string subordinates = {};  ///< uids that a user can become in a user namespace
};

[[nodiscard]] UserFiles read_user_files();

/// A user or group in the range, or a user that can become one in it: "user anna (600003) of /etc/passwd". The first by
/// file and line. Absent: none. Lines that cannot be read are skipped, as the system skips them.
[[nodiscard]] std::optional<std::string> known_user_in(const programs::UidRange& range, const UserFiles& files);

/// The agent ends processes of the range that have no keeper. Error (kInvalidInput): there is a user in it.
[[nodiscard]] Result<void> check_no_known_user(const programs::UidRange& range);

}  // namespace berth::edges
