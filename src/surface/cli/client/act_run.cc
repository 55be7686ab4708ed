#include "surface/cli/client/act_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>
#include <utility>

#include "base/core/decimal.h"
#include "base/core/text.h"
#include "domain/scenario/service_json.h"
#include "surface/cli/client/get_run.h"
#include "surface/cli/client/kinds.h"
#include "surface/cli/client/node.h"
#include "surface/cli/client/tables.h"
#include "surface/cli/shared/printable.h"

namespace berth::cli {
namespace {

using yaml::Node;

constexpr std::chrono::milliseconds kBetweenDrainReadings{200};
constexpr std::array<std::string_view, 9> kFaultKinds = {
    "lose", "return", "fail_create", "fail_destroy", "slow", "reports_failure", "foreign_slice", "serving", "clear"};

Node empty_map() { return {{}, yaml::Map()}; }

/// A GPU or a node by its name.
ClientResult<Selection> parse_target(const std::string& text) {
  for (const Kind kind : {Kind::kGpu, Kind::kNode}) {
    const std::string prefix = std::string(word_of(kind)) + "-";
    std::string name = text;
    if (name.starts_with(std::string(word_of(kind)) + "/")) name.erase(0, prefix.size());  // as `-o name` prints it
    if (name.starts_with(prefix) && parse_count(name.substr(prefix.size()), INT32_MAX)) {
      return Selection{.kind = kind, .name = name, .tenant = ""};
    }
  }
  return client_fail(ClientStatus::kBadInput,
                     fmt::format("GPU|NODE: wanted a name such as gpu-3 or node-0, found {}", in_quotes(text)));
}

/// How long an awaited drain may take; absent: as long as it needs.
ClientResult<std::optional<std::chrono::duration<double>>> wait_max(const ScheduleWords& words) {
  if (!words.wait_seconds) return std::nullopt;
  constexpr std::int64_t kSecondsMax = 1'000'000'000;
  const auto seconds = Decimal::parse(*words.wait_seconds);
  if (seconds && *seconds > Decimal(0) && *seconds <= Decimal(kSecondsMax)) {
    return std::chrono::duration<double>(seconds->to_double());
  }
  return client_fail(ClientStatus::kBadInput,
                     fmt::format("--wait-seconds: wanted a number above 0, at most {}, found {}", kSecondsMax,
                                 in_quotes(*words.wait_seconds)));
}

/// Asks until the drain has finished.
ClientResult<std::string> wait_for_drain(const Client& client, const Selection& target,
                                         std::optional<std::chrono::duration<double>> at_most) {
  const std::string title = title_of(target.kind, "", target.name);
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const auto object = client.get(object_path(target));
    if (!object) return client_fail(object.error());
    if (text_at(object->body, "status.drained") == "true") return title + " drained\n";
    const std::string scheduling = text_at(object->body, "status.scheduling").value_or("unknown");
    if (scheduling != "draining") {
      return client_fail(ClientStatus::kConflict,
                         fmt::format("{} is {} now: another order ended its drain", title, printable(scheduling)));
    }
    if (at_most && std::chrono::steady_clock::now() - begin >= *at_most) {
      return client_fail(
          ClientStatus::kTimedOut,
          fmt::format("{} is not drained yet, after {:g} s; its drain continues", title, at_most->count()));
    }
    std::this_thread::sleep_for(kBetweenDrainReadings);
  }
}

ClientResult<std::string> schedule(const ScheduleWords& words, const VerbContext& context) {
  const auto target = parse_target(words.target);
  if (!target) return client_fail(target.error());
  const auto at_most = wait_max(words);
  if (!at_most) return client_fail(at_most.error());
  const auto client = connect(words.server, context);
  if (!client) return client_fail(client.error());
  Node body = empty_map();
  if (words.reason) put(body, "reason", text_node(*words.reason));
  const auto reply = client->send("POST", object_path(*target) + "/" + words.action, words.reason ? json_of(body) : "");
  if (!reply) return client_fail(reply.error());
  const std::string_view done = words.action == "drain"    ? "draining"
                                : words.action == "cordon" ? "cordoned"
                                                           : "uncordoned";
  const std::string begun = fmt::format("{} {}\n", title_of(target->kind, "", target->name), done);
  if (!words.is_awaited && !words.wait_seconds) return begun;
  std::fwrite(begun.data(), 1, begun.size(), context.out);
  std::fflush(context.out);
  return wait_for_drain(*client, *target, *at_most);
}

/// Adds a typed number unchanged: the server checks its range.
ClientResult<void> put_number(Node& body, const std::string& key, const std::optional<std::string>& text) {
  if (!text) return {};
  const auto number = Decimal::parse(*text);
  if (!number) {
    return client_fail(ClientStatus::kBadInput, fmt::format("--{}: wanted a number, found {}", key, in_quotes(*text)));
  }
  put(body, key, number_node(scenario::readable_number(*number)));
  return {};
}

ClientResult<Node> fault_body(const FaultWords& words) {
  if (std::ranges::find(kFaultKinds, words.kind) == kFaultKinds.end()) {
    return client_fail(ClientStatus::kBadInput, fmt::format("KIND: wanted one of {}, found {}",
                                                            fmt::join(kFaultKinds, ", "), in_quotes(words.kind)));
  }
  Node body = empty_map();
  put(body, "kind", text_node(words.kind));
  if (words.kind == "clear" && words.target == "all") {
    put(body, "all", truth_node(true));
  } else if (words.kind == "serving" || (words.kind == "clear" && words.target.find('/') != std::string::npos)) {
    put(body, "service", text_node(words.target));
  } else {
    const auto target = parse_target(words.target);
    if (!target) return client_fail(target.error());
    put(body, std::string(word_of(target->kind)), text_node(target->name));
  }
  for (const auto& [key, text] :
       {std::pair("gpus", &words.gpus), std::pair("times", &words.times), std::pair("seconds", &words.seconds),
        std::pair("start", &words.start), std::pair("factor", &words.factor), std::pair("jitter", &words.jitter)}) {
    if (const auto added = put_number(body, key, *text); !added) return client_fail(added.error());
  }
  if (words.profile) put(body, "profile", text_node(*words.profile));
  return body;
}

ClientResult<std::string> inject(const FaultWords& words, const VerbContext& context) {
  const auto body = fault_body(words);
  if (!body) return client_fail(body.error());
  const auto client = connect(words.server, context);
  if (!client) return client_fail(client.error());
  const auto reply = client->send("POST", "/v1/sim/faults", json_of(*body));
  if (!reply) return client_fail(reply.error());
  if (words.kind == "clear") return "faults cleared\n";
  return fmt::format("fault/{} injected\n", printable(text_at(reply->body, "id").value_or("unknown")));
}

/// The name of a plan, as in the path.
ClientResult<std::string> plan_id(const std::string& text) {
  if (text.empty()) return "current";
  const auto checked = check_selection("plan", text, "");
  if (!checked) return client_fail(checked.error());
  return parse_count(text, INT64_MAX) ? "plan-" + text : text;
}

ClientResult<std::string> approve(const PlanShowWords& words, const VerbContext& context) {
  auto id = plan_id(words.id);
  if (!id) return client_fail(id.error());
  const auto client = connect(words.server, context);
  if (!client) return client_fail(client.error());
  if (words.id.empty()) {
    const auto current = client->get("/v1/plans/current");
    if (!current) return client_fail(current.error());
    *id = text_at(current->body, "metadata.name").value_or("current");
  }
  const auto reply = client->send("POST", fmt::format("/v1/plans/{}/approve", path_part(*id)), "");
  if (!reply) return client_fail(reply.error());
  return fmt::format("plan/{} approved\n", printable(*id));
}

ClientResult<std::string> pause(const PauseWords& words, const VerbContext& context) {
  const auto client = connect(words.server, context);
  if (!client) return client_fail(client.error());
  Node body = empty_map();
  put(body, "paused", truth_node(words.is_paused));
  if (words.reason) put(body, "reason", text_node(*words.reason));
  const auto reply = client->send("PUT", "/v1/planning", json_of(body));
  if (!reply) return client_fail(reply.error());
  return words.is_paused ? "planning paused: running actions continue, none begins\n" : "planning resumed\n";
}

}  // namespace

VerbOutcome run_cordon(const ScheduleWords& words, const VerbContext& context) {
  return outcome_of(schedule(words, context));
}

VerbOutcome run_fault(const FaultWords& words, const VerbContext& context) {
  return outcome_of(inject(words, context));
}

VerbOutcome run_faults(const FaultsWords& words, const VerbContext& context) {
  return run_get({.server = words.server, .kind = "faults", .name = "", .tenant = "", .output = words.output}, context);
}

VerbOutcome run_plan_show(const PlanShowWords& words, const VerbContext& context) {
  const auto id = plan_id(words.id);
  if (!id) return outcome_of(client_fail(id.error()));
  return run_describe({.server = words.server, .kind = "plan", .name = *id, .tenant = "", .output = words.output},
                      context);
}

VerbOutcome run_plan_approve(const PlanShowWords& words, const VerbContext& context) {
  return outcome_of(approve(words, context));
}

VerbOutcome run_pause(const PauseWords& words, const VerbContext& context) { return outcome_of(pause(words, context)); }

}  // namespace berth::cli
