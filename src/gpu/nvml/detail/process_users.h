/// The users who run the processes of this machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace berth::edges::detail {

/// The real user id in the text of /proc/PID/status; nothing: the text has none.
[[nodiscard]] std::optional<uid_t> user_id_in(std::string_view status);

/// Names that were found once are remembered, as a name service may be slow. Thread-safe.
class ProcessUsers {
 public:
  /// The name of the user who runs a process, or the user's number if no name is known. Empty: there is no such process
  /// here, as where the driver counts processes of another namespace.
  [[nodiscard]] std::string user_of(std::uint32_t pid);

 private:
  [[nodiscard]] std::string name_of(uid_t user);

  std::mutex mutex_;
  std::map<uid_t, std::string> names_;  ///< under mutex_, at most kNamesMax
};

}  // namespace berth::edges::detail
