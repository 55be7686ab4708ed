/// What the agent calls to run programs (gpu/program_runner). No call waits for a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/ports/process_hands.h"
#include "gpu/programs/program_offer.h"

namespace berth::edges {

struct ProgramVerbs {
  std::function<void(const ProcessOrder&)> start;
  std::function<void(const std::string& slice, std::uint64_t generation)> stop;
  /// All programs, as they are now.
  std::function<std::vector<ProcessReport>()> list;
  /// Those that changed since the last call.
  std::function<std::vector<ProcessReport>()> take_reports;
  std::function<std::optional<std::string>(const std::string& slice, std::uint64_t generation, std::size_t bytes_max)>
      read_log;
  /// What may be ordered.
  std::vector<programs::ProgramOffer> offers = {};
  bool separates_users = true;
  /// Sets what is called, by another thread, when `take_reports` has something.
  std::function<void(std::function<void()>)> on_news;
};

}  // namespace berth::edges
