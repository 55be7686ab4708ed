#include "surface/cli/client/get_run.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>

#include "base/core/text.h"
#include "surface/cli/client/describe_text.h"
#include "surface/cli/client/kinds.h"
#include "surface/cli/client/node.h"
#include "surface/cli/client/tables.h"

namespace berth::cli {
namespace {

using yaml::Node;

enum class Output : std::uint8_t { kTable, kWide, kJson, kYaml, kName };

ClientResult<Output> parse_output(std::string_view word) {
  constexpr std::array<std::string_view, 5> kWords = {"table", "wide", "json", "yaml", "name"};
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (word == kWords[i]) return static_cast<Output>(i);
  }
  return client_fail(ClientStatus::kBadInput,
                     "--output: wanted table, wide, json, yaml or name, found " + in_quotes(word));
}

/// A list in the API's form, with all its items.
Node list_node(std::vector<Node> objects) {
  Node metadata{{}, yaml::Map()};
  put(metadata, "continue", null_node());
  Node list{{}, yaml::Map()};
  put(list, "items", {{}, std::move(objects)});
  put(list, "metadata", std::move(metadata));
  return list;
}

/// The objects in an output format; `is_one`: as a single object instead of a list.
std::string render(Output output, Kind kind, std::vector<Node> objects, bool is_one) {
  switch (output) {
    case Output::kTable:
    case Output::kWide:
      return objects.empty() ? "" : objects_table(kind, objects, output == Output::kWide);
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

struct Request {
  Selection selection;
  Output output = Output::kTable;
  Client client;
};

/// Checks all words before it looks for the server.
ClientResult<Request> request_of(const GetWords& words, const VerbContext& context) {
  auto selection = check_selection(words.kind, words.name, words.tenant);
  if (!selection) return client_fail(selection.error());
  const auto output = parse_output(words.output);
  if (!output) return client_fail(output.error());
  auto client = connect(words.server, context);
  if (!client) return client_fail(client.error());
  return Request{std::move(*selection), *output, std::move(*client)};
}

bool is_of(const Node& slice, std::string_view gpu) { return text_at(slice, "status.gpu") == gpu; }

/// The related objects of an object that are not part of it.
ClientResult<std::string> related(const Client& client, const Selection& selection, const Node& object) {
  const std::string name = text_at(object, "metadata.name").value_or(selection.name);
  if (selection.kind == Kind::kTenant) {
    const auto services = fetch(client, {.kind = Kind::kService, .name = "", .tenant = name});
    // A server may know a tenant without services and answer as for an unknown one.
    if (!services && services.error().status != ClientStatus::kNotFound) return client_fail(services.error());
    return related_text(Kind::kService, services.value_or(std::vector<Node>()));
  }
  if (selection.kind == Kind::kGpu) {
    auto slices = fetch(client, {.kind = Kind::kSlice, .name = "", .tenant = ""});
    if (!slices) return client_fail(slices.error());
    std::erase_if(*slices, [&](const Node& slice) { return !is_of(slice, name); });
    return related_text(Kind::kSlice, *slices);
  }
  if (selection.kind == Kind::kNode) {
    auto gpus = fetch(client, {.kind = Kind::kGpu, .name = "", .tenant = ""});
    if (!gpus) return client_fail(gpus.error());
    std::erase_if(*gpus, [&](const Node& gpu) { return text_at(gpu, "status.node") != name; });
    return related_text(Kind::kGpu, *gpus);
  }
  return "";
}

ClientResult<std::string> described(const GetWords& words, const VerbContext& context) {
  if (words.name.empty()) return client_fail(ClientStatus::kBadInput, "NAME: wanted a name, found none");
  const auto request = request_of(words, context);
  if (!request) return client_fail(request.error());
  const Selection& selection = request->selection;
  auto object = fetch_one(request->client, selection);
  if (!object) return client_fail(object.error());
  if (request->output != Output::kTable && request->output != Output::kWide) {
    std::vector<Node> objects;
    objects.push_back(std::move(*object));
    return render(request->output, selection.kind, std::move(objects), true);
  }
  const auto more = related(request->client, selection, *object);
  if (!more) return client_fail(more.error());
  return describe_text(selection.kind, *object) + *more;
}

}  // namespace

VerbOutcome run_get(const GetWords& words, const VerbContext& context) {
  const auto request = request_of(words, context);
  if (!request) return outcome_of(client_fail(request.error()));
  const Selection& selection = request->selection;
  auto objects = fetch(request->client, selection);
  if (!objects) return outcome_of(client_fail(objects.error()));
  const bool is_empty = objects->empty();
  const bool is_one = !selection.name.empty() && objects->size() == 1;
  VerbOutcome outcome;
  outcome.out = render(request->output, selection.kind, std::move(*objects), is_one);
  if (is_empty) outcome.err = fmt::format("berth: there are no {}\n", plural_of(selection.kind));
  return outcome;
}

VerbOutcome run_describe(const GetWords& words, const VerbContext& context) {
  return outcome_of(described(words, context));
}

}  // namespace berth::cli
