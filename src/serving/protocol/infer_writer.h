/// Answers to requests for inference as they leave over HTTP, and requests as a client sends them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "serving/protocol/infer_reader.h"
#include "serving/service/inference.h"

namespace berth::serving::protocol {

struct WrittenAnswer {
  std::string body;
  /// The value of the header Inference-Header-Content-Length: the bytes of JSON, which binary data follow. Nothing: all
  /// of the body is JSON.
  std::optional<std::size_t> head_bytes = std::nullopt;
};

/// Writes an answer whose outputs are in the order in which the request named them. Data as JSON are one flat list;
/// floats are the shortest texts that read back as the same number of their type. O(bytes).
///
/// Errors, where the client wanted JSON: kMalformed for FP16 and BF16; kEngineFailed for NaN, infinity, and elements of
/// BYTES that are not UTF-8. They name the binary form, which can carry them.
[[nodiscard]] ServeResult<WrittenAnswer> write_infer_answer(const InferAnswer& answer, const AnswerForm& form);

/// Writes a request with these inputs, all of them as binary data or as JSON, which asks for the outputs in the same
/// form. Errors: as above.
[[nodiscard]] ServeResult<WrittenAnswer> write_infer_call(std::span<const Tensor> inputs, bool is_binary);

}  // namespace berth::serving::protocol
