/// What the verb `up` hands to whoever runs it: the command line knows no running engine.
#pragma once

#include <cstdio>
#include <functional>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "live/folder/up_request.h"

namespace berth::cli {

/// The streams and files are borrowed.
struct UpCall {
  live::UpRequest request;
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  std::function<int(const Error&)> report_failure = {};  ///< prints why it failed; returns the exit status
  std::function<Result<live::RereadConfig>()> read_config_again = {};
};

}  // namespace berth::cli
