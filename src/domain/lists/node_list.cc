#include "domain/lists/node_list.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/core/first_error.h"
#include "base/core/rows.h"

namespace berth {
namespace {

constexpr std::int64_t kNodeNumberMax = 1'000'000'000;

struct NodeColumn {
  enum : std::size_t { kName, kCpu, kMemory, kGpus, kModel };
};

const NamedColumns node_columns = {.required = {"sn", "cpu_milli", "memory_mib", "gpu", "model"}, .optional = {}};

Result<ListedNode> node_row(const Rows& rows) {
  FirstError first;
  ListedNode node;
  node.name = first.take(rows.word(NodeColumn::kName));
  node.cpu_milli = first.take(rows.integer(NodeColumn::kCpu, 0, kNodeNumberMax));
  node.memory_mib = first.take(rows.integer(NodeColumn::kMemory, 0, kNodeNumberMax));
  node.gpu_count = static_cast<int>(first.take(rows.integer(NodeColumn::kGpus, 0, kNodeGpusMax)));
  if (!first.is_clear()) return first.passed_on();
  node.gpu_model =
      node.gpu_count == 0 ? std::string(rows.field(NodeColumn::kModel)) : first.take(rows.word(NodeColumn::kModel));
  if (!first.is_clear()) return first.passed_on();
  return node;
}

}  // namespace

Result<std::vector<ListedNode>> read_nodes(std::string_view text, std::string_view file) {
  Rows rows(text, file, node_columns);
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  std::vector<ListedNode> nodes;
  std::unordered_set<std::string> names;
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) break;
    auto node = node_row(rows);
    if (!node) return pass_on(node.error());
    if (!names.insert(node->name).second) return rows.refuse(NodeColumn::kName, "a name that no other node has");
    nodes.push_back(std::move(*node));
  }
  if (nodes.empty()) return rows.fail_file("wanted at least one node, found none");
  const bool has_gpus = std::ranges::any_of(nodes, [](const ListedNode& node) { return node.gpu_count > 0; });
  if (!has_gpus) return rows.fail_file("wanted at least one node with GPUs, found none");
  return nodes;
}

}  // namespace berth
