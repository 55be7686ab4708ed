#include "apps/up/run_up.h"

#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "apps/up/begin_world.h"
#include "apps/up/build_parts.h"
#include "apps/up/config_in_force.h"
#include "apps/up/held_signals.h"
#include "apps/up/request_log.h"
#include "apps/up/service.h"
#include "apps/up/stop_world.h"
#include "apps/up/up_log.h"
#include "apps/up/up_parts.h"
#include "edges/http_client/curl_client.h"
#include "edges/live_driver/live_driver.h"
#include "edges/otlp/telemetry.h"
#include "gpu/hands/reach_hands.h"
#include "gpu/watch/machine_search.h"

namespace berth::up {
namespace {

constexpr int kFailedStatus = 1;
constexpr int kInfeasibleStatus = 2;
constexpr std::chrono::milliseconds kPollPause{100};

/// Plans and long lists are large and short-lived. By default glibc raises its threshold and soon allocates them among
/// small long-lived values, which then keep all of that memory, separately for most threads: twice the memory within 15
/// minutes of busy clients.
void return_large_blocks_at_once() {
  constexpr int kLargeBytes = 128 * 1024;  // glibc's initial threshold
  constexpr int kArenas = 4;               // for small values
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_TRIM_THRESHOLD, kLargeBytes);
  mallopt(M_ARENA_MAX, kArenas);
}

/// Ends the process without waiting for its threads: what must be kept is already stored.
[[noreturn]] void leave_at_once(int status) {
  std::fflush(nullptr);
  _exit(status);
}

/// The GPU agent, if any GPU may be changed. Afterwards this process cannot change one itself. Nothing: none may be
/// changed.
Result<std::optional<edges::HandsFound>> find_hands(const live::UpRequest& request) {
  const bool is_needed = request.manage_gpus && !request.is_dry_run && request.world != live::WorldKind::kSimulated;
  if (!is_needed) return std::nullopt;
  auto found = edges::reach_hands({.socket_path = request.hands_path,
                                   .config_path = request.config_path.value_or(""),
                                   .nvml_path = request.nvml_path});
  if (!found) return pass_on(found.error());
  return std::optional(std::move(*found));
}

/// Null: nothing is sent to a collector.
Result<std::unique_ptr<edges::Telemetry>> open_telemetry(const UpOutside& outside) {
  const auto warn = [err = outside.err](const std::string& message) { log_warning(err, message); };
  return edges::Telemetry::open(outside.environment, {.service_name = "berth", .version = BERTH_VERSION, .warn = warn});
}

bool has_journal_failed(UpParts& parts) {
  const std::scoped_lock hold(parts.lock);
  return parts.run_journal.writer && parts.run_journal.writer->has_failed();
}

bool has_next_fleet(UpParts& parts) {
  const std::scoped_lock hold(parts.lock);
  if (!parts.next_fleet) return false;
  parts.has_successor = true;
  log_fields(parts.outside.err, "fleet", [&](json::Writer& json) { json.member("gpus", parts.next_fleet->size()); });
  return true;
}

int wait_until_over(UpParts& parts, const HeldSignals& signals) {
  while (true) {
    if (const auto end = parts.driver->wait_for_end(kPollPause)) {
      const char* reached = parts.request.until_second ? "--until" : "the end of the scenario";
      log_line(parts.outside.err, "ended",
               {{"reason", *end == edges::WorldEnd::kReached ? reached : "no plan can exist"}});
      return *end == edges::WorldEnd::kReached ? 0 : kInfeasibleStatus;
    }
    if (const auto signal = signals.taken()) return status_of(parts, *signal);
    if (has_next_fleet(parts)) return 0;
    if (signals.is_reload_asked()) reload_config(parts);
    parts.request_log->report_unlogged();
    if (has_journal_failed(parts)) return kFailedStatus;  // closing it reports why
  }
}

/// How a session ended.
struct SessionEnd {
  int status = 0;
  std::optional<std::uint16_t> next_port = std::nullopt;  ///< another one follows and listens there
};

Result<int> run_parts(UpParts& parts, const HeldSignals& signals, SessionEnd& end) {
  const auto stopped = begin_world(parts, signals);
  if (!stopped) return pass_on(stopped.error());
  if (*stopped) return stop_world(parts, **stopped);
  if (auto started = start_service(parts); !started) return pass_on(started.error());
  const int status = wait_until_over(parts, signals);
  if (parts.has_successor) {
    end.next_port = parts.server->port();
    if (parts.outside.cluster->on_next_fleet) parts.outside.cluster->on_next_fleet();
  }
  return stop_world(parts, status);
}

SessionEnd run_session(const live::UpRequest& request, const UpOutside& outside, const HeldSignals& signals) {
  const auto telemetry = open_telemetry(outside);
  if (!telemetry) return {.status = outside.report_failure(telemetry.error())};
  auto hands = find_hands(request);
  if (!hands) return {.status = outside.report_failure(hands.error())};
  std::optional<edges::MachineSearch> search;
  SessionEnd end;
  {
    auto parts = build_parts(request, outside, {.hands = std::move(*hands), .search = &search}, telemetry->get());
    const Result<int> ended = parts ? run_parts(**parts, signals, end) : pass_on(parts.error());
    end.status = ended ? *ended : outside.report_failure(ended.error());
    if (!ended) end.next_port.reset();
    if (!end.next_port && outside.cluster && outside.cluster->on_end) outside.cluster->on_end();
    // The solver may search for a plan for an unlimited time.
    if (!end.next_port && parts && (*parts)->solver.is_solving()) leave_at_once(end.status);
  }
  if (search && search->is_running()) leave_at_once(end.status);  // the driver hangs
  return end;
}

}  // namespace

int run_up(const live::UpRequest& request, const UpOutside& outside) {
  return_large_blocks_at_once();
  const HeldSignals signals;     // before the first thread
  const edges::CurlClient http;  // the first one, too
  live::UpRequest next = request;
  while (true) {
    const SessionEnd end = run_session(next, outside, signals);
    if (!end.next_port) return end.status;
    next.listen.port = *end.next_port;
  }
}

}  // namespace berth::up
