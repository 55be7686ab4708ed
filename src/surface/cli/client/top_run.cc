#include "surface/cli/client/top_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ranges>
#include <set>
#include <string_view>
#include <thread>

#include "surface/cli/client/kinds.h"
#include "surface/cli/client/node.h"
#include "surface/cli/client/tables.h"
#include "surface/cli/shared/interrupt.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using yaml::Node;

constexpr std::chrono::seconds kBetweenDrawings{1};
constexpr std::chrono::milliseconds kBeforeAgain{200};
constexpr std::string_view kUnknown = "unknown";
constexpr std::size_t kGpusMax = 40;

std::string known(const std::string& cell) { return cell.empty() ? std::string(kUnknown) : printable(cell); }

std::string with_unit(const std::string& cell, std::string_view unit) {
  return cell.empty() ? std::string(kUnknown) : cell + std::string(unit);
}

/// A number or "max".
std::string speed_text(const Node& status) {
  const std::string number = number_cell(status, "speed");
  return number.empty() ? text_cell(status, "speed") : number;
}

std::string cost_text(const Node& status) {
  const auto micro_usd = number_at(status, "cost_micro_usd_per_hour");
  return micro_usd ? fmt::format("${:.2f} per hour", *micro_usd / 1e6) : std::string(kUnknown);
}

std::string planning_text(const Node& status) {
  const auto paused = text_at(status, "planning.paused");
  if (!paused) return std::string(kUnknown);
  if (*paused != "true") return "on";
  return "paused: " + known(text_cell(status, "planning.reason"));
}

/// "8 (7 ok, 1 lost; 6 open, 1 cordoned, 0 draining, 1 drained)"; drained ones only if there are some.
std::string gpus_text(const std::vector<Node>& gpus) {
  const auto count = [&](std::string_view path, std::string_view word) {
    return std::ranges::count_if(gpus, [&](const Node& gpu) { return text_at(gpu, path) == word; });
  };
  const auto drained = count("status.drained", "true");
  const std::string and_drained = drained == 0 ? "" : fmt::format(", {} drained", drained);
  return fmt::format("{} ({} ok, {} lost; {} open, {} cordoned, {} draining{})", gpus.size(),
                     count("status.health", "ok"), count("status.health", "lost"), count("status.scheduling", "open"),
                     count("status.scheduling", "cordoned") - drained, count("status.scheduling", "draining"),
                     and_drained);
}

/// What is real in a world of real GPUs and what is simulated; empty in a simulated world.
std::string local_lines(const Node& status, const std::vector<Node>& gpus) {
  if (text_cell(status, "world") != "local") return "";
  const auto observed =
      std::ranges::count_if(gpus, [](const Node& gpu) { return text_at(gpu, "status.managed") == "false"; });
  std::string text = fmt::format("Devices  {} of this machine, {} only observed; driver {}\n", gpus.size(), observed,
                                 known(text_cell(status, "devices.driver")));
  const std::string reason = text_cell(status, "devices.reason");
  if (!reason.empty()) text += fmt::format("         {}\n", printable(reason));
  const std::string gone = text_cell(status, "devices.agent_reason");
  if (!gone.empty()) text += fmt::format("         {}\n", printable(gone));
  return text + fmt::format("Load     {}: services have no processes on these GPUs yet\n", load_word(status, "load"));
}

/// "14 in time, 1 not in time, 2 without requests"; empty if the server does not count them.
std::string services_text(const Node& status) {
  const auto in_time = number_at(status, "services.in_time");
  const auto missed = number_at(status, "services.not_in_time");
  const auto unknown = number_at(status, "services.unknown");
  if (!in_time || !missed || !unknown) return "";
  return fmt::format("Services {} in time, {} not in time, {} without requests\n", number_text(*in_time),
                     number_text(*missed), number_text(*unknown));
}

/// A line for each GPU, at most kGpusMax.
std::string gpu_lines(const std::vector<Node>& gpus) {
  std::vector<std::vector<std::string>> rows;
  for (const Node& gpu : gpus) {
    if (rows.size() == kGpusMax) break;
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(text_cell(gpu, "metadata.name"));
    for (const char* path : {"status.model", "status.health"}) row.push_back(text_cell(gpu, path));
    row.push_back(scheduling_cell(gpu));
    row.push_back(text_cell(gpu, "status.units"));
    const auto units = number_at(gpu, "status.units");
    const auto allocated = number_at(gpu, "status.allocated_units");
    row.push_back(units && allocated ? percent(*allocated / std::max(1.0, *units)) : "");
  }
  std::string text = columns_text({"GPU", "MODEL", "HEALTH", "SCHEDULING", "UNITS", "ALLOCATED"}, rows);
  if (gpus.size() > kGpusMax) text += fmt::format("and {} more: berth get gpus\n", gpus.size() - kGpusMax);
  return text;
}

/// "310 of 400 W": a figure and its limit; empty if the figure is unknown.
std::string measured_cell(const Node& gpu, std::string_view figure, std::string_view limit, std::string_view unit) {
  const auto value = number_at(gpu, figure);
  const auto most = limit.empty() ? std::nullopt : number_at(gpu, limit);
  if (!value) return "";
  return number_text(std::round(*value)) + (most ? " of " + number_text(std::round(*most)) : "") + std::string(unit);
}

/// "4711 (ann), 4712 (ben) and 3 more".
std::string processes_cell(const Node& gpu) {
  constexpr std::size_t kShown = 3;
  const yaml::List& processes = items_at(gpu, "status.processes");
  std::string cell;
  for (const Node& process : processes | std::views::take(kShown)) {
    const std::string user = text_cell(process, "user");
    cell += (cell.empty() ? "" : ", ") + text_cell(process, "pid") + (user.empty() ? "" : " (" + user + ")");
  }
  if (processes.size() > kShown) cell += fmt::format(" and {} more", processes.size() - kShown);
  return cell;
}

/// What the driver measures, a line for each GPU of a world of real ones; empty in a simulated world.
std::string measured_lines(const std::vector<Node>& gpus) {
  std::vector<std::vector<std::string>> rows;
  for (const Node& gpu : gpus) {
    if (rows.size() == kGpusMax) break;
    if (find_node(gpu, "status.measured") == nullptr) continue;
    const std::string base = "status.measured.";
    rows.push_back({text_cell(gpu, "metadata.name"),
                    measured_cell(gpu, base + "memory_used_mib", base + "memory_total_mib", " MiB"),
                    measured_cell(gpu, base + "utilization_percent", "", " %"),
                    measured_cell(gpu, base + "temperature_celsius", "", " C"),
                    measured_cell(gpu, base + "power_watts", base + "power_limit_watts", " W"),
                    measured_cell(gpu, base + "sm_clock_mhz", "", " MHz"), processes_cell(gpu)});
  }
  if (rows.empty()) return "";
  return columns_text({"GPU", "MEMORY", "BUSY", "TEMP", "POWER", "SM CLOCK", "PROCESSES"}, rows) + "\n";
}

/// "No service has a profile for T4-16GB": the models of which no GPU can be used; empty if there are none.
std::string unprofiled_line(const std::vector<Node>& gpus) {
  std::set<std::string> models;
  for (const Node& gpu : gpus) {
    if (!text_cell(gpu, "status.unprofiled_reason").empty()) models.insert(printable(text_cell(gpu, "status.model")));
  }
  if (models.empty()) return "";
  return fmt::format("No service has a profile for {}: none can run there.\n\n", fmt::join(models, ", "));
}

ClientResult<std::string> moment(const Client& client) {
  const auto status = client.get("/v1/status");
  if (!status) return client_fail(status.error());
  const auto gpus = fetch(client, {.kind = Kind::kGpu, .name = "", .tenant = ""});
  if (!gpus) return client_fail(gpus.error());
  const auto services = fetch(client, {.kind = Kind::kService, .name = "", .tenant = ""});
  if (!services) return client_fail(services.error());
  return top_text(status->body, *gpus, *services);
}

/// A server that ends may leave an answer incomplete. Asked again it is gone, and that is what has to be said.
ClientResult<std::string> moment_or_gone(const Client& client) {
  auto text = moment(client);
  if (text || text.error().status != ClientStatus::kFailed) return text;
  std::this_thread::sleep_for(kBeforeAgain);
  return moment(client);
}

void draw_until_interrupted(const Client& client, VerbContext& context) {
  const InterruptWatch interrupts;
  while (true) {
    const auto text = moment_or_gone(client);
    if (!text) return print_outcome(context, outcome_of(text));
    fmt::print(context.out, "\033[H\033[2J{}", *text);
    std::fflush(context.out);
    std::this_thread::sleep_for(kBetweenDrawings);
  }
}

}  // namespace

std::string top_text(const Node& status, const std::vector<Node>& gpus, const std::vector<Node>& services) {
  std::string text = fmt::format("World    {}, {}, speed {}\n", known(text_cell(status, "world")),
                                 known(text_cell(status, "time")), known(speed_text(status)));
  text += local_lines(status, gpus);
  text += fmt::format("GPUs     {}\n", gpus_text(gpus));
  text += fmt::format("Use      allocated {}, busy {}, effective {}\n", known(share_cell(status, "funnel.allocated")),
                      known(share_cell(status, "funnel.busy")), known(share_cell(status, "funnel.effective")));
  text += fmt::format("Goodput  {}; cost {}\n", known(share_cell(status, "goodput")), cost_text(status));
  text += services_text(status);
  text += fmt::format("Planning {}; last answer took {}; step p99 {}\n\n", planning_text(status),
                      with_unit(number_cell(status, "solver.last_ms"), " ms"),
                      with_unit(number_cell(status, "steps.p99_ms"), " ms"));
  if (!gpus.empty()) text += gpu_lines(gpus) + "\n";
  text += measured_lines(gpus) + unprofiled_line(gpus);
  return text + (services.empty() ? "There are no services.\n"
                                  : objects_table(Kind::kService, services, {.now = text_at(status, "time")}));
}

void run_top(const TopWords& words, VerbContext& context) {
  const auto client = connect(words.server, context);
  if (!client) return print_outcome(context, outcome_of(client_fail(client.error())));
  if (words.is_once || !context.is_live_terminal()) return print_outcome(context, outcome_of(moment_or_gone(*client)));
  draw_until_interrupted(*client, context);
}

}  // namespace berth::cli
