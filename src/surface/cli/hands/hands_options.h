/// The options of `berth hands`: as typed, and checked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "surface/cli/shared/option_row.h"

namespace berth::cli {

struct HandsWords {
  std::optional<std::string> socket;
  std::optional<std::string> fd;  ///< inherited from the process that starts it: `berth up`
  std::optional<std::string> config;
  std::optional<std::string> nvml;
  std::optional<std::string> owner;
  std::optional<std::string> keep;   ///< of a keeper, which the agent starts: the folder of a program
  std::optional<std::string> start;  ///< of a keeper: the number of the start
};

[[nodiscard]] OptionTable hands_option_rows(HandsWords& words);

/// Checked.
struct HandsRequest {
  std::string socket_path;  ///< empty: `fd` is used instead
  int fd = -1;
  std::string config_path;
  std::optional<std::string> nvml_path;  ///< absent: the usual place
  std::optional<uid_t> owner;            ///< of the socket; absent: this user
  std::string kept_folder = {};          ///< of a keeper; empty: this is the agent
  std::int64_t start_number = 0;         ///< of a keeper
};

/// Refuses missing and empty words, both or neither of --socket and --fd, and an --owner that is not a user of this
/// machine.
[[nodiscard]] Result<HandsRequest> check_hands_options(const HandsWords& words);

}  // namespace berth::cli
