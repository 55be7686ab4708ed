// Any bytes give pods that request GPUs in one of the three ways, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/lists/pod_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const auto pods = read_pods({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!pods) {
    ENSURE(pods.error().message.starts_with("fuzz"));
    return 0;
  }
  ENSURE(!pods->empty());
  for (const Pod& pod : *pods) {
    ENSURE(!pod.name.empty());
    const int least = pod.gpu_count == 0 ? 0 : pod.gpu_count == 1 ? 1 : 1000;
    ENSURE(pod.gpu_milli >= least && pod.gpu_milli <= (pod.gpu_count == 0 ? 0 : 1000));
  }
  return 0;
}
