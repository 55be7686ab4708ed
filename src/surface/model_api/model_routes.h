/// The server and its models: health, metadata, `ready`, `config`, `stats`.
#pragma once

#include <vector>

#include "serving/service/inference_service.h"
#include "surface/model_api/model_route.h"

namespace berth::model_api {

/// The service is borrowed.
[[nodiscard]] std::vector<ModelRoute> model_routes(serving::InferenceService& service);

}  // namespace berth::model_api
