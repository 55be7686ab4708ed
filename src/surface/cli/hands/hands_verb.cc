#include "surface/cli/hands/hands_verb.h"

#include <memory>

#include "surface/cli/hands/hands_options.h"
#include "surface/cli/hands/hands_run.h"

namespace berth::cli {
namespace {

constexpr const char* kHandsHelp =
    "Changes the GPUs that the configuration file names in manage:, by order of one berth up --hands at a time, and "
    "nothing else. Only this process needs the privilege to do so.";

constexpr const char* kHandsExamples = R"(Examples:
  berth hands --socket /run/berth.hands --config /etc/berth.yaml --owner berth    # as root
  berth up --world local --hands /run/berth.hands --config /etc/berth.yaml       # as the user berth

Exit status: 0 ended as asked (SIGTERM, SIGINT), 1 no library of the driver, the socket is in use, or calls have not
returned, 2 bad input, 4 neither root nor CAP_SYS_ADMIN: nothing could be changed.)";

}  // namespace

void add_hands_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("hands", kHandsHelp);
  verb->footer(kHandsExamples);
  const auto words = std::make_shared<HandsWords>();
  verb->add_option("--socket", words->socket, "Where it waits for a client (required)")->type_name("PATH");
  verb->add_option("--config", words->config, "The configuration file; only its manage: is obeyed (required)")
      ->type_name("FILE");
  verb->add_option("--nvml", words->nvml, "The library of the NVIDIA driver [libnvidia-ml.so.1]")->type_name("FILE");
  verb->add_option("--owner", words->owner, "Who may connect besides root: name or number of a user [this one]")
      ->type_name("USER");
  verb->add_option("--fd", words->fd)->group("");  // berth up starts it with that
  verb->callback([words, &context] {
    const auto request = check_hands_options(*words);
    if (!request) return finish(context, tl::unexpected(request.error()));
    context.status = run_hands(*request, context);
  });
}

}  // namespace berth::cli
