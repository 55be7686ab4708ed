#include "domain/scenario/catalogue_resolver.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/text.h"
#include "domain/mig/catalogue.h"

namespace berth::scenario {

tl::expected<profile::ResolvedProfile, profile::UnresolvedProfile> CatalogueResolver::operator()(
    std::string_view gpu, std::string_view profile) {
  using profile::UnresolvedProfile;
  auto known = models_.find(gpu);
  if (known == models_.end()) {
    auto model = mig::find_gpu_model(gpu);
    if (!model) return tl::unexpected(UnresolvedProfile{true, model.error().message});
    if (auto remark = mig::gpu_name_remark(gpu)) remarks_.push_back(std::move(*remark));
    known = models_.emplace(gpu, std::move(*model)).first;
  }
  const GpuModel& model = known->second;
  if (mig::find_profile(model, profile)) return profile::ResolvedProfile{model.name, std::string(profile)};
  return tl::unexpected(
      UnresolvedProfile{false, fmt::format("wanted a profile of {}, found {}", model.name, in_quotes(profile))});
}

}  // namespace berth::scenario
