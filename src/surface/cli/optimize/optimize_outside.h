/// What the verb `optimize` needs of the program that runs it: the command line includes no engine.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "models/optimize/manifest.h"
#include "models/optimize/verification.h"

namespace berth::cli {

/// How a long run talks with the verb.
struct OptimizeHooks {
  std::function<void(std::string_view what)> report = [](std::string_view) {};  ///< what it does now
  std::function<bool()> should_stop = [] { return false; };                     ///< an interrupt
};

struct OptimizeOutside {
  /// Reads, searches, measures, and writes the folder of the request, whole or not at all. Errors: kInvalidInput: a
  /// bad file, no engine; kUnavailable: the folder cannot be written; kInterrupted.
  std::function<Result<models::Manifest>(const models::OptimizeRequest&, const OptimizeHooks&)> optimize;
  /// Measures what a folder holds again. Errors: likewise.
  std::function<Result<models::Verification>(const models::VerifyRequest&, const OptimizeHooks&)> verify;
};

}  // namespace berth::cli
