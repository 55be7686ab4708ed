/// Reads plans as `berth pack --format json` writes them, for --check and --from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "domain/values/packing.h"

namespace berth::packing {

/// A slice as written in the file: by names.
struct PlanFileSlice {
  std::uint32_t gpu = 0;
  std::optional<std::string> gpu_model;
  std::string profile;
  int start = 0;
  std::string model;
  std::string tenant;  ///< the same as the model if the file has none
  int batch = 1;
  int processes = 1;
  Decimal requests_per_second;  ///< exactly as written
};

struct PlanFile {
  std::uint32_t gpu_count = 0;  ///< `gpus` if the file has it; covers every slice
  std::vector<PlanFileSlice> slices;
};

/// The maximum number of GPUs in a plan file.
inline constexpr std::uint32_t kPlanGpusMax = 1'000'000;

/// Reads `gpus` (optional) and `slices`; other keys are ignored. Numbers are read exactly, not through a double. Errors
/// name the file and the position: line and column if it is not JSON, else the key ("slices[3].start").
[[nodiscard]] Result<PlanFile> read_plan_file(std::string_view text, const std::string& file);

/// The plan by indices of `offers` and `demands`: a slice's GPU model must be an offer (with one offer it may be
/// omitted), its profile must belong to that model, its tenant and model must be a demand. The quality of the plan is
/// not checked. Errors name the position as above.
[[nodiscard]] Result<Packing> bind_plan(const PlanFile& plan, const std::string& file,
                                        const std::vector<GpuOffer>& offers, const std::vector<Demand>& demands);

/// Reads and binds a plan for the demands and offers of a problem.
[[nodiscard]] Result<Packing> parse_plan(std::string_view text, const std::string& file, const PackingProblem& problem);

}  // namespace berth::packing
