// An expression and a text, separated by a newline: whatever compiles is matched in bounded time, and means the same
// when it is compiled again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "gpu/programs/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using berth::programs::Expression;
  const std::string_view all(reinterpret_cast<const char*>(bytes), size);
  const std::size_t end = all.find('\n');
  const std::string_view text = end == std::string_view::npos ? std::string_view() : all.substr(end + 1, 256);
  const auto compiled = Expression::compile(all.substr(0, end));
  if (!compiled) {
    ENSURE(!compiled.error().message.empty());
    return 0;
  }
  const auto again = Expression::compile(compiled->text());
  ENSURE(again.has_value());
  ENSURE(again->matches(text) == compiled->matches(text));
  return 0;
}
