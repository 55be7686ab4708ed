#include "apps/gateway/run_gateway.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "apps/gateway/metrics_handler.h"
#include "apps/up/held_signals.h"
#include "edges/gateway_server/gateway_link.h"
#include "edges/gateway_server/gateway_server.h"
#include "edges/gateway_server/table_file.h"
#include "edges/http_client/curl_client.h"
#include "edges/http_client/curl_connection.h"
#include "edges/http_client/curl_stream_client.h"
#include "edges/http_server/http_server.h"

namespace berth::gateway {
namespace {

constexpr Micros kEndPatience = Micros::seconds(10);  // for requests under way
constexpr Micros kLastReport = Micros::seconds(2);
constexpr Micros kConnectTimeout = Micros::seconds(2);
constexpr std::chrono::milliseconds kSignalPause{20};

constexpr Micros kRequestTimeout = Micros::seconds(120);

constexpr unsigned kConnections = 800;
constexpr unsigned kLargeBodies = 32;
constexpr std::size_t kHeaderBytes = 8'192;

void report(const GatewayOutside& outside, const std::string& message) {
  fmt::print(outside.err, "berth: {}\n", message);
  std::fflush(outside.err);
}

/// Requests are short: memory that is given back to the system is needed again at once.
void keep_memory() {
  constexpr int kTrimBytes = 32 << 20;
  constexpr int kPadBytes = 1 << 20;
  mallopt(M_TRIM_THRESHOLD, kTrimBytes);
  mallopt(M_TOP_PAD, kPadBytes);
}

/// No other gateway has it.
Result<std::string> drawn_name() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    return fail(ErrorCode::kUnavailable, "the system has no random numbers");
  }
  return fmt::format("{:016x}", number);
}

edges::HttpServerOptions server_options(const serving::GatewayRequest& request) {
  return {.host = request.host,
          .port = request.port,
          .large_body_count_max = kLargeBodies,
          .target_bytes_max = kHeaderBytes,
          .header_bytes_max = kHeaderBytes,
          .connection_count_max = kConnections,
          .request_timeout = kRequestTimeout};
}

std::string address_text(const std::string& host, std::uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

/// `metrics`: null if they are not served.
void say_ready(const serving::GatewayRequest& request, const HttpServer& http, const HttpServer* metrics,
               const GatewayOutside& outside) {
  fmt::print(outside.out, "ready {}\n", address_text(request.host, http.port()));
  if (metrics != nullptr) {
    fmt::print(outside.out, "metrics {}/metrics\n", address_text(request.metrics->host, metrics->port()));
  }
  std::fflush(outside.out);
}

/// Goes on with the table of the last time, if there is one.
void take_last_table(const edges::TableFile& file, edges::GatewayServer& server, const GatewayOutside& outside) {
  const auto table = file.read(*outside.files);
  if (!table) return report(outside, "the last table is not used: " + table.error().message);
  if (*table) server.take_table(**table);
}

/// Null: the request names no place for them.
Result<std::unique_ptr<HttpServer>> start_metrics(const serving::GatewayRequest& request, MetricsHandler& handler) {
  if (!request.metrics) return nullptr;
  return edges::start_http_server({.host = request.metrics->host, .port = request.metrics->port}, handler);
}

Result<void> serve_requests(const serving::GatewayRequest& request, const edges::TableFile& file,
                            const up::HeldSignals& signals, const GatewayOutside& outside) {
  auto name = drawn_name();
  if (!name) return pass_on(name.error());
  const edges::CurlClient tables;  // before other threads
  const edges::CurlConnection posts;
  edges::GatewayServer server({.name = *std::move(name),
                               .terms = {.request_count_max = kConnections},
                               .whole_answer_max = Micros::seconds(request.whole_answer_seconds)});
  std::optional<edges::CurlStreamClient> client(
      std::in_place, edges::StreamClientOptions{.connect_timeout = kConnectTimeout,
                                                .silence_max = Micros::seconds(request.silence_seconds)});
  server.start(*client);
  take_last_table(file, server, outside);
  auto http = edges::start_turned_http_server(server_options(request), server);
  if (!http) {
    server.stop(Micros(0));
    return pass_on(http.error());
  }
  client->take_guest({.descriptor = (*http)->descriptor(), .turn = [&http] { return (*http)->turn(); }});
  MetricsHandler metrics_handler(server);
  auto metrics = start_metrics(request, metrics_handler);
  if (!metrics) {
    server.stop(Micros(0));
    client.reset();
    (*http)->stop();
    return pass_on(metrics.error());
  }
  edges::GatewayLink link({.url = request.up_url,
                           .key_file = request.key_file,
                           .files = outside.files,
                           .table = &file,
                           .tables = &tables,
                           .posts = &posts,
                           .report = [&outside](const std::string& message) { report(outside, message); }},
                          server);
  say_ready(request, **http, metrics->get(), outside);
  while (!signals.taken()) std::this_thread::sleep_for(kSignalPause);
  server.stop(kEndPatience);
  client.reset();  // its last answers belong to the server's connections
  (*http)->stop();
  if (*metrics) (*metrics)->stop();
  server.close_all_seconds();
  link.stop(kLastReport);
  return {};
}

}  // namespace

int run_gateway(const serving::GatewayRequest& request, const GatewayOutside& outside) {
  keep_memory();
  const up::HeldSignals signals;  // before the first thread
  ::umask(S_IRWXG | S_IRWXO);     // the table holds keys
  const auto file = edges::TableFile::open(request.state);
  if (!file) return outside.report_failure(file.error());
  if (const auto key = outside.files->read(request.key_file); !key) return outside.report_failure(key.error());
  const auto ended = serve_requests(request, *file, signals, outside);
  return ended ? 0 : outside.report_failure(ended.error());
}

}  // namespace berth::gateway
