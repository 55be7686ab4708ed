// Any bytes give a request or an error. A request's tensors are as large as their shapes say, and are the same after
// they were written as an answer, in JSON where that can carry them and as binary data, and read again.
//
// The first line of the input is the value of the header with the length of the head; empty: there is none.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "serving/protocol/infer_reader.h"
#include "serving/protocol/infer_writer.h"

namespace berth::serving::protocol {
namespace {

void check_sizes(const Tensor& tensor) {
  std::size_t count = 1;
  for (const std::int64_t size : tensor.shape) {
    ENSURE(size >= 0);
    count *= static_cast<std::size_t>(size);
  }
  const bool is_bytes = tensor.type == TensorType::kBytes;
  ENSURE(tensor.texts.size() == (is_bytes ? count : 0));
  ENSURE(tensor.bytes.size() == (is_bytes ? 0 : count * element_bytes(tensor.type)));
}

/// Writes the tensors as outputs and reads these as inputs.
void check_again(const InferRequest& request, bool is_binary) {
  const InferAnswer answer{.model = "m", .version = "1", .id = "", .outputs = request.inputs};
  auto written = write_infer_answer(answer, {.is_binary = is_binary});
  if (!written) {
    ENSURE(!is_binary && written.error().message.find("binary") != std::string::npos);
    return;
  }
  // The head of an answer is {"model_name":"m","model_version":"1","outputs":[...]}.
  const std::size_t outputs = written->body.find("\"outputs\"");
  written->body.replace(outputs, std::string_view("\"outputs\"").size(), " \"inputs\"");
  const auto length =
      written->head_bytes ? std::optional(std::to_string(*written->head_bytes)) : std::optional<std::string>();
  const auto read = read_infer_request(written->body, length);
  ENSURE(read.has_value());
  ENSURE(read->request.inputs == request.inputs);
}

void check(std::string_view input) {
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string_view length = input.substr(0, line);
  const std::string_view body = input.substr(std::min(line + 1, input.size()));
  const auto read = read_infer_request(body, length.empty() ? std::nullopt : std::optional(length));
  if (!read) {
    ENSURE(!read.error().message.empty());
    ENSURE(find_bad_utf8(read.error().message) == std::string_view::npos);
    return;
  }
  const InferRequest& request = read->request;
  ENSURE(request.priority >= 1 && request.priority <= 1000);
  ENSURE(!request.timeout || request.timeout->count() > 0);
  ENSURE(read->form.outputs.size() == request.outputs.size());
  for (const Tensor& tensor : request.inputs) check_sizes(tensor);
  check_again(request, true);
  check_again(request, false);
}

}  // namespace
}  // namespace berth::serving::protocol

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  berth::serving::protocol::check({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
