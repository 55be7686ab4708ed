// Any bytes, in parts of any size, pass a stream unchanged as a whole; requests and answers give fields or an error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/ensure.h"
#include "surface/openai_api/detail/call_fields.h"
#include "surface/openai_api/detail/event_stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  using namespace berth::openai::detail;
  if (size == 0) return 0;
  const std::size_t step = bytes[0] % 16 + 1;
  const std::string_view text(reinterpret_cast<const char*>(bytes + 1), size - 1);
  EventStream stream;
  std::string passed;
  for (std::size_t at = 0; at < text.size(); at += step) {
    passed += stream.take(text.substr(at, std::min(step, text.size() - at)));
    ENSURE(text.starts_with(passed));
  }
  EventStream whole;
  const std::string at_once = whole.take(text);
  ENSURE(at_once + whole.take_kept() == text);
  ENSURE(stream.usage() == whole.usage());
  ENSURE(passed + stream.take_kept() == text);
  (void)read_call(text);
  (void)usage_in(text);
  return 0;
}
