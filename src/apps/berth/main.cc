// The program `berth`: connects the real files, servers and clients, and hands over to the command line.
#include "edges/files/disk_files.h"
#include "edges/http_client/curl_client.h"
#include "edges/http_server/http_server.h"
#include "surface/cli/cli.h"

namespace {

/// Threads that answer requests: a long list that becomes text does not hold up other clients.
constexpr unsigned kServerThreads = 4;
constexpr unsigned kConnections = 400;
/// How long the client's verbs wait for a server that went away: a start takes less.
constexpr berth::Micros kPatience = berth::Micros::seconds(3);

}  // namespace

int main(int argc, char** argv) {
  const berth::edges::DiskFiles files;
  return berth::cli::run_cli(
      argc, argv,
      {.files = &files,
       .start_server =
           [](const std::string& host, std::uint16_t port, berth::HttpHandler& handler) {
             return berth::edges::start_http_server(
                 {.host = host, .port = port, .connection_count_max = kConnections, .thread_count = kServerThreads},
                 handler);
           },
       .make_http_client = [] { return std::make_unique<berth::edges::CurlClient>(kPatience); }});
}
