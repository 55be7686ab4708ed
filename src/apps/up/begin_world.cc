#include "apps/up/begin_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "apps/up/config_in_force.h"
#include "apps/up/recording.h"
#include "apps/up/stop_world.h"
#include "apps/up/up_log.h"
#include "apps/up/up_parts.h"
#include "apps/up/world_records.h"
#include "base/core/clock_text.h"
#include "domain/profile/contradiction.h"
#include "domain/values/snapshot.h"
#include "edges/live_driver/real_time_clock.h"
#include "edges/live_driver/series_queue.h"
#include "edges/state_folder/state_folder.h"
#include "live/local/local_world.h"
#include "live/session/device_intent.h"
#include "live/session/session.h"

namespace berth::up {
namespace {

constexpr std::chrono::milliseconds kSignalPoll{100};

Result<void> begin_anew(UpParts& parts) {
  static_cast<void>(parts.series->begin(0));
  parts.session->begin(parts.devices ? parts.devices->sights() : std::map<GpuId, world::ObservedLayout>());
  if (parts.devices) parts.devices->tell(*parts.session);
  return {};
}

/// When the world ends.
Instant end_of(const UpParts& parts) {
  Instant end = Instant::never();
  if (parts.request.until_second) end = Instant::at_second(*parts.request.until_second);
  if (!parts.world.beginning.until_end) return end;
  return std::min(end, Instant::at_second(parts.world.scenario.simulated_seconds()));
}

/// What a world of real GPUs, of which the time up to `known` is recorded, shows on its clock now. Absent: that time.
std::optional<Instant> clock_now(UpParts& parts, Instant known) {
  if (!live::has_real_time(parts.request)) return std::nullopt;
  const std::int64_t epoch_us = parts.world.beginning.epoch_us;
  auto now = edges::clock_after(known, epoch_us, parts.outside.wall_us(), parts.request.accepts_gap);
  if (now) now = std::min(*now, end_of(parts));
  if (!now || *now <= known) return std::nullopt;
  const WorldEpoch epoch{.unix_micros = epoch_us};
  log_line(parts.outside.err, "unobserved", {{"from", epoch.text(known)}, {"to", epoch.text(*now)}});
  return now;
}

/// Warns of recorded services that would be refused, or warned of, if they came now.
void warn_of_contradictions(const UpParts& parts) {
  for (const auto& [name, service] : parts.session->catalog().services) {
    const std::shared_ptr<const ServiceSpec> spec = parts.session->scenario().services.share(service.id.index);
    const auto warn = [&](const PerformanceTable& table, const std::string& which) {
      const auto found = profile::contradictions_of(table);
      if (found.empty()) return;
      log_warning(parts.outside.err,
                  fmt::format("service {} of tenant {}: {}: {}", name.name, name.tenant, which, found.text("row ")));
    };
    warn(spec->table, "profile");
    for (const Variant& variant : spec->variants) warn(variant.table, "profile of variant " + variant.name);
  }
}

/// The second from which on figures are measured again.
std::int64_t series_from(const UpParts& parts, Instant now) {
  constexpr std::int64_t kCountedAgain = 15;
  if (!parts.request.measures_load) return now.second();
  // What gateways reported of the last seconds may not be recorded, and then comes again.
  return std::clamp(parts.session->requests_known_until(), now.second() - kCountedAgain, now.second());
}

/// Continues where the previous process ended.
Result<void> go_on(UpParts& parts) {
  const live::History history = std::move(*std::exchange(parts.world.history, std::nullopt));
  if (!history.session && history.entries.empty()) return begin_anew(parts);
  if (history.session) {
    const auto begun_anew = parts.session->restore(*history.session);
    if (!begun_anew) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{}: snapshot of row {}: {}", live::journal_path_in(parts.folder->path()),
                              history.saved_sequence, begun_anew.error().message));
    }
    for (const std::string& stage : *begun_anew) {
      log_warning(parts.outside.err, stage + ": cannot read what it remembered, begins anew");
    }
  }
  sim::WorldLeft left = std::move(*parts.records->take_left());
  if (parts.devices) parts.devices->adopt(left);
  parts.session->repeat(history.entries, left.world.orders);
  const Instant known = std::max(parts.session->now(), left.world.now);
  const auto clock = clock_now(parts, known);
  const auto seconds = parts.series->begin(series_from(parts, clock.value_or(known)));
  if (parts.request.has_load || parts.request.measures_load)
    parts.session->restore_figures(seconds);  // without load no figures follow them
  parts.session->resume(std::move(left), clock);
  if (parts.devices) parts.devices->tell_notes(*parts.session);
  warn_of_contradictions(parts);
  return {};
}

}  // namespace

Result<std::optional<int>> begin_world(UpParts& parts, const HeldSignals& signals) {
  if (auto begun = parts.world.history ? go_on(parts) : begin_anew(parts); !begun) return pass_on(begun.error());
  parts.series->start();
  while (parts.session->is_solving() && parts.session->snapshot().is_before_first_layout()) {
    if (const auto signal = signals.taken()) return std::optional(status_of(parts, *signal));
    auto first = parts.solver.wait_for_answer(kSignalPoll);
    if (!first) continue;
    if (!parts.session->answer(std::move(*first)))
      return fail(ErrorCode::kUnavailable, parts.session->why_not_recorded());
    static_cast<void>(parts.session->advance(Instant()));
    break;
  }
  if (parts.session->infeasible()) return invalid(*parts.session->infeasible());
  record_news(parts);
  if (parts.local) {
    if (auto followed = parts.boot->follow(); !followed) return pass_on(followed.error());
  }
  if (const auto failure = parts.recorder().failure()) return fail(ErrorCode::kUnavailable, *failure);
  parts.records->guard();
  log_start_of_config(parts);
  return std::optional<int>();
}

}  // namespace berth::up
