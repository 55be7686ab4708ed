// The text form of a state: an answer for any bytes; a state that was read is legal and survives a round trip.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth::mig;
  if (size == 0) return 0;
  const berth::GpuModel& model = gpu_models()[bytes[0] % gpu_models().size()];
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const auto state = parse_state(model, text);
  if (!state) return 0;
  ENSURE(!find_clash(model, *state));
  const auto again = parse_state(model, to_string(model, *state));
  ENSURE(again && *again == *state);
  return 0;
}
