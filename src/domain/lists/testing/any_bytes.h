/// Shared by the fuzzers of the job list formats.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/lists/job_list.h"

namespace berth {

/// Ensures that any bytes give jobs that can run, the earliest submitted at 0, or an error with the file's name.
inline void try_any_bytes(const std::uint8_t* bytes, std::size_t size, JobListFormat format) {
  const auto jobs = read_jobs({reinterpret_cast<const char*>(bytes), size}, "fuzz", format);
  if (!jobs) {
    ENSURE(jobs.error().message.starts_with("fuzz"));
    return;
  }
  ENSURE(std::ranges::any_of(*jobs, [](const ListedJob& job) { return job.submit_s == 0; }));
  for (const ListedJob& job : *jobs) ENSURE(job.submit_s >= 0 && job.gpus >= 1 && job.duration_s >= 1);
}

}  // namespace berth
