// Any bytes are metadata, or the answer to a request, or an error with a message.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "serving/protocol/answer_check.h"
#include "serving/protocol/metadata_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  using namespace berth::serving::protocol;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto server = read_server_metadata(text, "server");
  ENSURE(server ? !server->name.empty() : !server.error().message.empty());
  const auto model = read_model_metadata(text, "model");
  ENSURE(model ? !model->inputs.empty() : !model.error().message.empty());
  ENSURE(find_bad_utf8(read_error_message(text)) == std::string_view::npos);
  const std::size_t head_bytes = text.find('\n');
  const auto checked = check_infer_answer(
      text.substr(0, head_bytes), head_bytes == std::string_view::npos ? "" : text.substr(head_bytes), "answer", size);
  ENSURE(checked || !checked.error().message.empty());
  return 0;
}
