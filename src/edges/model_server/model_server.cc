#include "edges/model_server/model_server.h"

#include <utility>

#include "edges/model_server/detail/server_threads.h"

namespace berth::edges {

using serving::IndexEntry;
using serving::InferRequest;
using serving::ModelMetadata;
using serving::ModelStatistics;
using serving::ServerCore;
using serving::ServeResult;
using serving::TenantIndex;

ModelServer::ModelServer(ModelEngine* engine, ModelServerOptions options)
    : options_(std::move(options)), threads_(std::make_shared<detail::ServerThreads>(engine, options_)) {}

ModelServer::~ModelServer() { stop(Micros(0)); }

void ModelServer::start() { threads_->start(threads_); }

ServerEnd ModelServer::stop(Micros at_most) { return threads_->stop(at_most); }

ServeResult<TenantIndex> ModelServer::tenant_of(std::optional<std::string_view> authorization) const {
  return options_.tenant_of ? options_.tenant_of(authorization) : TenantIndex();
}

ModelServer::RequestNumber ModelServer::infer(InferRequest request, AnswerDone done) {
  RequestNumber number = 0;
  threads_->change(
      [&](ServerCore& core, Instant now) { number = core.infer(std::move(request), std::move(done), now); });
  return number;
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

}  // namespace berth::edges
