/// The HTTP side of a model server: the Open Inference Protocol v2 with Triton's extensions for binary tensors, the
/// repository, configurations and statistics.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "domain/ports/http_server.h"
#include "serving/service/inference_service.h"
#include "surface/model_api/model_route.h"
#include "surface/model_api/route_table.h"

namespace berth::model_api {

class ModelApi final : public HttpHandler {
 public:
  /// The service is borrowed, and must outlive the server as well. `more`: routes beside those of /v2, such as metrics;
  /// where both match, those of /v2 count.
  explicit ModelApi(serving::InferenceService& service, std::vector<ModelRoute> more = {});

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override;
  [[nodiscard]] std::optional<std::size_t> body_bytes_max(const HttpRequest& request) override;
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override;

 private:
  /// Of requests with a key, for their traces.
  void note_unknown(const HttpRequest& request);
  void note_refused(const HttpRequest& request, int status);

  serving::InferenceService& service_;
  RouteTable table_;
};

}  // namespace berth::model_api
