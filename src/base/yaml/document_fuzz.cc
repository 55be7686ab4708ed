// Any bytes give a tree within the limits or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "base/yaml/document.h"

namespace {

using namespace berth::yaml;

std::size_t count_nodes(const Node& node, int depth) {
  ENSURE(depth <= kDepthMax);
  std::size_t count = 1;
  if (const auto* items = std::get_if<List>(&node.value)) {
    for (const Node& item : *items) count += count_nodes(item, depth + 1);
  }
  if (const auto* entries = std::get_if<Map>(&node.value)) {
    for (const Entry& entry : *entries) count += count_nodes(entry.value, depth + 1);
  }
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto root = parse_document(text, "fuzz");
  if (root) {
    ENSURE(count_nodes(*root, 1) <= kNodeCountMax);
  } else {
    ENSURE(root.error().message.substr(0, 5) == "fuzz:");
  }
  return 0;
}
