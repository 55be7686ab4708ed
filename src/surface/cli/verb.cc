#include "surface/cli/verb.h"

namespace berth::cli {

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kNotFound:
      return 2;
    case ErrorCode::kUnavailable:
      return 1;
    case ErrorCode::kInterrupted:
      return 130;
  }
  return 1;
}

void finish(VerbContext& context, const Result<std::string>& outcome) {
  const std::string text = outcome ? *outcome : "berth: " + outcome.error().message + "\n";
  std::FILE* stream = outcome ? context.out : context.err;
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  if (!outcome) {
    context.status = exit_status(outcome.error().code);
  } else if (!is_written) {
    std::fputs("berth: the output cannot be written\n", context.err);
    context.status = exit_status(ErrorCode::kUnavailable);
  }
}

}  // namespace berth::cli
