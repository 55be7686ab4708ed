#include "surface/cli/client/objects_text.h"

#include <array>
#include <utility>

#include "base/core/text.h"
#include "surface/cli/client/node.h"
#include "surface/cli/shared/yaml_text.h"

namespace berth::cli {

using yaml::Node;

ClientResult<Output> parse_output(std::string_view word) {
  constexpr std::array<std::string_view, 5> kWords = {"table", "wide", "json", "yaml", "name"};
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (word == kWords[i]) return static_cast<Output>(i);
  }
  return client_fail(ClientStatus::kBadInput,
                     "--output: wanted table, wide, json, yaml or name, found " + in_quotes(word));
}

Node list_node(std::vector<Node> objects) {
  Node metadata{{}, yaml::Map()};
  put(metadata, "continue", null_node());
  Node list{{}, yaml::Map()};
  put(list, "items", {{}, std::move(objects)});
  put(list, "metadata", std::move(metadata));
  return list;
}

std::string objects_text(Output output, Kind kind, std::vector<Node> objects, bool is_one,
                         const std::optional<std::string>& now) {
  switch (output) {
    case Output::kTable:
    case Output::kWide:
      return objects.empty() ? "" : objects_table(kind, objects, {.is_wide = output == Output::kWide, .now = now});
    case Output::kJson:
    case Output::kYaml: {
      const Node node = is_one ? std::move(objects.front()) : list_node(std::move(objects));
      return output == Output::kJson ? indented_json_of(node) : yaml_of(node);
    }
    case Output::kName: {
      std::string names;
      for (const Node& object : objects) names += title_of(kind, object) + "\n";
      return names;
    }
  }
  return "";
}

}  // namespace berth::cli
