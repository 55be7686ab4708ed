// Any bytes as a list of this format: try_any_bytes states the properties.
#include "domain/lists/testing/any_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  berth::try_any_bytes(bytes, size, berth::JobListFormat::kOwn);
  return 0;
}
