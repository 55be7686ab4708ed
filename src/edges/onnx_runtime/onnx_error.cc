#include "edges/onnx_runtime/onnx_error.h"

#include <cstddef>

#include "base/core/text.h"

namespace berth::edges {

std::string printable(std::string message) {
  constexpr std::size_t kMessageBytesMax = 2000;
  if (message.size() > kMessageBytesMax) message.resize(kMessageBytesMax);
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  for (std::size_t bad = find_bad_utf8(message); bad != std::string::npos; bad = find_bad_utf8(message)) {
    message[bad] = '?';
  }
  return message;
}

Error error_of(const Ort::Exception& exception) {
  const std::string message = printable(exception.what());
  switch (exception.GetOrtErrorCode()) {
    case ORT_NO_SUCHFILE:
      return {ErrorCode::kNotFound, message};
    case ORT_RUNTIME_EXCEPTION:
    case ORT_EP_FAIL:
    case ORT_ENGINE_ERROR:
      return {ErrorCode::kUnavailable, message};
    default:
      return {ErrorCode::kInvalidInput, message};
  }
}

}  // namespace berth::edges
