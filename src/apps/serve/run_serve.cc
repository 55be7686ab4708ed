#include "apps/serve/run_serve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "apps/serve/demo.h"
#include "apps/serve/demo_folder.h"
#include "apps/serve/find_engine.h"
#include "apps/serve/given_back.h"
#include "apps/serve/serve_backends.h"
#include "apps/serve/serve_device.h"
#include "apps/serve/serve_figures.h"
#include "apps/serve/serve_handler.h"
#include "apps/serve/serve_identity.h"
#include "apps/serve/serve_metrics.h"
#include "apps/up/held_signals.h"
#include "edges/figure_recorder/figure_recorder.h"
#include "edges/grpc_server/grpc_server.h"
#include "edges/http_client/curl_stream_client.h"
#include "edges/model_server/model_server.h"
#include "edges/otlp/telemetry.h"
#include "serving/config/serve_config.h"
#include "serving/config/tenant_keys.h"
#include "serving/repository/model_repository.h"
#include "surface/model_api/figure_routes.h"
#include "surface/model_api/model_api.h"
#include "surface/openai_api/openai_api.h"

namespace berth::serve {
namespace {

constexpr Micros kEndPatience = Micros(10'000'000);  ///< for accepted requests, at the end
constexpr std::chrono::milliseconds kSignalPause{20};

/// Of all models together.
constexpr std::int64_t kQueueMax = 100'000;
constexpr std::int64_t kQueueBytesMax = std::int64_t{1} << 30;

void report(const ServeOutside& outside, const std::string& message) {
  fmt::print(outside.err, "berth: {}\n", message);
  std::fflush(outside.err);
}

Micros micros_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Micros(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

Instant steady_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return Instant(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

std::string url_text(std::string_view scheme, const std::string& host, std::uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", scheme, is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

/// What the server is made of: read, checked, and not started.
struct ServeParts {
  const serving::ServeRequest& request;
  const ServeOutside& outside;
  ServeIdentity identity = {};
  serving::ServeConfig config = {};
  ServeDevice device = {};
  std::unique_ptr<ModelEngine> engine = {};
  std::vector<openai::Backend> backends = {};
  serving::TenantKeys keys{{}};
  std::optional<serving::ModelRepository> repository = std::nullopt;
  std::string scan_fault = {};                            ///< of the last scan
  std::unique_ptr<edges::Telemetry> telemetry = nullptr;  ///< null: nothing is traced

  [[nodiscard]] SpanRecorder spans() const { return telemetry ? telemetry->recorder() : SpanRecorder(); }
};

/// Fields of configs that only tune the speed of other servers.
void report_ignored_fields(const ServeParts& parts, std::span<const serving::RepositoryChange> changes) {
  for (const serving::RepositoryChange& change : changes) {
    const auto model = parts.repository->models().find(change.model);
    const bool is_new = change.kind == serving::RepositoryChange::Kind::kModelAdded ||
                        change.kind == serving::RepositoryChange::Kind::kModelChanged;
    if (!is_new || model == parts.repository->models().end()) continue;
    const auto& config = model->second.config;
    if (!config || config->ignored.empty()) continue;
    report(parts.outside, fmt::format("{}: without effect here: {}", config->file, fmt::join(config->ignored, ", ")));
  }
}

/// The models of the repository; what is wrong with it is said once.
serving::RepositoryModels scan(ServeParts& parts) {
  if (!parts.repository) return {};
  const auto changes = parts.repository->scan(micros_since_1970());
  const std::string fault = changes ? "" : changes.error().message;
  if (!fault.empty() && fault != parts.scan_fault) report(parts.outside, fault);
  parts.scan_fault = fault;
  if (changes) report_ignored_fields(parts, *changes);
  return parts.repository->models();
}

Result<void> read_config(ServeParts& parts) {
  if (parts.request.config) {
    const auto text = parts.outside.files->read(*parts.request.config);
    if (!text) return pass_on(text.error());
    auto config = serving::read_serve_config(*text, *parts.request.config);
    if (!config) return pass_on(config.error());
    parts.config = *std::move(config);
  }
  if (!parts.request.repository && parts.config.backends.empty()) {
    return invalid("wanted --repository DIR, or backends in --config FILE, found neither");
  }
  std::ranges::sort(parts.config.tenants, {}, &serving::ConfiguredTenant::name);
  parts.keys = serving::TenantKeys(parts.config.tenants);
  auto backends = read_backends(parts.config, *parts.outside.files);
  if (!backends) return pass_on(backends.error());
  parts.backends = *std::move(backends);
  return {};
}

Result<void> read_repository(ServeParts& parts) {
  if (!parts.request.repository) return {};
  auto engine = find_engine(parts.request, parts.device,
                            [&parts](const std::string& message) { report(parts.outside, message); });
  if (!engine) return pass_on(engine.error());
  parts.engine = *std::move(engine);
  parts.repository.emplace(*parts.outside.tree, *parts.request.repository);
  const auto scanned = parts.repository->scan(micros_since_1970());
  if (!scanned) return pass_on(scanned.error());
  report_ignored_fields(parts, *scanned);
  return check_models_are_apart(parts.config, parts.repository->models(), *parts.request.repository);
}

Result<std::unique_ptr<ServeParts>> read_parts(const serving::ServeRequest& request, const ServeOutside& outside) {
  auto parts = std::make_unique<ServeParts>(ServeParts{.request = request, .outside = outside});
  const auto warn = [&outside](const std::string& message) { report(outside, message); };
  auto telemetry = edges::Telemetry::open(
      outside.environment,
      {.service_name = "berth-serve", .version = BERTH_VERSION, .limits_callers = true, .warn = warn});
  if (!telemetry) return pass_on(telemetry.error());
  parts->telemetry = *std::move(telemetry);
  auto identity = read_identity(outside.environment);
  if (!identity) return pass_on(identity.error());
  parts->identity = *std::move(identity);
  if (auto read = read_config(*parts); !read) return pass_on(read.error());
  auto device = find_device(request, *outside.files);
  if (!device) return pass_on(device.error());
  parts->device = *std::move(device);
  if (auto read = read_repository(*parts); !read) return pass_on(read.error());
  return parts;
}

serving::ServerTerms server_terms(const ServeParts& parts) {
  serving::ServerTerms terms;
  terms.dispatch = {.policy = parts.request.policy,
                    .eviction = parts.request.eviction,
                    .memory = parts.device.memory,
                    .lanes = parts.device.lanes,
                    .queue_max = kQueueMax,
                    .queue_bytes_max = kQueueBytesMax};
  for (const serving::ConfiguredTenant& tenant : parts.config.tenants) {
    terms.tenants.push_back({.name = tenant.name, .weight = tenant.weight});
  }
  if (terms.tenants.empty()) terms.tenants.push_back({.name = "default"});
  terms.simulated = parts.device.simulated;
  return terms;
}

edges::ModelServerOptions server_options(ServeParts& parts) {
  edges::ModelServerOptions options;
  options.terms = server_terms(parts);
  options.metadata = {.name = "berth", .version = BERTH_VERSION, .device = parts.device.description};
  options.run_max = Micros::seconds(parts.config.run_seconds);
  options.scan = [&parts] { return scan(parts); };
  if (parts.device.cuda) {
    options.device_free_bytes = [cuda = parts.device.cuda]() -> std::optional<std::int64_t> {
      const auto free_bytes = cuda->free_bytes();
      return free_bytes ? std::optional(*free_bytes) : std::nullopt;
    };
  }
  options.report = [&parts](const std::string& message) { report(parts.outside, message); };
  options.spans = parts.spans();
  options.tenant_of =
      [&parts](std::optional<std::string_view> authorization) -> serving::ServeResult<serving::TenantIndex> {
    if (const auto tenant = parts.keys.tenant_of(authorization)) return *tenant;
    return serving::refuse(serving::ServeFault::kNoKey, "wanted Authorization: Bearer KEY with the key of a tenant");
  };
  return options;
}

edges::FigureRecorder::Options recorder_options(ServeParts& parts, edges::FigureFiles files,
                                                edges::ModelServer& server) {
  return {.files = std::move(files),
          .take = [&server](bool is_last) { return server.take_ended(is_last); },
          .report = [&parts](const std::string& message) { report(parts.outside, message); }};
}

void say_ready(const ServeParts& parts, const HttpServer& http, const edges::GrpcServer* grpc) {
  std::string line = "ready " + url_text("http", parts.request.http.host, http.port());
  if (grpc != nullptr) line += " " + url_text("grpc", parts.request.grpc.host, grpc->port());
  if (parts.device.simulated) line += fmt::format(" ({})", parts.device.description);
  fmt::print(parts.outside.out, "{}\n", line);
  std::fflush(parts.outside.out);
}

void wait_for_signal(const up::HeldSignals& signals) {
  while (!signals.taken()) std::this_thread::sleep_for(kSignalPause);
}

Result<int> serve_until_signal(ServeParts& parts, const up::HeldSignals& signals) {
  auto files = edges::open_figure_files(figure_file_options(parts.request, parts.device));
  if (!files) return pass_on(files.error());
  edges::CurlStreamClient client;  // before other threads
  edges::ModelServer server(parts.engine.get(), server_options(parts));
  if (files->series || files->usage) server.keep_ended();
  for (const openai::Backend& backend : parts.backends) {
    for (const std::string& model : backend.configured.models) server.add_backend_model(model);
  }
  model_api::ModelApi models(
      server, model_api::figure_routes(server, [&] { return telemetry_families(parts.telemetry.get()); }));
  openai::OpenAiApi backends({.backends = parts.backends,
                              .keys = parts.keys,
                              .created_seconds = micros_since_1970().count() / kMicrosPerSecond,
                              .now = steady_now,
                              .on_end =
                                  [&server](const openai::ProxiedRequest& request) {
                                    server.end_at_backend(request.model, request.tenant, backend_end(request));
                                  },
                              .spans = parts.spans()},
                             client);
  ServeHandler handler(models, parts.backends.empty() ? nullptr : &backends);
  server.start();
  std::optional<edges::FigureRecorder> recorder(std::in_place, recorder_options(parts, *std::move(files), server));
  IdentifiedHandler identified(parts.identity, handler);
  auto http = parts.outside.start_http(parts.request.http,
                                       parts.identity.is_stated() ? static_cast<HttpHandler&>(identified) : handler);
  if (!http) return pass_on(http.error());
  std::unique_ptr<edges::GrpcServer> grpc;
  // Its messages have no place for the key.
  if (edges::has_grpc() && parts.identity.key.empty()) {
    auto started = edges::start_grpc_server({.host = parts.request.grpc.host, .port = parts.request.grpc.port}, server);
    if (!started) return pass_on(started.error());
    grpc = *std::move(started);
  }
  // Nothing below returns before the exporter has stopped, so it may ask the server.
  if (parts.telemetry) parts.telemetry->start([&] { return server_families(server, parts.telemetry.get()); });
  say_ready(parts, **http, grpc.get());
  if (parts.request.is_demo) {
    const auto is_stopped = [&, was_taken = false]() mutable { return was_taken |= signals.taken().has_value(); };
    run_demo(server, client, (*http)->port(), {.out = parts.outside.out, .is_stopped = is_stopped});
  } else {
    wait_for_signal(signals);
  }
  identified.begin_end();
  backends.refuse_new();
  server.stop(kEndPatience);
  backends.close();
  if (grpc) grpc->stop();
  (*http)->stop();
  recorder.reset();  // what has ended until now
  if (parts.telemetry) parts.telemetry->stop();
  return 0;
}

}  // namespace

int run_serve(const serving::ServeRequest& asked, const ServeOutside& outside) {
  let_memory_be_given_back();
  const up::HeldSignals signals;  // before the first thread
  serving::ServeRequest request = asked;
  DemoFolder folder;
  if (request.is_demo) {
    if (const auto written = folder.write(); !written) return outside.report_failure(written.error());
    request.repository = folder.repository();
    request.device = serving::DeviceKind::kSimulated;
    request.device_file = folder.device_file();
  }
  const auto parts = read_parts(request, outside);
  if (!parts) return outside.report_failure(parts.error());
  const auto status = serve_until_signal(**parts, signals);
  return status ? *status : outside.report_failure(status.error());
}

}  // namespace berth::serve
