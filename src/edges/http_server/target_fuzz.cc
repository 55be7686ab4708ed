// Any bytes give decoded UTF-8 or an error; the path has as many segments as the raw text has slashes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "edges/http_server/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto target = berth::edges::parse_target(text);
  if (!target) {
    ENSURE(!target.error().message.empty());
    return 0;
  }
  std::size_t byte_count = 0;
  for (const auto& segment : target->path) {
    ENSURE(berth::find_bad_utf8(segment) == std::string_view::npos);
    byte_count += segment.size() + 1;
  }
  for (const auto& pair : target->query) {
    ENSURE(!pair.name.empty());
    ENSURE(berth::find_bad_utf8(pair.name) == std::string_view::npos);
    ENSURE(berth::find_bad_utf8(pair.value) == std::string_view::npos);
    byte_count += pair.name.size() + pair.value.size() + 1;
  }
  ENSURE(byte_count <= text.size() + 1);
  if (text.starts_with('/') && text != "/" && text.find('?') == std::string_view::npos) {
    std::size_t slash_count = 0;
    for (const char byte : text) slash_count += byte == '/' ? 1 : 0;
    ENSURE(target->path.size() == slash_count);
  }
  return 0;
}
