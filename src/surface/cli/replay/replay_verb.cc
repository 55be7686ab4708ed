#include "surface/cli/replay/replay_options.h"
#include "surface/cli/replay/replay_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kReplayHelp =
    "Replays the arrivals of a scenario under several policies and reports what each gives and costs.";

constexpr const char* kReplayExamples = R"(Examples:
  berth replay scenario.yaml
  berth replay scenario.yaml --policies shared,static-best --report out
  berth replay scenario.yaml --format json --journal journal.jsonl > figures.json
  berth replay --journal-in ~/.local/state/berth --policies recorded,berth --add-gpus A100-80GB=2

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

Verb replay_verb() {
  return with_words({.name = "replay", .help = kReplayHelp, .examples = kReplayExamples}, replay_option_rows,
                    checked_run(check_replay_options, run_replay));
}

}  // namespace berth::cli
