#include "scheduling/placement/policy_name.h"

#include <array>

namespace berth::placement {
namespace {

constexpr std::array kNames = {
    std::string_view("random"),  std::string_view("dot-product"), std::string_view("best-fit"),
    std::string_view("packing"), std::string_view("clustering"),  std::string_view("fgd"),
    std::string_view("berth"),   std::string_view("first"),       std::string_view("best")};

constexpr std::array kWholeAndShared = {Policy::kRandom,     Policy::kDotProduct, Policy::kBestFit, Policy::kPacking,
                                        Policy::kClustering, Policy::kFgd,        Policy::kBerth};
constexpr std::array kSlices = {Policy::kFirst, Policy::kBest, Policy::kBerth};

}  // namespace

std::string_view name_of(Policy policy) { return kNames[static_cast<std::size_t>(policy)]; }

std::span<const Policy> policies_for(bool has_cuts, bool is_seeded) {
  if (has_cuts) return kSlices;
  return is_seeded ? std::span(kWholeAndShared) : std::span(kWholeAndShared).subspan(1);
}

}  // namespace berth::placement
