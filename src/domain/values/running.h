/// What really runs on the slices of a service, and on how many of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace berth {

/// The program of a service: a template of the hands' own file, with parameters.
struct ProgramChoice {
  /// `serve`: the built-in template, whose parameters are `repository` and `model`.
  std::string template_name;
  std::map<std::string, std::string> parameters;
  friend bool operator==(const ProgramChoice&, const ProgramChoice&) = default;
};

/// `replicas`: how many slices a service has, whatever its load; a constraint of plans.
struct ReplicaLimits {
  std::int64_t slices_min = 0;             ///< >= 0
  std::optional<std::int64_t> slices_max;  ///< >= slices_min, > 0
  friend bool operator==(const ReplicaLimits&, const ReplicaLimits&) = default;
};

/// The rules of one service.
struct Running {
  std::optional<ProgramChoice> program;  ///< `run`; without effect in a simulated world
  std::optional<ReplicaLimits> replicas;

  [[nodiscard]] bool has_effect() const { return program || replicas; }

  /// Nothing: whoever writes specs as bytes saves it apart, as earlier versions have none.
  template <class Archive, class Self>
  static void archive_fields(Archive& /*archive*/, Self& /*self*/) {}
  friend bool operator==(const Running&, const Running&) = default;
};

}  // namespace berth
