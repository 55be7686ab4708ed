/// What the server says of itself and its models, as messages of the protocol, and the parameters of loads.
#pragma once

#include <inference.pb.h>

#include <vector>

#include "base/core/instant.h"
#include "serving/service/inference.h"
#include "serving/service/inference_service.h"

namespace berth::edges {

[[nodiscard]] inference::ServerMetadataResponse metadata_message(const serving::ServerMetadata& metadata);
[[nodiscard]] inference::ModelMetadataResponse metadata_message(const serving::ModelMetadata& metadata);
/// Without the dimension of rows, if the model is batched.
[[nodiscard]] inference::ModelConfigResponse config_message(const serving::ModelMetadata& metadata);
[[nodiscard]] inference::ModelStatisticsResponse statistics_message(
    const std::vector<serving::ModelStatistics>& models);

/// Of the entries that the request asks for. Errors: kNotOffered for the index of one repository of several.
[[nodiscard]] serving::ServeResult<inference::RepositoryIndexResponse> index_message(
    const std::vector<serving::IndexEntry>& entries, const inference::RepositoryIndexRequest& request);

/// The parameter `lease_seconds`, 0 without it. Errors: kMalformed for other values than 0 to 3600, and for unknown
/// parameters; kNotOffered for a configuration or files in place of those of the repository.
[[nodiscard]] serving::ServeResult<Micros> lease_of(const inference::RepositoryModelLoadRequest& request);
/// Errors: as `lease_of`. There are no dependents to unload.
[[nodiscard]] serving::ServeResult<bool> check_unload(const inference::RepositoryModelUnloadRequest& request);

}  // namespace berth::edges
