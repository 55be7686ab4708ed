/// What a server says of itself and of its models, as JSON: the Open Inference Protocol, and Triton's extensions for
/// configurations, statistics and the repository.
#pragma once

#include <span>
#include <string>

#include "serving/service/inference_service.h"

namespace berth::serving::protocol {

/// The name, the version and the extensions that exist, and the device.
[[nodiscard]] std::string server_metadata_json(const ServerMetadata& server);
[[nodiscard]] std::string model_metadata_json(const ModelMetadata& model);
/// As much of Triton's model configuration as clients need; it is made from the metadata, not from a config.pbtxt.
/// Shapes are without the dimension of rows if the model is batched.
[[nodiscard]] std::string model_config_json(const ModelMetadata& model);
/// Times are in nanoseconds. Of the batches of a size only the time in the engine is known.
[[nodiscard]] std::string statistics_json(std::span<const ModelStatistics> models);
/// A list of all entries, or of those that are ready.
[[nodiscard]] std::string index_json(std::span<const IndexEntry> entries, bool is_ready_only);
/// "READY".
[[nodiscard]] std::string_view model_state_name(ModelState state);

}  // namespace berth::serving::protocol
