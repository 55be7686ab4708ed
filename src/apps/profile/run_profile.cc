#include "apps/profile/run_profile.h"

#include <chrono>

#include "apps/profile/profile_file.h"
#include "apps/profile/profile_url.h"

namespace berth::profiler {
namespace {

std::int64_t epoch_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

Result<ProfileRun> run_profile(const FileTree& tree, const models::ProfileRequest& request,
                               const cli::ProfileHooks& hooks) {
  const std::int64_t started_us = epoch_us();
  auto run = request.path.empty() ? profile_url(tree, request, hooks) : profile_file(tree, request, hooks);
  if (!run) return run;
  run->started_us = started_us;
  run->berth_version = BERTH_VERSION;
  run->label = request.label;
  return run;
}

}  // namespace berth::profiler
