/// What clients see of the programs of a service.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "domain/ports/process_hands.h"
#include "domain/values/endpoints.h"

namespace berth::live {

/// One of them.
struct ProgramView {
  std::string slice;
  std::uint64_t generation = 0;
  ProcessPhase phase = ProcessPhase::kStarting;
  std::int64_t pid = 0;
  int port = 0;
  std::int64_t starts = 0;
  std::int64_t failures = 0;
  bool is_looping = false;
  bool is_leaving = false;
  std::string message = {};
  friend bool operator==(const ProgramView&, const ProgramView&) = default;
};

/// A program that ends again and again.
struct ProgramLoop {
  std::string slice;  ///< with its generation
  std::int64_t failures = 0;
  std::string message;
  Instant since;
};

/// What runs for a service.
struct ServicePrograms {
  std::vector<ProgramView> programs;
  std::vector<Endpoint> endpoints;  ///< as the gateway knows them
  std::optional<ProgramLoop> looping = std::nullopt;
};

}  // namespace berth::live
