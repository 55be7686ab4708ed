#include "apps/up/stop_world.h"

#include <signal.h>

#include <chrono>
#include <utility>

#include "apps/up/recording.h"
#include "apps/up/times_reader.h"
#include "apps/up/up_log.h"
#include "apps/up/up_parts.h"
#include "domain/ports/http_server.h"
#include "domain/values/snapshot.h"
#include "edges/live_driver/blob_queue.h"
#include "edges/live_driver/live_driver.h"
#include "edges/live_driver/series_queue.h"
#include "edges/live_driver/write_queue.h"
#include "edges/otlp/telemetry.h"
#include "live/local/local_world.h"
#include "live/session/session.h"
#include "live/traces/plan_traces.h"

namespace berth::up {
namespace {

constexpr int kInterruptedStatus = 130;

Result<void> close_journal(edges::RunJournalFile& journal) {
  if (!journal.writer) return {};
  if (auto written = journal.writer->finish(); !written) return written;
  return journal.file->commit();
}

/// The session can be saved only without an open question, so this waits briefly for its answer.
void take_last_answer(UpParts& parts) {
  constexpr std::chrono::seconds kPatience{1};
  const bool is_awaited =
      parts.driver && parts.request.speed > 0 && parts.session->is_solving() && !parts.session->is_over();
  if (!is_awaited || parts.recorder().failure()) return;
  auto answer = parts.solver.wait_for_answer(kPatience);
  if (answer && parts.session->answer(*std::move(answer)))
    static_cast<void>(parts.session->advance(parts.session->now()));
}

void stop_telemetry(UpParts& parts) {
  if (parts.traces) parts.traces->end_all();
  parts.telemetry->stop();
  const auto log = [&parts](const char* signal, const edges::OtlpCounts& counts) {
    if (counts.made == 0) return;
    log_fields(parts.outside.err, "otlp", [&](json::Writer& json) {
      json.member("signal", signal).member("made", counts.made).member("sent", counts.sent);
      json.member("refused", counts.refused).member("dropped", counts.dropped);
    });
  };
  log("traces", parts.telemetry->span_counts());
  log("metrics", parts.telemetry->metric_counts());
}

}  // namespace

int status_of(UpParts& parts, int signal) {
  log_line(parts.outside.err, "stopping", {{"signal", signal == SIGINT ? "SIGINT" : "SIGTERM"}});
  return signal == SIGINT ? kInterruptedStatus : 0;
}

Result<int> stop_world(UpParts& parts, int status) {
  if (parts.blobs) parts.blobs->stop();
  if (parts.writes) parts.writes->stop();  // requests received are carried out and answered
  if (parts.server) parts.server->stop();
  parts.device_metrics.stop();
  parts.times_reader.reset();
  if (parts.driver) parts.driver->stop();
  if (parts.devices) parts.devices->stop();  // its threads wake the driver
  if (parts.telemetry != nullptr) stop_telemetry(parts);
  take_last_answer(parts);
  // A fleet takes effect with the snapshot that has it: rows before it are of the former one.
  if (parts.next_fleet) parts.world.files.put_fleet(*parts.next_fleet);
  if (parts.next_fleet || parts.recorder().rows_since_snapshot() > 0) save_snapshot(parts);
  parts.session->emit_all();
  parts.session->finish();
  parts.series->stop();
  if (const auto failure = parts.recorder().flush()) log_error(parts.outside.err, *failure);
  const auto closed = close_journal(parts.run_journal);
  parts.run_journal = edges::RunJournalFile();  // a journal that could not be kept leaves no file
  if (!closed) return fail(ErrorCode::kUnavailable, closed.error().message);
  return status;
}

}  // namespace berth::up
