// Any bytes give jobs that can run, the earliest submitted at 0, or an error with the file's name.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ensure.h"
#include "job_list/job_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const auto jobs = read_jobs({reinterpret_cast<const char*>(bytes), size}, "fuzz", JobListFormat::kOwn);
  if (!jobs) {
    ENSURE(jobs.error().message.starts_with("fuzz"));
    return 0;
  }
  ENSURE(std::ranges::any_of(*jobs, [](const ListedJob& job) { return job.submit_s == 0; }));
  for (const ListedJob& job : *jobs) ENSURE(job.submit_s >= 0 && job.gpus >= 1 && job.duration_s >= 1);
  return 0;
}
