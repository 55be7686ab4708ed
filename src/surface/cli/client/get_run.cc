#include "surface/cli/client/get_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "base/core/text.h"
#include "surface/cli/client/describe_text.h"
#include "surface/cli/client/kinds.h"
#include "surface/cli/client/named.h"
#include "surface/cli/client/node.h"
#include "surface/cli/client/objects_text.h"
#include "surface/cli/client/phases.h"
#include "surface/cli/client/tables.h"
#include "surface/cli/client/watch_run.h"
#include "surface/cli/shared/yaml_text.h"

namespace berth::cli {
namespace {

using yaml::Node;

constexpr std::size_t kPlansShownMax = 10;
/// What `get all` lists, in its order.
constexpr std::array kAllKinds = {Kind::kTenant, Kind::kService, Kind::kNode, Kind::kGpu, Kind::kSlice, Kind::kPlan};
constexpr std::string_view kAll = "all";

struct Request {
  Selection selection;
  Output output = Output::kTable;
  std::vector<std::string> phases;
  Client client;
};

/// Checks all words before it looks for the server.
ClientResult<Request> request_of(const GetWords& words, const VerbContext& context) {
  auto selection = check_selection(words.kind, words.name, words.tenant);
  if (!selection) return client_fail(selection.error());
  const auto output = parse_output(words.output);
  if (!output) return client_fail(output.error());
  auto phases = check_phases(selection->kind, words.phases);
  if (!phases) return client_fail(phases.error());
  auto client = connect(words.server, context);
  if (!client) return client_fail(client.error());
  return Request{std::move(*selection), *output, std::move(*phases), std::move(*client)};
}

/// The world's time, if the output shows ages of that kind.
std::optional<std::string> now_for(const Client& client, Kind kind, Output output) {
  return is_table(output) && has_age(kind) ? fetch_now(client) : std::nullopt;
}

/// Without all but the last ones; returns how many were left out.
std::size_t keep_last(std::vector<Node>& objects, std::size_t count_max) {
  const std::size_t left_out = objects.size() - std::min(objects.size(), count_max);
  objects.erase(objects.begin(), objects.begin() + static_cast<std::ptrdiff_t>(left_out));
  return left_out;
}

bool is_of(const Node& slice, std::string_view gpu) { return text_at(slice, "status.gpu") == gpu; }

/// The related objects of an object that are not part of it.
ClientResult<std::string> related(const Client& client, const Selection& selection, const Node& object) {
  const std::string name = text_at(object, "metadata.name").value_or(selection.name);
  if (selection.kind == Kind::kTenant) {
    const auto services = fetch(client, {.kind = Kind::kService, .name = "", .tenant = name});
    // A server may know a tenant without services and answer as for an unknown one.
    if (!services && services.error().status != ClientStatus::kNotFound) return client_fail(services.error());
    return related_text(Kind::kService, services.value_or(std::vector<Node>()), {.now = fetch_now(client)});
  }
  if (selection.kind == Kind::kGpu) {
    auto slices = fetch(client, {.kind = Kind::kSlice, .name = "", .tenant = ""});
    if (!slices) return client_fail(slices.error());
    std::erase_if(*slices, [&](const Node& slice) { return !is_of(slice, name); });
    return related_text(Kind::kSlice, *slices, {.now = fetch_now(client)});
  }
  if (selection.kind == Kind::kNode) {
    auto gpus = fetch(client, {.kind = Kind::kGpu, .name = "", .tenant = ""});
    if (!gpus) return client_fail(gpus.error());
    std::erase_if(*gpus, [&](const Node& gpu) { return text_at(gpu, "status.node") != name; });
    return related_text(Kind::kGpu, *gpus, {});
  }
  return "";
}

/// The words with the kind and tenant of the object, if only its name was typed.
ClientResult<GetWords> with_kind(const GetWords& words, const VerbContext& context) {
  if (names_kind(words.kind) || !words.name.empty()) return words;
  const auto client = connect(words.server, context);
  if (!client) return client_fail(client.error());
  const auto found = find_named(*client, words.kind, words.tenant);
  if (!found) return client_fail(found.error());
  GetWords named = words;
  named.kind = word_of(found->kind);
  named.name = found->name;
  named.tenant = found->tenant;
  return named;
}

ClientResult<std::string> described(const GetWords& typed, const VerbContext& context) {
  if (const auto output = parse_output(typed.output); !output) return client_fail(output.error());
  const auto words = with_kind(typed, context);
  if (!words) return client_fail(words.error());
  const auto request = request_of(*words, context);
  if (!request) return client_fail(request.error());
  const Selection& selection = request->selection;
  if (selection.name.empty()) return client_fail(ClientStatus::kBadInput, "NAME: wanted a name, found none");
  auto object = fetch_one(request->client, selection);
  if (!object) return client_fail(object.error());
  if (!is_table(request->output)) {
    std::vector<Node> objects;
    objects.push_back(std::move(*object));
    return objects_text(request->output, selection.kind, std::move(objects), true, std::nullopt);
  }
  const auto more = related(request->client, selection, *object);
  if (!more) return client_fail(more.error());
  return describe_text(selection.kind, *object) + *more;
}

/// What `get all` may not be combined with.
ClientResult<void> check_all(const GetWords& words) {
  if (words.is_watched) return client_fail(ClientStatus::kBadInput, "--watch: wanted one kind, found all");
  if (!words.phases.empty()) return client_fail(ClientStatus::kBadInput, "--phase: wanted one kind, found all");
  if (words.name.empty()) return {};
  return client_fail(ClientStatus::kBadInput, "NAME: wanted none after all, found " + in_quotes(words.name));
}

/// Every kind under its heading, or all objects as one list.
ClientResult<std::string> all_text(const GetWords& words, const VerbContext& context) {
  if (const auto checked = check_all(words); !checked) return client_fail(checked.error());
  const auto output = parse_output(words.output);
  if (!output) return client_fail(output.error());
  const auto client = connect(words.server, context);
  if (!client) return client_fail(client.error());
  const auto now = is_table(*output) ? fetch_now(*client) : std::nullopt;
  std::string text;
  std::vector<Node> all;
  for (const Kind kind : kAllKinds) {
    if (!words.tenant.empty() && kind != Kind::kService && kind != Kind::kSlice) continue;
    auto objects = fetch(*client, {.kind = kind, .name = "", .tenant = words.tenant});
    if (!objects) return client_fail(objects.error());
    if (is_table(*output)) {
      const std::size_t count = objects->size();
      if (kind == Kind::kPlan && count > kPlansShownMax)
        objects->erase(objects->begin() + kPlansShownMax, objects->end());
      text +=
          (text.empty() ? "" : "\n") + related_text(kind, *objects, {.is_wide = *output == Output::kWide, .now = now});
      if (objects->size() < count) text += fmt::format("  and {} earlier: berth get plans\n", count - objects->size());
    } else if (*output == Output::kName) {
      text += objects_text(*output, kind, std::move(*objects), false, now);
    } else {
      std::ranges::move(*objects, std::back_inserter(all));
    }
  }
  if (is_table(*output) || *output == Output::kName) return text;
  const Node list = list_node(std::move(all));
  return *output == Output::kJson ? indented_json_of(list) : yaml_of(list);
}

/// Lists once.
VerbOutcome listed(const Request& request) {
  const Selection& selection = request.selection;
  auto objects = fetch(request.client, selection);
  if (!objects) return outcome_of(client_fail(objects.error()));
  keep_phases(selection.kind, request.phases, *objects);
  const bool is_one = !selection.name.empty() && objects->size() == 1;
  VerbOutcome outcome;
  if (objects->empty()) {
    outcome.err = fmt::format("berth: there are no {}{}\n", request.phases.empty() ? "" : "such ",
                              selection.kind == Kind::kWarm ? "services with a warm pool" : plural_of(selection.kind));
  } else if (selection.kind == Kind::kEvent && is_table(request.output)) {
    const std::size_t earlier = keep_last(*objects, kEventsShownMax);
    if (earlier > 0) outcome.err = fmt::format("berth: {} earlier events: -o json has all of them\n", earlier);
  }
  const auto now = now_for(request.client, selection.kind, request.output);
  outcome.out = objects_text(request.output, selection.kind, std::move(*objects), is_one, now);
  return outcome;
}

}  // namespace

VerbOutcome run_get(const GetWords& words, const VerbContext& context) {
  if (words.has_all_tenants && !words.tenant.empty()) {
    return outcome_of(client_fail(ClientStatus::kBadInput, "--tenant: wanted either it or --all-tenants, found both"));
  }
  if (words.kind == kAll) return outcome_of(all_text(words, context));
  const auto request = request_of(words, context);
  if (!request) return outcome_of(client_fail(request.error()));
  if (!words.is_watched) return listed(*request);
  return run_watch({.selection = request->selection, .output = request->output, .phases = request->phases},
                   request->client, context.out);
}

VerbOutcome run_describe(const GetWords& words, const VerbContext& context) {
  return outcome_of(described(words, context));
}

}  // namespace berth::cli
