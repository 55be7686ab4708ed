#include "surface/cli/serve/serve_call.h"
#include "surface/cli/serve/serve_options.h"
#include "surface/cli/serve/simulate_options.h"
#include "surface/cli/serve/simulate_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kServeHelp =
    "Serves the models of a folder on one device: batched, within memory, in time. Clients speak the Open Inference "
    "Protocol.";

constexpr const char* kServeExamples = R"(Examples:
  berth serve --repository models
  berth serve --repository models --memory 512MiB --threads 2
  curl -s localhost:8000/v2/models/digits

Exit status: 0 ended as asked, 1 an address is in use or an output cannot be written, 2 bad input, no engine.)";

constexpr const char* kSimulateHelp =
    "What policies of a model server give on recorded requests, on a simulated device under a virtual clock.";

constexpr const char* kSimulateExamples = R"(Examples:
  berth serve simulate --device device.yaml --requests requests.csv
  berth serve simulate --device device.yaml --requests requests.csv --policies berth,eager,delay:5000 --format json
  berth serve simulate --device device.yaml --requests requests.csv --policies berth --log run.jsonl

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

void run_checked_serve(const ServeWords& words, VerbContext& context) {
  const auto request = check_serve_options(words);
  if (!request) return finish(context, pass_on(request.error()));
  const auto report_failure = [&context](const Error& error) {
    finish(context, pass_on(error));
    return context.status;
  };
  context.status = context.run_serve({.request = *request,
                                      .out = context.out,
                                      .err = context.err,
                                      .files = context.files,
                                      .report_failure = report_failure});
}

}  // namespace

Verb serve_verb() {
  Verb serve = with_words({.name = "serve", .help = kServeHelp, .examples = kServeExamples}, serve_option_rows,
                          run_checked_serve);
  serve.subcommands.push_back(with_words({.name = "simulate", .help = kSimulateHelp, .examples = kSimulateExamples},
                                         simulate_option_rows, checked_run(check_simulate_options, run_simulate)));
  return serve;
}

}  // namespace berth::cli
