#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "base/core/instant.h"
#include "domain/trace/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto trace = berth::read_azure_llm(text, "f");
  if (!trace) ENSURE(trace.error().message.starts_with("f:") && trace.error().message.size() < 1000);
  if (!trace) return 0;
  std::int64_t last_us = 0;
  for (const auto& request : trace->requests) {
    ENSURE(request.at_us >= last_us && request.at_us < trace->seconds * berth::kMicrosPerSecond);
    last_us = request.at_us;
  }
  return 0;
}
