/// The other side of ProfileWorkers: a process that loads a model.
#pragma once

#include <span>
#include <string>

namespace berth::edges {

/// To be called first thing by the program that `ProfileWorkersOptions::command` starts, with the arguments after those
/// words; its result is the exit status. Reads and writes descriptor 3; prints nothing.
[[nodiscard]] int profile_worker_main(std::span<const std::string> arguments);

}  // namespace berth::edges
