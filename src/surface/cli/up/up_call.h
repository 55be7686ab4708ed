/// The arguments of the verb `up` for the program that runs it: the command line does not include the running engine.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "live/folder/up_request.h"

namespace berth::cli {

/// The streams and files are borrowed.
struct UpCall {
  live::UpRequest request;
  std::string version = {};  ///< of the program
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  std::function<int(const Error&)> report_failure = {};  ///< prints the error; returns the exit status
  std::function<Result<live::RereadConfig>()> read_config_again = {};
};

}  // namespace berth::cli
