#include "domain/scenario/service_keys.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "domain/profile/readers.h"
#include "domain/scenario/detail/rules.h"
#include "domain/scenario/service_object.h"
#include "domain/values/arrivals.h"

namespace berth::scenario {
namespace {

using Kind = KeyKind;

constexpr KeyBounds from(std::int64_t min, std::int64_t max) { return {.min = min, .max = max}; }
constexpr KeyBounds above_zero(std::int64_t max) { return {.min = 0, .max = max, .is_min_allowed = false}; }

template <std::size_t kCount>
constexpr KeyList list_of(const std::array<ServiceKey, kCount>& keys) {
  return {.first = keys.data(), .count = kCount};
}

constexpr KeyBounds kSeconds = from(0, detail::kDurationSecondsMax);
constexpr KeyBounds kSecondsAboveZero = above_zero(detail::kDurationSecondsMax);
constexpr KeyBounds kShare = from(0, 1);
constexpr KeyBounds kPlain = above_zero(detail::kPlainNumberMax);
constexpr KeyBounds kUsd = from(0, detail::kPlainNumberMax);
constexpr KeyBounds kSliceCounts = from(0, 1'000'000);
constexpr std::size_t kSizeLengthMax = 4096;  // of a parameter, in bytes

constexpr std::array<std::string_view, 1> kTableWords = {"csv"};
constexpr std::array<std::string_view, 1> kTierWords = {"auto"};

// ---- the profile

constexpr std::array<ServiceKey, 7> kRowKeys = {{
    {.name = "model", .kind = Kind::kText, .help = "The model that was measured.", .is_required = true},
    {.name = "gpu", .kind = Kind::kText, .help = "The GPU model, or a unique prefix of it.", .is_required = true},
    {.name = "profile", .kind = Kind::kText, .help = "The MIG profile, or full.", .is_required = true},
    {.name = "batch",
     .kind = Kind::kWhole,
     .help = "Requests of a batch.",
     .is_required = true,
     .bounds = from(1, profile::kBatchMax)},
    {.name = "processes",
     .kind = Kind::kWhole,
     .help = "Processes that share the slice.",
     .is_required = true,
     .bounds = from(1, profile::kProcessesMax)},
    {.name = "requests_per_second",
     .kind = Kind::kNumber,
     .help = "Throughput of the whole slice.",
     .is_required = true,
     .bounds = above_zero(profile::kThroughputMax)},
    {.name = "latency_ms",
     .kind = Kind::kNumber,
     .help = "Latency of a full batch in milliseconds.",
     .is_required = true,
     .bounds = above_zero(profile::kLatencyMsMax)},
}};

constexpr std::array<ServiceKey, 3> kProfileKeys = {{
    {.name = "format", .kind = Kind::kChoice, .help = "csv.", .is_required = true, .words = kTableWords},
    {.name = "model", .kind = Kind::kText, .help = "The model whose rows count.", .is_required = true},
    {.name = "rows",
     .kind = Kind::kMaps,
     .help = "Measurements, in any order.",
     .is_required = true,
     .below = list_of(kRowKeys),
     .count_min = 1,
     .count_max = static_cast<std::size_t>(kTableRowsMax)},
}};

// ---- arrivals

constexpr std::array<ServiceKey, 2> kSecondKeys = {{
    {.name = "second",
     .kind = Kind::kWhole,
     .help = "A second of the trace; seconds increase from row to row.",
     .is_required = true,
     .bounds = from(0, 2'591'999)},
    {.name = "requests",
     .kind = Kind::kWhole,
     .help = "Requests that come in this second.",
     .is_required = true,
     .bounds = from(0, kRequestsPerSecondMax)},
}};

constexpr std::array<ServiceKey, 8> kArrivalKeys = {{
    {.name = "format",
     .kind = Kind::kChoice,
     .help = "csv, whose rows are given, or how requests are generated.",
     .is_required = true,
     .words = kArrivalWords},
    {.name = "from_second",
     .kind = Kind::kWhole,
     .help = "The second of the trace that is second 0.",
     .bounds = from(0, kTraceSecondsMax - 1)},
    {.name = "seconds",
     .kind = Kind::kWhole,
     .help = "Length of the window; required for generated load.",
     .bounds = from(1, kTraceSecondsMax)},
    {.name = "scale", .kind = Kind::kNumber, .help = "Multiplies the load.", .bounds = kPlain},
    {.name = "smooth_seconds",
     .kind = Kind::kWhole,
     .help = "Over how many seconds the trace is smoothed where it is scaled.",
     .bounds = from(1, kTraceSecondsMax)},
    {.name = "repeat", .kind = Kind::kTruth, .help = "Whether the window starts again when it is over."},
    {.name = "requests_per_second",
     .kind = Kind::kNumber,
     .help = "The mean of generated load.",
     .bounds = from(0, kRequestsPerSecondMax)},
    {.name = "rows",
     .kind = Kind::kMaps,
     .help = "Requests by second, of the format csv.",
     .below = list_of(kSecondKeys),
     .count_min = 1},
}};

// ---- smaller maps

constexpr std::array<ServiceKey, 2> kSloKeys = {{
    {.name = "latency_ms",
     .kind = Kind::kNumber,
     .help = "An answer is in time if its latency in milliseconds is at most this.",
     .is_required = true,
     .bounds = above_zero(profile::kLatencyMsMax)},
    {.name = "attainment",
     .kind = Kind::kNumber,
     .help = "The agreed share of answers in time.",
     .bounds = KeyBounds{.min = 0, .max = 1, .is_min_allowed = false, .is_max_allowed = false}},
}};

constexpr std::array<ServiceKey, 2> kBatchingKeys = {{
    {.name = "slo_factor",
     .kind = Kind::kNumber,
     .help = "The part of the latency target that a batch may take.",
     .bounds = kPlain},
    {.name = "max_processes",
     .kind = Kind::kWhole,
     .help = "The most processes that share a slice.",
     .bounds = from(1, profile::kProcessesMax)},
}};

constexpr std::array<ServiceKey, 2> kStartKeys = {{
    {.name = "runtime",
     .kind = Kind::kNumber,
     .help = "Seconds until the program runs.",
     .is_required = true,
     .bounds = kSeconds},
    {.name = "model",
     .kind = Kind::kNumber,
     .help = "Seconds in which it loads the model.",
     .is_required = true,
     .bounds = kSeconds},
}};

constexpr std::array<ServiceKey, 2> kAccuracyKeys = {{
    {.name = "before",
     .kind = Kind::kNumber,
     .help = "While the model is stale.",
     .is_required = true,
     .bounds = kShare},
    {.name = "after", .kind = Kind::kNumber, .help = "After retraining.", .is_required = true, .bounds = kShare},
}};

constexpr std::array<ServiceKey, 6> kSizeKeys = {{
    {.name = "1g", .kind = Kind::kNumber, .help = "Seconds on one compute slice.", .bounds = kSecondsAboveZero},
    {.name = "2g", .kind = Kind::kNumber, .help = "Seconds on two.", .bounds = kSecondsAboveZero},
    {.name = "3g", .kind = Kind::kNumber, .help = "Seconds on three.", .bounds = kSecondsAboveZero},
    {.name = "4g", .kind = Kind::kNumber, .help = "Seconds on four.", .bounds = kSecondsAboveZero},
    {.name = "7g", .kind = Kind::kNumber, .help = "Seconds on seven.", .bounds = kSecondsAboveZero},
    {.name = "full", .kind = Kind::kNumber, .help = "Seconds on a GPU without MIG.", .bounds = kSecondsAboveZero},
}};

constexpr std::array<ServiceKey, 5> kRetrainingKeys = {{
    {.name = "every_seconds",
     .kind = Kind::kNumber,
     .help = "Seconds from one retraining to the next.",
     .is_required = true,
     .bounds = from(1, detail::kDurationSecondsMax)},
    {.name = "offset_seconds", .kind = Kind::kNumber, .help = "When the first is due.", .bounds = kSeconds},
    {.name = "swap_seconds",
     .kind = Kind::kNumber,
     .help = "Seconds until replicas run the new model.",
     .bounds = kSeconds},
    {.name = "unfinished",
     .kind = Kind::kChoice,
     .help = "The fate of an unfinished one when the next is due.",
     .words = kUnfinishedWords},
    {.name = "seconds_on",
     .kind = Kind::kMap,
     .help = "How long it takes, by the size of the slice.",
     .is_required = true,
     .below = list_of(kSizeKeys)},
}};

constexpr std::array<ServiceKey, 3> kVariantKeys = {{
    {.name = "name", .kind = Kind::kText, .help = "Unique in the service.", .is_required = true},
    {.name = "profile",
     .kind = Kind::kMap,
     .help = "Its measured speed.",
     .is_required = true,
     .below = list_of(kProfileKeys)},
    {.name = "accuracy",
     .kind = Kind::kNumberOrMap,
     .help = "The value of an answer in time, 0 to 1; or before and after retraining.",
     .bounds = kShare,
     .below = list_of(kAccuracyKeys)},
}};

constexpr std::array<ServiceKey, 1> kFloorKeys = {{
    {.name = "attainment",
     .kind = Kind::kNumber,
     .help = "The share in time for which capacity is planned before anything else.",
     .is_required = true,
     .bounds = above_zero(1)},
}};

constexpr std::array<ServiceKey, 1> kExpectsKeys = {{
    {.name = "requests_per_second",
     .kind = Kind::kNumber,
     .help = "The load to plan for, at least.",
     .is_required = true,
     .bounds = above_zero(kRequestsPerSecondMax)},
}};

constexpr std::array<ServiceKey, 3> kPinKeys = {{
    {.name = "gpu",
     .kind = Kind::kWhole,
     .help = "The number of the GPU.",
     .is_required = true,
     .bounds = from(0, detail::kGpuCountMax - 1)},
    {.name = "profile", .kind = Kind::kText, .help = "A MIG profile of that GPU, or full.", .is_required = true},
    {.name = "start",
     .kind = Kind::kWhole,
     .help = "The placement unit where it begins.",
     .is_required = true,
     .bounds = from(0, 1000)},
}};

constexpr std::array<ServiceKey, 1> kTierKeys = {{
    {.name = "gpu", .kind = Kind::kText, .help = "Slices are on GPUs of this model only.", .is_required = true},
}};

constexpr std::array<ServiceKey, 4> kWarmPoolKeys = {{
    {.name = "min", .kind = Kind::kWhole, .help = "Slices that are kept ready without load.", .bounds = kSliceCounts},
    {.name = "max", .kind = Kind::kWhole, .help = "The most that are kept ready without load.", .bounds = kSliceCounts},
    {.name = "cold_usd",
     .kind = Kind::kNumber,
     .help = "What it costs that a request meets no ready slice.",
     .bounds = kUsd},
    {.name = "usd_per_hour",
     .kind = Kind::kNumber,
     .help = "The most that its idle slices may cost per hour.",
     .bounds = kUsd},
}};

constexpr std::array<ServiceKey, 2> kServeKeys = {{
    {.name = "repository",
     .kind = Kind::kText,
     .help = "The repository of models.",
     .is_required = true,
     .length_max = kSizeLengthMax},
    {.name = "model",
     .kind = Kind::kText,
     .help = "The model in it.",
     .is_required = true,
     .length_max = kSizeLengthMax},
}};

constexpr std::array<ServiceKey, 3> kRunKeys = {{
    {.name = "template", .kind = Kind::kText, .help = "A template of the machine."},
    {.name = "parameters",
     .kind = Kind::kTexts,
     .help = "Its parameters.",
     .length_max = kSizeLengthMax,
     .count_max = 64},
    {.name = "serve", .kind = Kind::kMap, .help = "Berth's own model server.", .below = list_of(kServeKeys)},
}};

constexpr std::array<ServiceKey, 2> kReplicaKeys = {{
    {.name = "min", .kind = Kind::kWhole, .help = "Slices that it has at least.", .bounds = kSliceCounts},
    {.name = "max", .kind = Kind::kWhole, .help = "Slices that it has at most.", .bounds = from(1, 1'000'000)},
}};

// ---- the spec

constexpr std::array<ServiceKey, 23> kSpecKeys = {{
    {.name = "profile",
     .kind = Kind::kMap,
     .help = "The measured speed of the model.",
     .is_required = true,
     .below = list_of(kProfileKeys)},
    {.name = "slo",
     .kind = Kind::kMap,
     .help = "When an answer is in time.",
     .is_required = true,
     .below = list_of(kSloKeys)},
    {.name = "batching", .kind = Kind::kMap, .help = "How requests are batched.", .below = list_of(kBatchingKeys)},
    {.name = "drop",
     .kind = Kind::kChoice,
     .help = "Whether requests that would be late are discarded.",
     .words = kDropWords},
    {.name = "arrivals", .kind = Kind::kMap, .help = "Simulated load.", .below = list_of(kArrivalKeys)},
    {.name = "start_seconds",
     .kind = Kind::kNumberOrMap,
     .help = "Seconds from an empty slice to the first answer; or those of its parts.",
     .bounds = kSeconds,
     .below = list_of(kStartKeys)},
    {.name = "accuracy",
     .kind = Kind::kNumberOrMap,
     .help = "The value of an answer in time, 0 to 1; or before and after retraining.",
     .bounds = kShare,
     .below = list_of(kAccuracyKeys)},
    {.name = "retraining",
     .kind = Kind::kMap,
     .help = "When its model is trained again.",
     .below = list_of(kRetrainingKeys)},
    {.name = "variants",
     .kind = Kind::kMaps,
     .help = "Other forms of the same model.",
     .below = list_of(kVariantKeys),
     .count_max = static_cast<std::size_t>(kVariantsMax)},
    {.name = "weight", .kind = Kind::kNumber, .help = "Its weight in the mean over services.", .bounds = kPlain},
    {.name = "floor",
     .kind = Kind::kMap,
     .help = "What is planned before anything else.",
     .below = list_of(kFloorKeys)},
    {.name = "pins",
     .kind = Kind::kMaps,
     .help = "Slices that the service keeps for itself.",
     .below = list_of(kPinKeys)},
    {.name = "changes_per_hour",
     .kind = Kind::kWhole,
     .help = "The most changes of its slices in an hour.",
     .bounds = from(0, detail::kPlainNumberMax)},
    {.name = "isolation",
     .kind = Kind::kChoice,
     .help = "The weakest isolation that it accepts.",
     .words = kIsolationWords},
    {.name = "trust_domain", .kind = Kind::kText, .help = "It shares a GPU only with services of its own domain."},
    {.name = "expects", .kind = Kind::kMap, .help = "The load to plan for.", .below = list_of(kExpectsKeys)},
    {.name = "tier",
     .kind = Kind::kChoiceOrMap,
     .help = "The GPU model of its slices: {gpu: MODEL}, or auto.",
     .words = kTierWords,
     .below = list_of(kTierKeys)},
    {.name = "known_on",
     .kind = Kind::kNames,
     .help = "The GPU models whose rows were measured; the others are predicted.",
     .count_min = 1},
    {.name = "warm_pool", .kind = Kind::kMap, .help = "Slices that are kept ready.", .below = list_of(kWarmPoolKeys)},
    {.name = "answer_seconds",
     .kind = Kind::kNumber,
     .help = "Requests that would be answered later are discarded.",
     .bounds = kSecondsAboveZero},
    {.name = "run",
     .kind = Kind::kMap,
     .help = "The program on its slices, outside of clusters.",
     .below = list_of(kRunKeys)},
    {.name = "replicas",
     .kind = Kind::kMap,
     .help = "How many slices it has at least and at most.",
     .below = list_of(kReplicaKeys)},
    {.name = "pod", .kind = Kind::kTemplate, .help = "The template of the pods on its slices, in a cluster."},
}};

}  // namespace

KeyList service_keys() { return list_of(kSpecKeys); }

std::vector<std::string_view> key_names(std::string_view path) {
  KeyList keys = service_keys();
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    const auto* const found = std::ranges::find(keys, part, &ServiceKey::name);
    ENSURE(found != keys.end() && found->below.count > 0);
    keys = found->below;
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  std::vector<std::string_view> names;
  for (const ServiceKey& key : keys) names.push_back(key.name);
  return names;
}

}  // namespace berth::scenario
