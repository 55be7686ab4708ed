#include "surface/cli/client/outcome.h"

#include <string_view>

#include "surface/cli/shared/printable.h"

namespace berth::cli {
namespace {

bool write(std::FILE* stream, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
}

}  // namespace

void VerbOutcome::add(const ClientError& error) {
  err += "berth: " + error.message + "\n";
  if (status == 0) status = static_cast<int>(error.status);
}

VerbOutcome outcome_of(const ClientResult<std::string>& answer) {
  VerbOutcome outcome;
  if (answer) {
    outcome.out = *answer;
  } else {
    outcome.add(answer.error());
  }
  return outcome;
}

void print_outcome(VerbContext& context, VerbOutcome outcome) {
  if (!write(context.out, outcome.out)) {
    outcome.add({ClientStatus::kFailed, "the output cannot be written"});
  }
  write(context.err, printable_lines(outcome.err));
  context.status = outcome.status;
}

}  // namespace berth::cli
