/// What `berth optimize` is asked: the model, the rows, what may be lost, and what is to be gained.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "models/compare/loss.h"
#include "models/ranges/range_rules.h"

namespace berth::models {

/// In the order in which they are combined.
enum class Method : std::uint8_t { kFuse, kPrune, kInt8, kFp16 };

/// What must become better.
enum class Goal : std::uint8_t { kLatency, kMemory, kFile };

/// Which variants are written.
enum class KeepChoice : std::uint8_t { kBetter, kAll };

/// The words of the command line and of manifests.
[[nodiscard]] std::string_view name_of(Method method);
[[nodiscard]] std::string_view name_of(Goal goal);
[[nodiscard]] std::string_view name_of(KeepChoice choice);
/// Nothing: no such word.
[[nodiscard]] std::optional<Method> method_named(std::string_view word);
[[nodiscard]] std::optional<Goal> goal_named(std::string_view word);
[[nodiscard]] std::optional<KeepChoice> keep_choice_named(std::string_view word);

inline constexpr std::int64_t kBatchRowsMax = 4'096;
inline constexpr std::int64_t kBudgetSecondsMax = 1'000'000;

/// How variants are made, measured and chosen; no path, so that a manifest can hold it.
struct OptimizeTerms {
  double max_loss = 0.005;  ///< a share (of rows); of kError the error itself; at least 0, at most 1
  std::vector<Method> methods = {Method::kFuse, Method::kPrune, Method::kInt8, Method::kFp16};  ///< each once, ordered
  RangeRule ranges = RangeRule::kBest;
  std::vector<std::int64_t> batches = {1, 8, 64};  ///< ascending, each once, from 1 to kBatchRowsMax
  std::optional<Metric> metric = std::nullopt;     ///< nothing: accuracy with labels, else agreement
  Goal goal = Goal::kLatency;
  std::optional<int> cuda_index = std::nullopt;  ///< nothing: the processor
  std::int64_t budget_seconds = 600;             ///< from 1 to kBudgetSecondsMax
  std::uint64_t seed = 1;

  friend bool operator==(const OptimizeTerms&, const OptimizeTerms&) = default;
};

/// The device as the command line has it: "cpu" or "cuda:N".
[[nodiscard]] std::string device_word(const OptimizeTerms& terms);

struct OptimizeRequest {
  std::string model;
  std::string calibration;
  std::optional<std::string> evaluation = std::nullopt;
  OptimizeTerms terms = {};
  KeepChoice keep = KeepChoice::kBetter;
  std::optional<std::string> engine = std::nullopt;  ///< the library; nothing: where scripts/setup puts it
  std::string out;

  friend bool operator==(const OptimizeRequest&, const OptimizeRequest&) = default;
};

/// Nothing: as the manifest says.
struct VerifyRequest {
  std::string folder;
  std::optional<std::string> original = std::nullopt;
  std::optional<std::string> calibration = std::nullopt;
  std::optional<std::string> evaluation = std::nullopt;
  std::optional<std::string> engine = std::nullopt;

  friend bool operator==(const VerifyRequest&, const VerifyRequest&) = default;
};

}  // namespace berth::models
