/// Plans as `berth pack --format json` writes them, read again: by --check and whoever starts from a plan that stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "base/result.h"
#include "domain/packing.h"

namespace berth::cli {

/// A slice as it is written: by names.
struct PlanFileSlice {
  std::uint32_t gpu = 0;
  std::optional<std::string> gpu_model;
  std::string profile;
  int start = 0;
  std::string model;
  std::string tenant;  ///< the model unless written
  int batch = 1;
  int processes = 1;
  Decimal requests_per_second;  ///< exactly as written
};

struct PlanFile {
  std::uint32_t gpu_count = 0;  ///< `gpus` where written; covers every slice
  std::vector<PlanFileSlice> slices;
};

/// GPUs that a plan file may have.
inline constexpr std::uint32_t kPlanGpusMax = 1'000'000;

/// Reads `gpus` (optional) and `slices`; other keys are left alone. Numbers are taken digit by digit, not through a
/// double. Errors name the file and the place: line and column where it is no JSON, else the key ("slices[3].start").
[[nodiscard]] Result<PlanFile> read_plan_file(std::string_view text, const std::string& file);

/// The plan in numbers of `offers` and `demands`: a slice's GPU model is an offer (with one offer it need not be
/// written), its profile that model's, its tenant and model a demand. Whether the plan is any good is not looked at.
/// Errors name the place as above.
[[nodiscard]] Result<Packing> bind_plan(const PlanFile& plan, const std::string& file,
                                        const std::vector<GpuOffer>& offers, const std::vector<Demand>& demands);

/// Both, for the demands and offers of a problem.
[[nodiscard]] Result<Packing> parse_plan(std::string_view text, const std::string& file, const PackingProblem& problem);

}  // namespace berth::cli
