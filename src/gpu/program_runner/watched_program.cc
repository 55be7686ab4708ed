#include "gpu/program_runner/watched_program.h"

#include "base/core/fields.h"

namespace berth::edges {

static_assert(kFieldCount<ProcessReport> == 13);

ProcessReport report_of(const WatchedProgram& program, Instant now) {
  const programs::ProgramRecord& record = program.record;
  const bool runs = program.kept != WatchedProgram::Kept::kNo && !program.is_cleaning;
  return {.order = record.order,
          .phase = program.phase,
          .pid = runs ? program.pid : 0,
          .port = runs ? record.port : 0,
          .key = runs ? record.key : "",
          .uid = record.start.uid,
          .in_flight_max = record.in_flight_max,
          .drain = Micros::seconds(record.drain_seconds),
          .start_time = record.start_time,
          .starts = record.starts,
          .failures = program.restarts.failures(now),
          .is_looping = program.restarts.is_looping(now),
          .message = program.message};
}

}  // namespace berth::edges
