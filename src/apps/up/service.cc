#include "apps/up/service.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/up/follow_traces.h"
#include "apps/up/programs.h"
#include "apps/up/recording.h"
#include "apps/up/request_log.h"
#include "apps/up/times_reader.h"
#include "apps/up/up_log.h"
#include "apps/up/up_metrics.h"
#include "apps/up/up_parts.h"
#include "apps/up/world_records.h"
#include "domain/ports/http_server.h"
#include "edges/live_driver/blob_queue.h"
#include "edges/live_driver/live_driver.h"
#include "edges/live_driver/real_time_clock.h"
#include "edges/live_driver/series_queue.h"
#include "edges/live_driver/write_queue.h"
#include "edges/otlp/telemetry.h"
#include "edges/state_folder/state_folder.h"
#include "live/local/local_programs.h"
#include "live/local/local_world.h"
#include "live/session/session.h"
#include "surface/api/api.h"
#include "surface/api/one_time_login.h"
#include "surface/api/page.h"

namespace berth::up {
namespace {

/// A session can be saved only at rest. From then on it does not step, so that it stays so.
void note_next_fleet(UpParts& parts) {
  const bool may_end = !parts.next_fleet && parts.outside.cluster && parts.outside.cluster->wanted_fleet &&
                       parts.session->is_at_rest() && !parts.recorder().failure();
  if (may_end) parts.next_fleet = parts.outside.cluster->wanted_fleet();
}

edges::LiveDriverOptions driver_options(UpParts& parts) {
  edges::LiveDriverOptions options{.speed = parts.request.speed, .clock = parts.clock.get()};
  if (parts.request.until_second) options.until = Instant::at_second(*parts.request.until_second);
  options.has_events = [&parts] { parts.server->wake_streams(); };
  if (parts.devices) {
    options.serve_outside = [&parts] {
      parts.devices->serve(*parts.session);
      if (parts.programs) parts.programs->serve(*parts.session);
      note_next_fleet(parts);
    };
  }
  options.record = [&parts] { record_news(parts); };
  options.may_go_on = [&parts] { return !parts.next_fleet && parts.recorder().has_room_for_world(); };
  options.stepped = [&parts] { return parts.recorder().is_snapshot_due() && begin_snapshot(parts); };
  options.without_lock = [&parts] {
    const auto appended = parts.recorder().append(*parts.saving);
    const std::scoped_lock hold(parts.lock);
    end_snapshot(parts, appended);
  };
  return options;
}

/// The clock of a world of real GPUs; null: the world has a clock of its own.
std::unique_ptr<edges::RealTimeClock> clock_of(UpParts& parts) {
  if (!live::has_real_time(parts.request)) return nullptr;
  edges::RealTimeClockOptions options{.epoch_us = parts.world.beginning.epoch_us, .wall_us = parts.outside.wall_us};
  options.report = [&parts](bool is_warning, const std::string& message) {
    if (is_warning) return log_warning(parts.outside.err, message);
    log_line(parts.outside.err, "clock", {{"message", message}});
  };
  return std::make_unique<edges::RealTimeClock>(std::move(options), parts.session->now());
}

api::BlobStore blob_store(UpParts& parts) {
  return {
      .run_slowly = [&parts](std::function<void()> work) { parts.blobs->run_slowly(std::move(work)); },
      .store = [&parts](const Sha256& blob, std::string_view bytes) { return parts.blobs->store(blob, bytes); },
      .finish = [&parts](const Sha256& blob, std::uint64_t bytes) { return parts.blobs->finish(blob, bytes); },
      .has = [&parts](const Sha256& blob) { return parts.blobs->has(blob); },
      .find = [&parts](const Sha256& blob) { return parts.blobs->find_whole(blob); },
      .read_part = [&parts](const Sha256& blob, std::uint32_t index) { return parts.blobs->read_part(blob, index); },
      .read = [&parts](const Sha256& blob) { return parts.blobs->read(blob); }};
}

/// Flushes first, so that clients never see usage that a crash would lose.
api::UsageStore usage_store(UpParts& parts) {
  return {.unrecorded =
              [&parts] {
                // Empty while writes are being recorded without the session's lock (edges::WriteQueue).
                if (parts.recorder().pending_usage().empty()) return std::vector<UsageRow>();
                if (!parts.recorder().flush()) parts.session->set_recorded();
                return parts.recorder().pending_usage();
              },
          .read = [&parts](const UsageSpan& span, const std::optional<UsageKey>& after,
                           std::size_t count_max) { return parts.records->read_usage(span, after, count_max); }};
}

api::DriverStatus driver_status(UpParts& parts) {
  const edges::StepTimes steps = parts.driver->step_times();
  return {.speed = parts.request.speed,
          .step_count = steps.count,
          .step_ms_p50 = steps.p50_ms,
          .step_ms_p99 = steps.p99_ms,
          .step_ms_max = steps.max_ms,
          .is_solving = parts.solver.is_solving(),
          .last_solve_ms = parts.solver.last_solve_ms(),
          .store_failure = parts.recorder().failure(),
          .clock_trouble = parts.clock ? parts.clock->trouble() : std::nullopt};
}

/// The token of the login address and the key behind it. None where the system has no random bytes: `admin.key` then
/// remains the only way in.
api::LoginSecrets login_secrets(const UpParts& parts) {
  constexpr std::size_t kTokenBytes = 16;
  constexpr std::size_t kKeyBytes = 32;
  api::LoginSecrets secrets{.token = edges::random_hex(kTokenBytes), .key = edges::random_hex(kKeyBytes)};
  if (secrets.key.empty()) secrets.token.clear();
  secrets.token_age = [&parts, made_us = parts.wall.now_us()] { return Micros(parts.wall.now_us() - made_us); };
  return secrets;
}

api::ApiOptions api_options(UpParts& parts, api::LoginSecrets login) {
  return {.key = parts.folder->key(),
          .gateway_key = parts.gateway_key,
          .cluster_key = parts.cluster_key,
          .gateway = gateway_source(parts),
          .epoch = {.unix_micros = parts.world.beginning.epoch_us},
          .page = api::page_html(),
          .driver_status = [&parts] { return driver_status(parts); },
          .submit = [&parts](live::Write write) { parts.writes->submit(std::move(write)); },
          .usage = usage_store(parts),
          .blobs = blob_store(parts),
          .series = {.read = [&parts](const auto& reading) { return parts.series->read(reading); }},
          .devices = device_source(parts),
          .login = std::move(login),
          .metrics = [&parts] { return read_metrics(parts); },
          .metered_max = parts.metrics->shares.http / api::RequestMeter::kSeries,
          .watch = {.spans = parts.spans,
                    .answered = [&parts](const api::AnsweredRequest& request) { parts.request_log->add(request); }}};
}

/// The login address is printed here and nowhere else: not to stderr, whose lines are kept as a log.
std::string login_words(const std::string& url, const std::string& token) {
  if (token.empty()) return "";
  const std::int64_t minutes = api::OneTimeLogin::kLifetime.count() / Micros::seconds(60).count();
  return fmt::format(" login: {}#login={} (once, within {} minutes)", url, token, minutes);
}

void say_ready(const UpParts& parts, const std::string& url, const std::string& token) {
  fmt::print(parts.outside.out, "ready {} key: cat {}{}\n", url, parts.folder->key_path(), login_words(url, token));
  std::fflush(parts.outside.out);
  log_fields(parts.outside.err, "ready", [&](json::Writer& json) {
    json.member("url", url).member("scenario", parts.world.scenario.name).member("memory_only", false).key("speed");
    parts.request.speed > 0 ? json.value(parts.request.speed) : json.value("max");
  });
}

constexpr std::size_t kClusterKeyBytes = 32;

}  // namespace

Result<void> start_service(UpParts& parts) {
  parts.metrics->book.begin(*parts.session);
  parts.clock = clock_of(parts);
  parts.driver =
      std::make_unique<edges::LiveDriver>(*parts.session, parts.turn, parts.lock, parts.solver, driver_options(parts));
  if (parts.devices && parts.devices->meet_api) parts.cluster_key = edges::random_hex(kClusterKeyBytes);
  api::LoginSecrets login = login_secrets(parts);
  const std::string token = login.token;
  parts.api = std::make_unique<api::Api>(*parts.session, parts.lock, api_options(parts, std::move(login)));
  parts.blobs = std::make_unique<edges::BlobQueue>(*parts.session, parts.turn, parts.lock, parts.recorder(),
                                                   parts.records->take_blob_readers(), wall_us_now);
  parts.writes = std::make_unique<edges::WriteQueue>(
      *parts.session, parts.turn, parts.lock, parts.recorder(), wall_us_now, [&parts] { parts.server->wake_streams(); },
      write_tracing(parts));
  auto server = parts.outside.start_server(parts.request.listen.host, parts.request.listen.port, *parts.api);
  if (!server) return pass_on(server.error());
  parts.server = std::move(*server);
  if (auto served = parts.device_metrics.start(parts); !served) return served;
  const std::string url = url_of(parts.request.listen.host, parts.server->port());
  if (auto written = parts.folder->write_address(url); !written) return pass_on(written.error());
  if (parts.telemetry != nullptr) parts.telemetry->start([&parts] { return read_metrics(parts); });
  parts.writes->start();
  parts.blobs->start();
  parts.waked = parts.driver.get();
  parts.driver->start();
  if (!parts.cluster_key.empty()) parts.devices->meet_api(url, parts.cluster_key);
  if (parts.devices) parts.devices->start([&parts] { parts.driver->wake(); });
  if (parts.programs) parts.times_reader = std::make_unique<TimesReader>(*parts.programs);
  say_ready(parts, url, token);
  return {};
}

}  // namespace berth::up
