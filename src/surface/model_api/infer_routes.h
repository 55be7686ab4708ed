/// Inference: `POST /v2/models/{model}[/versions/{version}]/infer`.
#pragma once

#include <cstddef>
#include <vector>

#include "serving/service/inference_service.h"
#include "surface/model_api/model_route.h"

namespace berth::model_api {

/// Of a request for inference.
inline constexpr std::size_t kInferBodyBytesMax = std::size_t{64} << 20U;

/// The service is borrowed. A client that leaves cancels its request.
[[nodiscard]] std::vector<ModelRoute> infer_routes(serving::InferenceService& service);

}  // namespace berth::model_api
