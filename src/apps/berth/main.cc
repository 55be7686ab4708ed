// The program `berth`: connects the real files, servers, clients and the running engine, and hands over to the command
// line.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/gateway/run_gateway.h"
#include "apps/operator/run_operator.h"
#include "apps/operator/run_why.h"
#include "apps/optimize/find_probe.h"
#include "apps/optimize/run_optimize.h"
#include "apps/optimize/run_verify.h"
#include "apps/profile/profile_file.h"
#include "apps/profile/run_profile.h"
#include "apps/serve/run_serve.h"
#include "apps/up/run_up.h"
#include "edges/files/disk_files.h"
#include "edges/files/disk_tree.h"
#include "edges/http_client/curl_client.h"
#include "edges/http_server/http_server.h"
#include "surface/cli/cli.h"
#include "surface/cli/gateway/gateway_call.h"
#include "surface/cli/operator/operator_call.h"
#include "surface/cli/operator/why_call.h"
#include "surface/cli/optimize/optimize_outside.h"
#include "surface/cli/profile/profile_outside.h"
#include "surface/cli/serve/serve_call.h"
#include "surface/cli/up/up_call.h"

namespace {

/// Threads that answer requests: a long list that becomes text does not hold up other clients.
constexpr unsigned kServerThreads = 4;
constexpr unsigned kConnections = 400;
/// How long the client's verbs wait for a server that went away: a start takes less.
constexpr berth::Micros kPatience = berth::Micros::seconds(3);

berth::Result<std::unique_ptr<berth::HttpServer>> start_server(const std::string& host, std::uint16_t port,
                                                               berth::HttpHandler& handler) {
  return berth::edges::start_http_server(
      {.host = host, .port = port, .connection_count_max = kConnections, .thread_count = kServerThreads}, handler);
}

int run_up(const berth::cli::UpCall& call) {
  return berth::up::run_up(call.request, {.version = call.version,
                                          .out = call.out,
                                          .err = call.err,
                                          .files = call.files,
                                          .start_server = start_server,
                                          .report_failure = call.report_failure,
                                          .read_config_again = call.read_config_again});
}

/// Bodies of requests for inference are large, and many come at once.
berth::Result<std::unique_ptr<berth::HttpServer>> start_model_server(const berth::serving::LoopbackAddress& address,
                                                                     berth::HttpHandler& handler) {
  constexpr unsigned kLargeBodies = 32;
  constexpr std::size_t kHeaderBytes = 4'096;
  return berth::edges::start_http_server({.host = address.host,
                                          .port = address.port,
                                          .large_body_count_max = kLargeBodies,
                                          .target_bytes_max = kHeaderBytes,
                                          .header_bytes_max = kHeaderBytes,
                                          .connection_count_max = kConnections,
                                          .thread_count = kServerThreads},
                                         handler);
}

int run_serve(const berth::cli::ServeCall& call) {
  const berth::edges::DiskTree tree;
  return berth::serve::run_serve(call.request, {.out = call.out,
                                                .err = call.err,
                                                .files = call.files,
                                                .tree = &tree,
                                                .start_http = start_model_server,
                                                .report_failure = call.report_failure});
}

int run_gateway(const berth::cli::GatewayCall& call) {
  return berth::gateway::run_gateway(
      call.request, {.out = call.out, .err = call.err, .files = call.files, .report_failure = call.report_failure});
}

int run_operator(const berth::cli::OperatorCall& call) {
  return berth::apps::run_operator({.access = call.access,
                                    .own = call.own,
                                    .gpus_max = call.gpus_max,
                                    .lease = call.lease,
                                    .requests_per_second = call.requests_per_second,
                                    .is_dry_run = call.is_dry_run,
                                    .up = call.up},
                                   {.out = call.out,
                                    .err = call.err,
                                    .files = call.files,
                                    .version = call.version,
                                    .start_server = start_server,
                                    .read_own_again = call.read_own_again,
                                    .report_failure = call.report_failure,
                                    .read_config_again = call.read_config_again});
}

berth::Result<std::string> explain_pod(const berth::cli::WhyCall& call) {
  return berth::apps::explain_pod_of_cluster({.access = call.access, .pod = call.pod}, *call.files);
}

berth::cli::OptimizeOutside optimize_outside(const berth::FileTree& tree) {
  return {.optimize =
              [&tree](const berth::models::OptimizeRequest& request, const berth::cli::OptimizeHooks& hooks) {
                return berth::optimizer::run_optimize(tree, request, hooks);
              },
          .verify =
              [&tree](const berth::models::VerifyRequest& request, const berth::cli::OptimizeHooks& hooks) {
                return berth::optimizer::run_verify(tree, request, hooks);
              }};
}

berth::cli::ProfileOutside profile_outside(const berth::FileTree& tree) {
  return {.measure = [&tree](const berth::models::ProfileRequest& request, const berth::cli::ProfileHooks& hooks) {
    return berth::profiler::run_profile(tree, request, hooks);
  }};
}

}  // namespace

int main(int argc, char** argv) {
  // A process of its own for each measurement of what a model takes, started by `berth optimize`.
  if (argc > 1 && std::string_view(argv[1]) == berth::optimizer::kFootprintWord) {
    return berth::optimizer::footprint_main(std::vector<std::string>(argv + 2, argv + argc));
  }
  // Processes that run a model, started by `berth profile`.
  if (argc > 1 && std::string_view(argv[1]) == berth::profiler::kWorkerWord) {
    return berth::profiler::worker_main(std::vector<std::string>(argv + 2, argv + argc));
  }
  const berth::edges::DiskFiles files;
  const berth::edges::DiskTree tree;
  const berth::cli::OptimizeOutside optimize = optimize_outside(tree);
  const berth::cli::ProfileOutside profile = profile_outside(tree);
  return berth::cli::run_cli(
      argc, argv,
      {.files = &files,
       .run_up = run_up,
       .run_serve = run_serve,
       .run_gateway = run_gateway,
       .run_operator = run_operator,
       .explain_pod = explain_pod,
       .optimize = &optimize,
       .profile = &profile,
       .make_http_client = [] { return std::make_unique<berth::edges::CurlClient>(kPatience); }});
}
