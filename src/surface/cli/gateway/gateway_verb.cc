#include "surface/cli/gateway/gateway_call.h"
#include "surface/cli/gateway/gateway_options.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kGatewayHelp =
    "Takes requests for services at one address, and passes them to the replicas that berth up names.";

constexpr const char* kGatewayExamples = R"(Examples:
  berth gateway --up http://127.0.0.1:8642 --key-file berth-state/gateway.key --state gateway-state
  curl -s localhost:8700/TENANT/SERVICE/v2/models/digits
  curl -s localhost:8700/berth/v1/status

Exit status: 0 ended as asked, 1 the address or the folder is in use or cannot be written, 2 bad input.)";

void run_checked_gateway(const GatewayWords& words, VerbContext& context) {
  const auto request = check_gateway_options(words);
  if (!request) return finish(context, pass_on(request.error()));
  const auto report_failure = [&context](const Error& error) {
    finish(context, pass_on(error));
    return context.status;
  };
  context.status = context.run_gateway({.request = *request,
                                        .out = context.out,
                                        .err = context.err,
                                        .files = context.files,
                                        .report_failure = report_failure});
}

}  // namespace

Verb gateway_verb() {
  return with_words({.name = "gateway", .help = kGatewayHelp, .examples = kGatewayExamples}, gateway_option_rows,
                    run_checked_gateway);
}

}  // namespace berth::cli
