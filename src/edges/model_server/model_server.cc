#include "edges/model_server/model_server.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <utility>

#include "edges/model_server/detail/request_spans.h"
#include "edges/model_server/detail/server_threads.h"
#include "serving/server/server_reports.h"

namespace berth::edges {

namespace {

/// What this process has in memory; nothing where the system does not say.
std::optional<std::int64_t> resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all_pages = 0;
  std::int64_t pages = 0;
  if (!(file >> all_pages >> pages)) return std::nullopt;
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace

using serving::IndexEntry;
using serving::InferRequest;
using serving::ModelMetadata;
using serving::ModelStatistics;
using serving::ServerCore;
using serving::ServeResult;
using serving::TenantIndex;

ModelServer::ModelServer(ModelEngine* engine, ModelServerOptions options)
    : options_(std::move(options)), threads_(std::make_shared<detail::ServerThreads>(engine, options_)) {
  started_us_ = wall_now().count();
  learn_wall_time();
}

ModelServer::~ModelServer() { stop(Micros(0)); }

void ModelServer::start() {
  base_bytes_ = resident_bytes();
  threads_->start(threads_);
}

ServerEnd ModelServer::stop(Micros at_most) { return threads_->stop(at_most); }

ServeResult<TenantIndex> ModelServer::tenant_of(std::optional<std::string_view> authorization) const {
  return options_.tenant_of ? options_.tenant_of(authorization) : TenantIndex();
}

ModelServer::RequestNumber ModelServer::infer(InferRequest request, AnswerDone done) {
  if (options_.spans) done = detail::trace(options_.spans, request, std::move(done));
  RequestNumber number = 0;
  threads_->change(
      [&](ServerCore& core, Instant now) { number = core.infer(std::move(request), std::move(done), now); });
  return number;
}

void ModelServer::note_refused(serving::RefusedRequest request) {
  if (options_.spans) detail::trace_refused(options_.spans, std::move(request));
}

void ModelServer::cancel(RequestNumber number) {
  threads_->change([&](ServerCore& core, Instant now) { core.cancel(number, now); });
}

void ModelServer::load(std::string_view model, Micros lease, ModelDone done) {
  threads_->change([&](ServerCore& core, Instant now) { core.load(model, lease, std::move(done), now); });
}

void ModelServer::unload(std::string_view model, ModelDone done) {
  threads_->change([&](ServerCore& core, Instant now) { core.unload(model, std::move(done), now); });
}

serving::DeviceActivity ModelServer::activity() const {
  return threads_->look([](const ServerCore& core) { return core.activity(); });
}

bool ModelServer::is_ready() const {
  return threads_->look([](const ServerCore& core) { return core.is_ready(); });
}

ServeResult<ModelMetadata> ModelServer::model_metadata(std::string_view model, std::string_view version) const {
  return threads_->look([&](const ServerCore& core) { return core.model_metadata(model, version); });
}

ServeResult<bool> ModelServer::is_model_ready(std::string_view model, std::string_view version) const {
  return threads_->look([&](const ServerCore& core) { return core.is_model_ready(model, version); });
}

std::vector<IndexEntry> ModelServer::index() const {
  return threads_->look([](const ServerCore& core) { return core.index(); });
}

ServeResult<std::vector<ModelStatistics>> ModelServer::statistics(std::string_view model,
                                                                  std::string_view version) const {
  return threads_->look([&](const ServerCore& core) { return core.statistics(model, version); });
}

// What it says about itself

Micros ModelServer::wall_now() const {
  if (options_.wall_clock) return options_.wall_clock();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Micros(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

void ModelServer::learn_wall_time() {
  // A thread that was interrupted between its looks at the two clocks must not believe that the wall clock was set.
  constexpr Micros kLookMax(2'000);
  constexpr int kTries = 10;
  threads_->change([&](ServerCore& core, Instant) {
    for (int i = 0; i < kTries; ++i) {
      const Instant before = threads_->now();
      const Micros wall = wall_now();
      const Instant after = threads_->now();
      if (after - before <= kLookMax) return core.figures().learn_wall_time(after, wall);
    }
  });
}

ServeResult<std::vector<serving::FigurePoint>> ModelServer::series(const serving::AskedFigures& asked) const {
  return threads_->look_now([&](const ServerCore& core, Instant now) { return core.figures().series(asked, now); });
}

serving::MemoryFigures ModelServer::memory() const {
  auto figures = threads_->look_now([](const ServerCore& core, Instant now) { return serving::memory_of(core, now); });
  figures.base_bytes = base_bytes_;
  figures.device_free_bytes = device_free_bytes();
  return figures;
}

std::vector<serving::UsageItem> ModelServer::usage() const {
  return threads_->look([](const ServerCore& core) { return core.figures().usage(); });
}

serving::TimeFigures ModelServer::times() const {
  return {.started_us = started_us_,
          .device = options_.metadata.device,
          .items = threads_->look([](const ServerCore& core) { return serving::times_of(core); })};
}

std::optional<std::int64_t> ModelServer::device_free_bytes() const {
  return options_.device_free_bytes ? options_.device_free_bytes() : std::nullopt;
}

serving::CounterFigures ModelServer::counters() const {
  auto figures =
      threads_->look_now([](const ServerCore& core, Instant now) { return serving::counters_of(core, now); });
  figures.device = options_.metadata.device;
  figures.memory.base_bytes = base_bytes_;
  figures.memory.device_free_bytes = device_free_bytes();
  return figures;
}

void ModelServer::add_backend_model(std::string_view model) {
  threads_->change([&](ServerCore& core, Instant now) { core.figures().add_backend_model(model, now); });
}

void ModelServer::end_at_backend(std::string_view model, TenantIndex tenant, const serving::BackendEnd& how) {
  threads_->change([&](ServerCore& core, Instant now) { core.figures().end_at_backend(model, tenant, how, now); });
}

void ModelServer::keep_ended() {
  threads_->change([](ServerCore& core, Instant now) { core.figures().keep_ended(now); });
}

serving::EndedFigures ModelServer::take_ended(bool is_last) {
  learn_wall_time();
  serving::EndedFigures ended;
  threads_->change([&](ServerCore& core, Instant now) { ended = core.figures().take_ended(now, is_last); });
  return ended;
}

}  // namespace berth::edges
