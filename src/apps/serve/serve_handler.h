/// All HTTP routes of `berth serve`.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "domain/ports/http_server.h"
#include "surface/model_api/model_api.h"
#include "surface/openai_api/openai_api.h"

namespace berth::serve {

/// Paths below /v1 belong to the backends, if there are any; all others to the models.
class ServeHandler final : public HttpHandler {
 public:
  /// `backends`: null if there are none. Both are borrowed.
  ServeHandler(model_api::ModelApi& models, openai::OpenAiApi* backends) : models_(models), backends_(backends) {}

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override { return handler_of(request).answer(request); }
  [[nodiscard]] std::optional<std::size_t> body_bytes_max(const HttpRequest& request) override {
    return handler_of(request).body_bytes_max(request);
  }
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override {
    return refusal.request == nullptr ? models_.render(refusal) : handler_of(*refusal.request).render(refusal);
  }

 private:
  [[nodiscard]] HttpHandler& handler_of(const HttpRequest& request) {
    if (backends_ != nullptr && openai::OpenAiApi::is_for(request)) return *backends_;
    return models_;
  }

  model_api::ModelApi& models_;
  openai::OpenAiApi* backends_;
};

}  // namespace berth::serve
