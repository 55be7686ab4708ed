#include "models/optimize/optimize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "models/onnx/write_model.h"
#include "models/optimize/checked_rewrite.h"
#include "models/optimize/keep_rules.h"
#include "models/optimize/masks_file.h"
#include "models/optimize/method_calls.h"
#include "models/optimize/time_plan.h"
#include "models/optimize/trial_runs.h"

namespace berth::models {
namespace {

/// A model that further methods start from.
struct Base {
  Model model;
  std::vector<Method> methods = {};
  std::vector<PassRecord> passes = {};
  std::vector<ChannelRecord> channels = {};
  std::vector<ChannelMask> masks = {};
};

/// Relative times that the searches take.
constexpr int kPruneWeight = 2;
constexpr int kInt8Weight = 1;
constexpr int kFp16Weight = 1;

int weight_of(Method method) {
  switch (method) {
    case Method::kFuse:
      return 0;
    case Method::kPrune:
      return kPruneWeight;
    case Method::kInt8:
      return kInt8Weight;
    case Method::kFp16:
      return kFp16Weight;
  }
  ENSURE(false);
}

bool has_method(const OptimizeTerms& terms, Method method) {
  return std::ranges::find(terms.methods, method) != terms.methods.end();
}

/// On the processor, half precision computes nothing faster.
bool may_use_fp16(const OptimizeTerms& terms) { return terms.cuda_index.has_value() || terms.goal == Goal::kFile; }

/// The methods that end a variant: each is applied to the fused, and to the pruned model.
std::vector<Method> last_methods(const OptimizeTerms& terms) {
  std::vector<Method> methods;
  if (has_method(terms, Method::kInt8)) methods.push_back(Method::kInt8);
  if (has_method(terms, Method::kFp16) && may_use_fp16(terms)) methods.push_back(Method::kFp16);
  return methods;
}

class Driver {
 public:
  Driver(const OptimizeTask& task, const OptimizeTerms& terms, const OptimizeTools& tools)
      : task_(task), terms_(terms), tools_(tools), plan_(make_plan()) {}

  Result<OptimizeOutcome> run() {
    auto original = measure_original(task_.original, task_.file_bytes, task_.rows, terms_, tools_);
    if (!original) return named(original.error());
    original_ = *std::move(original);
    describe_original();
    Base base = {.model = task_.original};
    if (auto fused = fuse(base); !fused) return pass_on(fused.error());
    std::vector<Base> bases = {std::move(base)};
    if (has_method(terms_, Method::kPrune)) {
      auto pruned = make(Method::kPrune, bases.front());
      if (!pruned) return pass_on(pruned.error());
      if (*pruned) bases.push_back(**std::move(pruned));
    }
    for (const Method method : last_methods(terms_)) {
      for (const Base& each : bases) {
        if (auto made = make(method, each); !made) return pass_on(made.error());
      }
      // Planned for a pruned model as well.
      if (has_method(terms_, Method::kPrune) && bases.size() == 1) drop(method);
    }
    outcome_.findings.recommended = recommendation(outcome_.findings.variants, original_.figures, terms_.goal);
    return std::move(outcome_);
  }

 private:
  /// What is wrong with the original or its rows.
  [[nodiscard]] tl::unexpected<Error> named(const Error& error) const {
    if (error.code != ErrorCode::kInvalidInput) return pass_on(error);
    return invalid(fmt::format("{} with {}: {}", task_.model_name, task_.data_name, error.message));
  }

  [[nodiscard]] TimePlan make_plan() const {
    int variants = 0;
    int weights = 0;
    const int bases = has_method(terms_, Method::kPrune) ? 2 : 1;
    if (has_method(terms_, Method::kFuse)) ++variants;
    if (bases == 2) {
      ++variants;
      weights += kPruneWeight;
    }
    for (const Method method : last_methods(terms_)) {
      variants += bases;
      weights += bases * weight_of(method);
    }
    return TimePlan(tools_.now(), Micros::seconds(terms_.budget_seconds), variants, weights);
  }

  void describe_original() {
    Findings& findings = outcome_.findings;
    findings.metric = original_.metric;
    findings.rows = task_.counts;
    findings.batches = original_.batches;
    findings.has_fixed_batch = original_.has_fixed_batch;
    findings.original = original_.figures;
    findings.original_score = original_.score;
    if (has_method(terms_, Method::kFp16) && !may_use_fp16(terms_)) {
      findings.left_out.emplace_back(
          "fp16: not tried: on the processor it saves bytes of the file alone (--goal file)");
    }
  }

  void drop(Method method) {
    plan_.drop_search(weight_of(method));
    plan_.drop_variant();
  }

  Result<void> fuse(Base& base) {
    if (!has_method(terms_, Method::kFuse)) return {};
    auto fused = fuse_checked(base.model, original_.check, tools_);
    if (!fused) return pass_on(fused.error());
    VariantRecord record = {.name = variant_name({Method::kFuse}), .methods = {Method::kFuse}, .passes = fused->passes};
    if (!fused->is_changed) {
      record.reason = "there is nothing to simplify";
      outcome_.findings.variants.push_back(std::move(record));
      plan_.drop_variant();
      return {};
    }
    base.model = std::move(fused->model);
    base.methods = record.methods;
    base.passes = record.passes;
    return judge(std::move(record), base.model);
  }

  /// The variant, if there is one.
  Result<std::optional<Base>> make(Method method, const Base& base) {
    std::vector<Method> methods = base.methods;
    methods.push_back(method);
    VariantRecord record = {
        .name = variant_name(methods), .methods = methods, .passes = base.passes, .channels = base.channels};
    const Instant now = tools_.now();
    const Instant deadline = plan_.begin_search(now, weight_of(method));
    if (deadline <= now + preparations_[method]) {
      plan_.drop_variant();
      outcome_.findings.left_out.push_back(
          fmt::format("{}: not tried: what is left of the time budget of {} s does not suffice", record.name,
                      terms_.budget_seconds));
      return std::nullopt;
    }
    tools_.report(record.name + ": search");
    TrialRuns bench(original_, task_.rows, tools_, deadline);
    const Trials trials = bench.trials();
    auto made = call(method, {.base = base.model,
                              .original = original_,
                              .rows = task_.rows,
                              .terms = terms_,
                              .tools = tools_,
                              .trials = trials});
    if (tools_.should_stop()) return stopped();
    if (!made) return pass_on(made.error());
    preparations_[method] = bench.preparation().value_or(Micros());
    return keep(std::move(record), *std::move(made), base.masks);
  }

  Result<std::optional<Base>> keep(VariantRecord record, MadeVariant made, std::vector<ChannelMask> masks) {
    record.passes.insert(record.passes.end(), made.passes.begin(), made.passes.end());
    if (!made.channels.empty()) record.channels = std::move(made.channels);
    record.layers = std::move(made.layers);
    if (!made.no_time_for.empty()) {
      outcome_.findings.left_out.push_back(fmt::format("{}: the time budget of {} s did not suffice for {}",
                                                       record.name, terms_.budget_seconds,
                                                       fmt::join(made.no_time_for, "; ")));
    }
    if (made.why_none.empty()) {
      const auto outputs = run_checked(made.model, original_.check, tools_);
      if (!outputs && outputs.error().code == ErrorCode::kInterrupted) return pass_on(outputs.error());
      if (!outputs) made.why_none = "undone: " + outputs.error().message;
    }
    if (!made.why_none.empty()) {
      record.reason = std::move(made.why_none);
      outcome_.findings.variants.push_back(std::move(record));
      plan_.drop_variant();
      return std::nullopt;
    }
    Base base = {.model = std::move(made.model),
                 .methods = record.methods,
                 .passes = record.passes,
                 .channels = record.channels,
                 .masks = made.masks.empty() ? std::move(masks) : std::move(made.masks)};
    if (!base.masks.empty()) outcome_.masks[record.name] = write_masks(base.masks);
    if (auto judged = judge(std::move(record), base.model); !judged) return pass_on(judged.error());
    return base;
  }

  static Result<MadeVariant> call(Method method, const MethodInputs& inputs) {
    switch (method) {
      case Method::kPrune:
        return make_pruned(inputs);
      case Method::kInt8:
        return make_int8(inputs);
      case Method::kFp16:
        return make_fp16(inputs);
      case Method::kFuse:
        break;
    }
    ENSURE(false);
  }

  /// Measures it, and says whether it is kept.
  Result<void> judge(VariantRecord record, const Model& model) {
    auto bytes = write_model(model);
    if (!bytes) return pass_on(bytes.error());
    const Instant begin = tools_.now();
    auto figures = measure_variant({.name = record.name, .bytes = *bytes, .nodes = count_nodes(model.graph)}, original_,
                                   task_.rows, terms_, plan_.begin_measuring(), tools_);
    if (!figures) return pass_on(figures.error());
    plan_.note_measured(tools_.now() - begin);
    const auto reason = refusal(*figures, original_.figures, terms_, original_.metric);
    record.is_kept = !reason.has_value();
    record.reason = reason.value_or("");
    record.figures = *std::move(figures);
    outcome_.files[record.name] = *std::move(bytes);
    outcome_.findings.variants.push_back(std::move(record));
    return {};
  }

  const OptimizeTask& task_;
  const OptimizeTerms& terms_;
  const OptimizeTools& tools_;
  TimePlan plan_;
  MeasuredOriginal original_ = {};
  std::map<Method, Micros> preparations_ = {};  ///< what a search took before its first trial
  OptimizeOutcome outcome_ = {};
};

}  // namespace

Result<OptimizeOutcome> optimize(const OptimizeTask& task, const OptimizeTerms& terms, const OptimizeTools& tools) {
  return Driver(task, terms, tools).run();
}

}  // namespace berth::models
