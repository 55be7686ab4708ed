// Any bytes give sorted requests, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "serving/simulation/requests_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth::serving;
  const auto recorded = read_requests({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!recorded) {
    ENSURE(recorded.error().message.starts_with("fuzz"));
    return 0;
  }
  berth::Instant before;
  for (const Request& request : recorded->requests) {
    ENSURE(request.arrival >= before && request.target.count() > 0 && request.priority >= 1);
    ENSURE(static_cast<std::size_t>(request.model) < recorded->models.size());
    ENSURE(static_cast<std::size_t>(request.tenant) < recorded->tenants.size());
    before = request.arrival;
  }
  return 0;
}
