#include "surface/cli/serve/simulate_options.h"
#include "surface/cli/serve/simulate_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kServeHelp =
    "Serving several models on one device: batches, memory, admission. So far on a simulated device.";

constexpr const char* kSimulateHelp =
    "What policies of a model server give on recorded requests, on a simulated device under a virtual clock.";

constexpr const char* kServeExamples = R"(Examples:
  berth serve simulate --device device.yaml --requests requests.csv
  berth serve simulate --device device.yaml --requests requests.csv --policies berth,eager,delay:5000 --format json
  berth serve simulate --device device.yaml --requests requests.csv --policies berth --log run.jsonl

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

Verb serve_verb() {
  Verb serve{.name = "serve", .help = kServeHelp, .examples = kServeExamples};
  serve.subcommands.push_back(with_words({.name = "simulate", .help = kSimulateHelp, .examples = kServeExamples},
                                         simulate_option_rows, checked_run(check_simulate_options, run_simulate)));
  return serve;
}

}  // namespace berth::cli
