#include "apps/up/up_parts.h"

#include "apps/up/request_log.h"
#include "apps/up/times_reader.h"
#include "apps/up/up_metrics.h"
#include "apps/up/world_records.h"
#include "domain/ports/http_server.h"
#include "edges/live_driver/blob_queue.h"
#include "edges/live_driver/live_driver.h"
#include "edges/live_driver/real_time_clock.h"
#include "edges/live_driver/series_queue.h"
#include "edges/live_driver/write_queue.h"
#include "edges/state_folder/state_folder.h"
#include "live/local/local_programs.h"
#include "live/local/local_world.h"
#include "live/session/session.h"
#include "live/traces/plan_traces.h"
#include "surface/api/api.h"

namespace berth::up {

UpParts::UpParts() = default;
UpParts::~UpParts() = default;

edges::Recorder& UpParts::recorder() const { return records->recorder(); }

}  // namespace berth::up
