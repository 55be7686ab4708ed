#include "apps/up/config_in_force.h"

#include <mutex>
#include <string>

#include "apps/up/series_options.h"
#include "apps/up/up_log.h"
#include "apps/up/up_parts.h"
#include "domain/values/no_changes.h"
#include "edges/live_driver/series_queue.h"
#include "live/session/session.h"

namespace berth::up {
namespace {

/// Logs the values in force of the keys that SIGHUP applies. Requires: the lock is held, or nothing runs yet.
void log_config(UpParts& parts, const std::string& path) {
  log_fields(parts.outside.err, "config", [&](json::Writer& json) {
    json.member("file", path).open_object("retention");
    json.member("events_days", parts.retention.events_days).member("series_days", parts.retention.series_days);
    json.member("usage_days", parts.retention.usage_days).close_object();
    json.member("no_changes", words_of(parts.session->scenario().no_changes.spans));
  });
}

/// Applies the keys that can change at run time.
void apply_config(UpParts& parts, const live::RereadConfig& read) {
  const std::scoped_lock turn(parts.turn);
  const std::scoped_lock hold(parts.lock);
  parts.retention = read.retention;
  parts.series->keep(series_seconds(parts.retention));
  if (!parts.session->set_no_changes(no_changes_of(read.no_changes, parts.world.beginning.epoch_us))) {
    return log_error(parts.outside.err, "no_changes cannot be recorded, the windows before stay in force: " +
                                            parts.session->why_not_recorded());
  }
  log_config(parts, *parts.request.config_path);
}

}  // namespace

void log_start_of_config(UpParts& parts) {
  if (parts.request.config_path) return log_config(parts, *parts.request.config_path);
  const auto& spans = parts.session->scenario().no_changes.spans;
  if (spans.empty()) return;
  log_warning(parts.outside.err, "windows without changes stay in force, as recorded in the folder (" +
                                     words_of(spans) + "); a file of --config without no_changes ends them");
}

void reload_config(UpParts& parts) {
  if (!parts.request.config_path) {
    return log_line(parts.outside.err, "config_not_read",
                    {{"message", "SIGHUP reads the file of --config again, and there is none"}});
  }
  const auto read = parts.outside.read_config_again();
  if (!read) {
    return log_line(parts.outside.err, "config_not_read",
                    {{"message", read.error().message}, {"in_force", "what was read before"}});
  }
  for (const live::UnappliedKey& key : read->unapplied) {
    log_line(
        parts.outside.err, "config_key_not_applied",
        {{"key", key.name},
         {"in_force", key.in_force},
         {"found", key.found},
         {"message", key.is_of_world ? "needs another folder: the world of this one keeps it" : "needs a restart"}});
  }
  apply_config(parts, *read);
}

}  // namespace berth::up
