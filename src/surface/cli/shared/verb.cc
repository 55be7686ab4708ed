#include "surface/cli/shared/verb.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "surface/cli/shared/printable.h"

namespace berth::cli {
namespace {

/// Whether a stream is a terminal that understands colours and cursor movement.
bool is_fancy_terminal(std::FILE* stream) {
  const int descriptor = ::fileno(stream);
  const char* term = std::getenv("TERM");
  return descriptor >= 0 && ::isatty(descriptor) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

bool is_colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  return no_colour == nullptr || *no_colour == '\0';
}

}  // namespace

ProgressOutput VerbContext::progress() const { return {.stream = err, .is_terminal = is_fancy_terminal(err)}; }

bool VerbContext::has_colour() const { return is_fancy_terminal(out) && is_colour_wanted(); }

bool VerbContext::is_live_terminal() const { return is_fancy_terminal(out); }

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kMalformed:
    case ErrorCode::kNotFound:
      return 2;
    case ErrorCode::kUnavailable:
      return 1;
    case ErrorCode::kInterrupted:
      return 130;
    case ErrorCode::kTimedOut:
      return 6;
    case ErrorCode::kNoServer:
      return 7;
  }
  return 1;
}

void print_warnings(const std::vector<std::string>& warnings, std::FILE* err) {
  for (const std::string& warning : warnings) {
    const std::string line = "berth: warning: " + warning + "\n";
    std::fwrite(line.data(), 1, line.size(), err);
  }
  std::fflush(err);
}

void finish(VerbContext& context, const Result<std::string>& outcome) {
  const std::string text =
      outcome ? printable_json(*outcome) : printable_lines("berth: " + outcome.error().message + "\n");
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
