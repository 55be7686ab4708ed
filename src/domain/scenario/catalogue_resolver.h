/// Names of GPUs and profiles in the rows of profile files, resolved through the catalogue.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "domain/profile/readers.h"
#include "domain/values/gpu.h"

namespace berth::scenario {

/// A profile::ProfileResolver. The rows of a file repeat few GPUs, so results are cached.
class CatalogueResolver {
 public:
  [[nodiscard]] tl::expected<profile::ResolvedProfile, profile::UnresolvedProfile> operator()(std::string_view gpu,
                                                                                              std::string_view profile);

  /// What was assumed about names (mig::gpu_name_remark), each once.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  std::vector<std::string> remarks_;
  std::map<std::string, GpuModel, std::less<>> models_;
};

}  // namespace berth::scenario
