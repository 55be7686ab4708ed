/// Requests for inference and their answers as messages of the protocol.
#pragma once

#include <inference.pb.h>

#include <span>
#include <string>
#include <vector>

#include "edges/grpc_server/oip/wire.h"
#include "serving/service/inference.h"

namespace berth::edges {

/// Of a ModelInferRequest.
[[nodiscard]] std::span<const FieldToCount> infer_fields();

/// The request of a message, whose data it takes; without tenant. Data is in `raw_input_contents` of all inputs, or in
/// the typed contents of each. Parameters that mean nothing to this server are ignored.
///
/// Errors: kMalformed, kTooLarge, and kNotOffered for sequences, classification and shared memory; they name the tensor
/// or the parameter.
[[nodiscard]] serving::ServeResult<serving::InferRequest> infer_request_of(inference::ModelInferRequest message);

/// A message without data, and the data of its outputs.
struct InferResponse {
  inference::ModelInferResponse head;
  std::vector<std::string> raw_output_contents;
};

[[nodiscard]] InferResponse infer_response_of(serving::InferAnswer answer);

}  // namespace berth::edges
