/// Processes of programs that a killed keeper has left behind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/programs/program_rules.h"

namespace berth::edges {

/// Which processes are a program's.
struct ProcessesOf {
  /// All processes of these users, which have no others; absent: users are not separated, and a program's processes are
  /// those that began with its HOME.
  std::optional<programs::UidRange> uids = std::nullopt;
  std::string home = {};
};

/// A process as /proc shows it.
struct ProcessSight {
  std::int64_t pid = 0;
  std::uint64_t started = 0;
  std::int64_t parent = 0;
  std::int64_t uid = 0;  ///< the real one
  bool is_keeper = false;
  bool is_theirs = false;  ///< of the programs in question
};

/// Of these, the processes of programs without a keeper among their ancestors. One whose ancestors are not all there
/// is not among them: processes that end while they are listed leave such gaps.
[[nodiscard]] std::vector<ProcessSight> without_keeper(const std::vector<ProcessSight>& all);

/// Kills them, and waits for their end, for half a second at most. Returns how many are left. O(processes of the
/// machine).
[[nodiscard]] std::size_t end_left_processes(const ProcessesOf& whose);

}  // namespace berth::edges
