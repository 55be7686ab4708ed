// Any bytes give nodes with GPUs among them, or an error with the file's name.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/lists/node_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const auto nodes = read_nodes({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!nodes) {
    ENSURE(nodes.error().message.starts_with("fuzz"));
    return 0;
  }
  ENSURE(std::ranges::any_of(*nodes, [](const ListedNode& node) { return node.gpu_count > 0; }));
  for (const ListedNode& node : *nodes) {
    ENSURE(!node.name.empty() && node.gpu_count >= 0 && node.gpu_count <= kNodeGpusMax);
    ENSURE(node.gpu_count == 0 || !node.gpu_model.empty());
  }
  return 0;
}
