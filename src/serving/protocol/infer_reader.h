/// Requests for inference as they arrive over HTTP: the JSON of the Open Inference Protocol, with Triton's extension
/// for binary tensors (page "extension_binary_data" of its protocol).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "serving/service/inference.h"

namespace berth::serving::protocol {

/// Inputs, and likewise outputs, of one request.
inline constexpr std::size_t kTensorCountMax = 1024;

/// In what form a client wants each output.
struct AnswerForm {
  bool is_binary = false;          ///< of outputs that the request does not name
  std::vector<bool> outputs = {};  ///< whether each that it names is binary, in that order
};

struct ReadInferRequest {
  InferRequest request;  ///< model, version and tenant are not set: they are not in the body
  AnswerForm form;
};

/// Reads a body: a JSON head, then the binary data of the inputs that have any, in their order. `head_length`: the
/// header Inference-Header-Content-Length, the bytes of the head; without it all of the body is JSON.
///
/// Each input has a name of its own, a known datatype, a shape of dimensions of at least 0, and exactly the elements
/// that the shape says: as JSON, flat or nested as the shape, or as `binary_data_size` bytes. Members that are null
/// count as absent; unknown members and parameters are read over. A timeout too long to matter is none.
///
/// Errors: kMalformed; kNotOffered for sequences, classification, shared memory, and binary data without a head.
/// O(bytes).
[[nodiscard]] ServeResult<ReadInferRequest> read_infer_request(std::string_view body,
                                                               std::optional<std::string_view> head_length);

}  // namespace berth::serving::protocol
