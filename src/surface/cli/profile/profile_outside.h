/// What the verb `profile` needs of the program that runs it: the command line includes no engine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/ports/profile_store.h"
#include "domain/values/profile_run.h"
#include "models/profiling/profile_request.h"

namespace berth::cli {

/// How a measurement talks with the verb.
struct ProfileHooks {
  std::function<void(double done, std::string_view what)> report = [](double, std::string_view) {};  ///< 0 to 1
  std::function<bool()> should_stop = [] { return false; };                                          ///< an interrupt
};

struct ProfileOutside {
  /// Measures; writes nothing. Errors: kInvalidInput: a bad file, no engine, a server that answers with an error;
  /// kUnavailable, kNoServer, kTimedOut; kInterrupted.
  std::function<Result<ProfileRun>(const models::ProfileRequest&, const ProfileHooks&)> measure;
};

}  // namespace berth::cli
