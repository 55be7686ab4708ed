/// What may run on the slices of this machine: the part of the agent's own configuration that is about programs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/programs/expression.h"

namespace berth::programs {

/// The template that is built in: `berth serve` on one model of a repository. Its parameters are kServeRepository and
/// kServeModel.
inline constexpr std::string_view kServeTemplate = "serve";
inline constexpr std::string_view kServeRepository = "repository";
inline constexpr std::string_view kServeModel = "model";
inline constexpr std::string_view kServeModelText = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}";

/// How long and how much, for each program of a template or repository.
struct ProgramLimits {
  std::int64_t ready_seconds = 120;  ///< from its start; later it has failed
  std::int64_t drain_seconds = 30;   ///< for requests in flight, before it is stopped
  std::int64_t in_flight_max = 1;
  std::optional<std::int64_t> memory_mib = std::nullopt;  ///< of private memory, per process
  std::int64_t file_mib = 16'384;                         ///< of a file that it writes
  std::int64_t files_max = 1024;                          ///< open at a time, per process
  friend bool operator==(const ProgramLimits&, const ProgramLimits&) = default;
};

struct ProgramTemplate {
  std::vector<std::string> command;  ///< an absolute path, then arguments with {port} and {PARAMETER}
  std::map<std::string, Expression> parameters = {};
  std::string ready;  ///< path that answers 200 once it is ready
  std::vector<std::string> tenants;
  ProgramLimits limits = {};
  friend bool operator==(const ProgramTemplate&, const ProgramTemplate&) = default;
};

/// Models for the template `serve`.
struct ModelFolder {
  std::string path;  ///< absolute
  std::vector<std::string> tenants;
  std::optional<std::string> engine = std::nullopt;  ///< the library of ONNX Runtime; absolute
  ProgramLimits limits = {.in_flight_max = 0};       ///< in_flight_max 0: two batches per lane
  friend bool operator==(const ModelFolder&, const ModelFolder&) = default;
};

struct UidRange {
  std::int64_t first = 0;
  std::int64_t last = 0;  ///< itself in the range
  friend bool operator==(const UidRange&, const UidRange&) = default;
};

struct ProgramRules {
  std::map<std::string, ProgramTemplate> templates = {};
  std::map<std::string, ModelFolder> repositories = {};
  std::optional<UidRange> uids = std::nullopt;  ///< present if users are separated and anything may run
  bool separates_users = true;
  std::string state = "/var/lib/berth-hands";                   ///< folder of records, logs, homes
  std::optional<std::string> simulated_devices = std::nullopt;  ///< folder of SLICE-GENERATION.yaml
  friend bool operator==(const ProgramRules&, const ProgramRules&) = default;

  [[nodiscard]] bool has_any() const { return !templates.empty() || !repositories.empty(); }
};

}  // namespace berth::programs
