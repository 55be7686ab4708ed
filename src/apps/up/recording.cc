#include "apps/up/recording.h"

#include <set>
#include <string>
#include <utility>

#include "apps/up/up_log.h"
#include "apps/up/up_parts.h"
#include "apps/up/world_records.h"
#include "live/chain/field_hash.h"
#include "live/rows/usage_rows.h"
#include "live/session/session.h"

namespace berth::up {
namespace {

/// The blobs to which services refer.
std::set<Sha256> used_blobs(UpParts& parts) {
  std::set<Sha256> used;
  for (const auto& [name, service] : parts.session->catalog().services) {
    for (const auto& [path, blob] : service.blobs) {
      if (const auto digest = chain::sha256_of_hex(blob)) used.insert(*digest);
    }
  }
  return used;
}

}  // namespace

void note_usage(UpParts& parts, const live::UsageInterval& interval) {
  parts.recorder().note_usage(journal::row_of(interval, parts.session->scenario()));
}

void record_news(UpParts& parts) {
  parts.session->report_clock();
  if (!parts.recorder().flush()) parts.session->set_recorded();
  parts.records->prune_if_due(parts.retention, parts.session->now(), [&parts] { return used_blobs(parts); });
}

void save_snapshot(UpParts& parts) {
  if (begin_snapshot(parts)) end_snapshot(parts, parts.recorder().append(*parts.saving));
}

bool begin_snapshot(UpParts& parts) {
  if (!parts.session->is_at_rest() || parts.recorder().failure()) return false;
  parts.session->refresh();
  if (parts.recorder().failure()) return false;
  std::string bytes = live::snapshot_bytes(parts.world.beginning, parts.world.files, parts.session->save());
  const bool has_usage = !parts.recorder().pending_usage().empty();
  parts.saving = parts.recorder().draft_snapshot(live::snapshot_format(parts.world.files), std::move(bytes));
  if (has_usage) end_snapshot(parts, parts.recorder().append(*parts.saving));  // else readers would miss it
  return parts.saving.has_value();
}

void end_snapshot(UpParts& parts, const StoreResult<std::uint64_t>& appended) {
  const auto failure = parts.recorder().settle(*std::exchange(parts.saving, std::nullopt), appended);
  if (!failure) return parts.session->set_recorded();
  log_error(parts.outside.err, "no snapshot: " + *failure);
}

}  // namespace berth::up
