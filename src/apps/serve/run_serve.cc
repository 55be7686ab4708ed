#include "apps/serve/run_serve.h"

#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "apps/serve/find_engine.h"
#include "apps/serve/serve_device.h"
#include "apps/up/held_signals.h"
#include "edges/grpc_server/grpc_server.h"
#include "edges/model_server/model_server.h"
#include "serving/config/serve_config.h"
#include "serving/repository/model_repository.h"
#include "surface/model_api/model_api.h"

namespace berth::serve {
namespace {

constexpr int kFailedStatus = 1;
constexpr Micros kEndPatience = Micros(10'000'000);  ///< for accepted requests, at the end
constexpr std::chrono::milliseconds kSignalPause{20};

/// Of all models together.
constexpr std::int64_t kQueueMax = 100'000;
constexpr std::int64_t kQueueBytesMax = std::int64_t{1} << 30;

/// Weights are large, and must be given back when a model leaves: glibc would raise its threshold and keep them, one copy
/// for most threads.
void return_large_blocks_at_once() {
  constexpr int kLargeBytes = 128 * 1024;  // glibc's initial threshold
  constexpr int kArenas = 2;               // for small values
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_TRIM_THRESHOLD, kLargeBytes);
  mallopt(M_ARENA_MAX, kArenas);
}

Result<serving::ServeConfig> read_config(const serving::ServeRequest& request, const Files& files) {
  if (!request.config) return serving::ServeConfig();
  const auto text = files.read(*request.config);
  if (!text) return pass_on(text.error());
  return serving::read_serve_config(*text, *request.config);
}

serving::ServerTerms server_terms(const serving::ServeRequest& request, const ServeDevice& device,
                                  const serving::ServeConfig& config) {
  serving::ServerTerms terms;
  terms.dispatch = {.policy = request.policy,
                    .eviction = request.eviction,
                    .memory = device.memory,
                    .lanes = device.lanes,
                    .queue_max = kQueueMax,
                    .queue_bytes_max = kQueueBytesMax};
  for (const serving::ConfiguredTenant& tenant : config.tenants) {
    terms.tenants.push_back({.name = tenant.name, .weight = tenant.weight});
  }
  if (terms.tenants.empty()) terms.tenants.push_back({.name = "default"});
  terms.simulated = device.simulated;
  return terms;
}

void report(const ServeOutside& outside, const std::string& message) {
  fmt::print(outside.err, "berth: {}\n", message);
  std::fflush(outside.err);
}

Micros micros_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Micros(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

void wait_for_signal(const up::HeldSignals& signals) {
  while (!signals.taken()) std::this_thread::sleep_for(kSignalPause);
}

std::string url_text(std::string_view scheme, const std::string& host, std::uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", scheme, is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

Result<int> serve_until_signal(const serving::ServeRequest& request, const ServeOutside& outside) {
  const up::HeldSignals signals;  // before the first thread
  const auto config = read_config(request, *outside.files);
  if (!config) return pass_on(config.error());
  const auto device = find_device(request, *outside.files);
  if (!device) return pass_on(device.error());
  const auto engine = find_engine(request.engine);
  if (!engine) return pass_on(engine.error());
  edges::ModelServerOptions options;
  options.terms = server_terms(request, *device, *config);
  options.metadata = {.name = "berth", .version = BERTH_VERSION, .device = device->description};
  options.run_max = Micros::seconds(config->run_seconds);
  serving::ModelRepository repository(*outside.tree, request.repository.value_or(""));
  std::string scan_fault;
  options.scan = [&] {
    if (!request.repository) return serving::RepositoryModels();
    const auto changes = repository.scan(micros_since_1970());
    const std::string fault = changes ? "" : changes.error().message;
    if (!fault.empty() && fault != scan_fault) report(outside, fault);
    scan_fault = fault;
    return repository.models();
  };
  options.report = [&](const std::string& message) { report(outside, message); };
  edges::ModelServer server(**engine, std::move(options));
  model_api::ModelApi api(server);
  auto http = outside.start_http(request.http, api);
  if (!http) return pass_on(http.error());
  std::unique_ptr<edges::GrpcServer> grpc;
  if (edges::has_grpc()) {
    auto started = edges::start_grpc_server({.host = request.grpc.host, .port = request.grpc.port}, server);
    if (!started) return pass_on(started.error());
    grpc = *std::move(started);
  }
  server.start();
  fmt::print(outside.out, "ready {}{}{}\n", url_text("http", request.http.host, (*http)->port()),
             grpc ? " " + url_text("grpc", request.grpc.host, grpc->port()) : "",
             device->simulated ? fmt::format(" ({})", device->description) : "");
  std::fflush(outside.out);
  wait_for_signal(signals);
  server.stop(kEndPatience);
  if (grpc) grpc->stop();
  (*http)->stop();
  return 0;
}

}  // namespace

int run_serve(const serving::ServeRequest& request, const ServeOutside& outside) {
  return_large_blocks_at_once();
  const auto status = serve_until_signal(request, outside);
  return status ? *status : outside.report_failure(status.error());
}

}  // namespace berth::serve
