#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/trace/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto trace = berth::read_rps_text(text, "f");
  if (!trace) ENSURE(trace.error().message.starts_with("f:") && trace.error().message.size() < 1000);
  if (trace) ENSURE(!trace->counts.empty() && trace->counts.size() <= size);
  return 0;
}
