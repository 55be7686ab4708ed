// The program `berth`: connects the real files, the report pages and the running engine, and hands over to the command
// line.
#include "apps/up/run_up.h"
#include "edges/files/disk_files.h"
#include "edges/http_client/curl_client.h"
#include "edges/http_server/http_server.h"
#include "surface/cli/cli.h"
#include "surface/cli/up/up_call.h"
#include "surface/pages/advise_report.h"
#include "surface/pages/case_report.h"
#include "surface/pages/commit_report.h"
#include "surface/pages/cost_report.h"
#include "surface/pages/forecast_report.h"
#include "surface/pages/invoice_report.h"
#include "surface/pages/pack_report.h"
#include "surface/pages/place_report.h"
#include "surface/pages/report.h"
#include "surface/pages/scale_report.h"
#include "surface/pages/schedule_report.h"
#include "surface/pages/size_report.h"
#include "surface/pages/spot_report.h"

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
  return berth::up::run_up(call.request, {.out = call.out,
                                          .err = call.err,
                                          .files = call.files,
                                          .start_server = start_server,
                                          .report_failure = call.report_failure,
                                          .read_config_again = call.read_config_again});
}

}  // namespace

int main(int argc, char** argv) {
  const berth::edges::DiskFiles files;
  return berth::cli::run_cli(
      argc, argv,
      {.files = &files,
       .reports = {.replay = berth::report::render_report,
                   .size = berth::report::render_size_report,
                   .pack = berth::report::render_pack_report,
                   .forecast = berth::report::render_forecast_report,
                   .spot = berth::report::render_spot_report,
                   .commit = berth::report::render_commit_report,
                   .scale = berth::report::render_scale_report,
                   .advise = berth::report::render_advise_report,
                   .cases = berth::report::render_case_report,
                   .cost = berth::report::render_cost_report,
                   .place = berth::report::render_place_report,
                   .invoice = berth::report::render_invoice,
                   .schedule = berth::report::render_schedule_report},
       .run_up = run_up,
       .make_http_client = [] { return std::make_unique<berth::edges::CurlClient>(kPatience); }});
}
