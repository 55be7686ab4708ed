/// The repository: its index, and loading and unloading of models.
#pragma once

#include <vector>

#include "serving/service/inference_service.h"
#include "surface/model_api/model_route.h"

namespace berth::model_api {

/// The service is borrowed.
[[nodiscard]] std::vector<ModelRoute> repository_routes(serving::InferenceService& service);

}  // namespace berth::model_api
