#include "serving/repository/version_choice.h"

#include <algorithm>
#include <iterator>

namespace berth::serving {

std::vector<std::int64_t> choose_versions(const VersionPolicy& policy, const VersionsOnDisk& versions) {
  std::vector<std::int64_t> chosen;
  switch (policy.kind) {
    case VersionPolicy::Kind::kLatest: {
      const auto count = std::min<std::int64_t>(policy.latest_count, std::ssize(versions.complete));
      chosen.assign(versions.complete.end() - count, versions.complete.end());
      break;
    }
    case VersionPolicy::Kind::kAll:
      std::ranges::merge(versions.complete, versions.broken, std::back_inserter(chosen));
      break;
    case VersionPolicy::Kind::kSpecific:
      chosen = policy.versions;
      break;
  }
  return chosen;
}

}  // namespace berth::serving
