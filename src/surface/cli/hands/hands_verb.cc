#include "surface/cli/hands/hands_options.h"
#include "surface/cli/hands/hands_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kHandsHelp =
    "Changes the GPUs that the configuration file names in manage:, and runs the programs that it names, by order of "
    "one "
    "berth up --hands at a time, and does nothing else. Only this process needs the privilege to do so.";

constexpr const char* kHandsExamples = R"(Examples:
  berth hands --socket /run/berth.hands --config /etc/berth.yaml --owner berth    # as root
  berth up --world local --hands /run/berth.hands --config /etc/berth.yaml       # as the user berth

Exit status: 0 ended as asked (SIGTERM, SIGINT), 1 no library of the driver, the socket is in use, or calls have not
returned, 2 bad input, 4 neither root nor CAP_SYS_ADMIN: nothing could be changed, or separate_users
is on and this process cannot use other users.)";

void run_checked_hands(const HandsWords& words, VerbContext& context) {
  const auto request = check_hands_options(words);
  if (!request) return finish(context, pass_on(request.error()));
  context.status = run_hands(*request, context);
}

}  // namespace

Verb hands_verb() {
  return with_words({.name = "hands", .help = kHandsHelp, .examples = kHandsExamples}, hands_option_rows,
                    run_checked_hands);
}

}  // namespace berth::cli
