/// Whether a request fits its model.
#pragma once

#include <cstdint>

#include "serving/model_config/version_terms.h"
#include "serving/service/inference.h"

namespace berth::serving {

/// What the dispatcher needs to know of the data of a request.
struct RequestShape {
  RowCount rows = 1;        ///< 1 for a model without a dimension of rows
  std::uint64_t shape = 0;  ///< a digest of the sizes of a row: only equal ones share a batch
  std::int64_t bytes = 0;   ///< of the inputs
};

/// Puts the inputs into the order of the model. Errors: kMalformed for inputs that are missing, unknown, repeated, of
/// another type or shape, for more rows than a batch may have, and for unknown outputs.
[[nodiscard]] ServeResult<RequestShape> check_request(const VersionTerms& terms, InferRequest& request);

/// The request as the dispatcher sees it. Requests of a model that is not batched are one row each, and their shapes
/// are as different as their numbers.
[[nodiscard]] Request with_shape(Request request, const RequestShape& shape, bool is_batched);

}  // namespace berth::serving
