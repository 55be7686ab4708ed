/// The options of `berth up`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/proposal.h"

namespace berth::cli {

/// As typed.
struct UpOptions {
  std::string world = "simulated";
  std::optional<std::string> scenario;
  std::optional<std::string> seed;
  std::string speed = "10";
  std::optional<std::string> until;
  std::optional<std::string> policy;
  std::optional<std::string> approval;
  std::string listen = "127.0.0.1:8642";
  std::optional<std::string> data;
  std::optional<std::string> journal;
};

/// Where the API listens.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;  ///< 0: any free one
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

/// Checked.
struct UpRequest {
  std::optional<std::string> scenario_path;  ///< absent: the demo
  // What a world that goes on has kept, if it is not stated; of a new one: 1, berth, never.
  std::optional<std::uint64_t> seed = std::nullopt;
  std::optional<std::string> policy = std::nullopt;
  std::optional<Approval> approval = std::nullopt;
  double speed = 10;                                        ///< 0: as fast as possible
  std::optional<std::int64_t> until_second = std::nullopt;  ///< of the world
  bool until_end = false;                                   ///< of the scenario, known to the planner
  ListenAddress listen = {};
  std::optional<std::string> data_dir;
  std::optional<std::string> journal_path;
};

/// Refuses unknown words, numbers out of range, empty paths, and hosts other than 127.0.0.1, ::1 and localhost.
[[nodiscard]] Result<UpRequest> check_up_options(const UpOptions& options);

}  // namespace berth::cli
