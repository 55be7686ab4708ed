#include "models/int8/choose_int8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/core/sort_stably.h"
#include "models/int8/detail/layer_errors.h"
#include "models/int8/int8_plan.h"

namespace berth::models {
namespace {

constexpr double kTimeMatters = 0.10;   // of the time: less is not worth a loss of signal
constexpr double kSqnrMattersDb = 0.5;  // less may come from these rows only
constexpr double kRangeGainDb = 0.02;   // for other ranges
constexpr double kWeightGainDb = 0.2;   // for cutting off the largest weights, which rare rows may need
constexpr std::size_t kRangeTrialsMax = 600;
constexpr std::size_t kReturnsTimed = 4;  // nodes whose time and loss are measured before one is returned to float
constexpr double kTimeLostMin = 1e-3;     // of the time: below what is measured
constexpr std::array kFixedRules = {RangeRule::kMinMax, RangeRule::kPercentile, RangeRule::kEntropy};

double noise_of(double sqnr_db) { return std::pow(10, -sqnr_db / 10); }

/// By more than a standard error of the mean difference of the rows, as simpler choices are kept by Breiman et al.,
/// Classification and Regression Trees, 1984.
bool is_surely_less(const std::vector<double>& noise, const std::vector<double>& other) {
  const auto count = static_cast<double>(noise.size());
  double mean = 0;
  for (std::size_t i = 0; i < noise.size(); ++i) mean += (other[i] - noise[i]) / count;
  if (!std::isfinite(mean)) return mean > 0;
  double squares = 0;
  for (std::size_t i = 0; i < noise.size(); ++i) squares += std::pow(other[i] - noise[i] - mean, 2);
  return mean > 0 && count > 1 && mean > std::sqrt(squares / (count - 1) / count);
}

using RecipesByValue = std::map<std::string, RangeRecipe, std::less<>>;

/// One way to quantise, and what came of it.
struct Candidate {
  Int8Settings settings = {};
  RecipesByValue recipes = {};
  std::set<std::string, std::less<>> float_nodes = {};
  Model model = {};    // with ranges of all rows
  double sqnr_db = 0;  // of that model
  double noise = 0;    // share of the signal: mean over it and two models with ranges of one half of the rows each
};

class Int8Search {
 public:
  Int8Search(const Model& model, const ValueShapes& shapes, const CalibrationStatistics& statistics,
             const Int8Options& options, const Trials& trials)
      : model_(model), shapes_(shapes), statistics_(statistics), options_(options), trials_(trials) {
    for (const Node& node : model.graph.nodes) {
      if (is_op(node, "Clip")) clipped_.insert(node.outputs.front());
    }
  }

  Result<Int8Choice> run() {
    for (const auto step : {&Int8Search::try_settings, &Int8Search::try_rules, &Int8Search::return_to_float,
                            &Int8Search::try_ranges, &Int8Search::confirm_ranges}) {
      const Result<void> done = (this->*step)();
      if (!done) return pass_on(done.error());
    }
    const Int8Plan plan = plan_of(best_);
    const RangesByValue ranges = ranges_of(best_, statistics_.all);
    return Int8Choice{.model = best_.model,
                      .settings = best_.settings,
                      .ranges = ranges,
                      .float_nodes = best_.float_nodes,
                      .left = plan.left,
                      .sqnr_db = best_.sqnr_db,
                      .loss = loss_,
                      .layers = layer_errors(model_.graph, plan, statistics_.all, ranges, best_.settings),
                      .unfinished = unfinished_};
  }

 private:
  [[nodiscard]] Int8Plan plan_of(const Candidate& candidate) const {
    return int8_plan(model_.graph, shapes_, candidate.float_nodes);
  }

  [[nodiscard]] RecipesByValue recipes_of(RangeRule rule) const {
    RecipesByValue recipes;
    for (const auto& [value, statistics] : statistics_.all) recipes.emplace(value, RangeRecipe{.rule = rule});
    return recipes;
  }

  /// An absorbed Clip limits what is beyond the values seen.
  [[nodiscard]] Range limited(const std::string& value, const Range& range) const {
    if (!clipped_.contains(value)) return range;
    const RangeStatistics& seen = statistics_.all.at(value);
    return {.min = std::max(range.min, std::min(seen.min(), 0.0F)),
            .max = std::min(range.max, std::max(seen.max(), 0.0F))};
  }

  /// What the search asks again and again is computed once.
  [[nodiscard]] RangesByValue ranges_of(const Candidate& candidate, const StatisticsByValue& statistics) {
    RangesByValue ranges;
    const QuantizedType& type = candidate.settings.activations;
    const auto source = &statistics == &statistics_.all ? 2 : &statistics - statistics_.halves.data();
    for (const auto& [value, recipe] : candidate.recipes) {
      const auto key = std::tuple(value, recipe, type.is_signed, source);
      auto known = known_ranges_.find(key);
      if (known == known_ranges_.end()) {
        known = known_ranges_.emplace(key, limited(value, range_of(statistics.at(value), recipe, type))).first;
      }
      ranges.emplace(value, known->second);
    }
    return ranges;
  }

  /// Of the model with the candidate's ranges.
  Result<double> sqnr_of(const Candidate& candidate, const StatisticsByValue& statistics, Model& model) {
    Result<Model> quantized =
        quantize(model_, plan_of(candidate), ranges_of(candidate, statistics), candidate.settings);
    if (!quantized) return pass_on(quantized.error());
    model = std::move(*quantized);
    return trials_.sqnr_db(model);
  }

  Result<void> measure(Candidate& candidate) {
    const Result<double> sqnr = sqnr_of(candidate, statistics_.all, candidate.model);
    if (!sqnr) return pass_on(sqnr.error());
    candidate.sqnr_db = *sqnr;
    return {};
  }

  /// Stops where it is clear that the candidate's noise is above `noise_max`.
  Result<void> measure_noise(Candidate& candidate, double noise_max) {
    candidate.noise = 0;
    for (const StatisticsByValue* statistics : {&statistics_.halves[0], &statistics_.halves[1], &statistics_.all}) {
      const Result<double> sqnr = sqnr_of(candidate, *statistics, candidate.model);
      if (!sqnr) return pass_on(sqnr.error());
      candidate.sqnr_db = *sqnr;
      candidate.noise += noise_of(*sqnr) / 3;
      if (candidate.noise > noise_max) return {};
    }
    return {};
  }

  /// False, and noted once, when the time is used up.
  bool has_time_for(const std::string& what) {
    if (trials_.has_time()) return true;
    if (std::ranges::find(unfinished_, what) == unfinished_.end()) unfinished_.push_back(what);
    return false;
  }

  // Step 1.

  Result<void> try_settings() {
    bool is_first = true;
    for (const bool is_signed : {false, true}) {
      for (const int bits : {8, 7}) {
        if (!is_first && !has_time_for("signed activations and weights of 7 bits")) return {};
        Candidate candidate;
        candidate.settings.activations.is_signed = is_signed;
        candidate.settings.weight_bits = bits;
        candidate.recipes = recipes_of(options_.rule);
        const Result<void> measured = measure(candidate);
        if (!measured) return measured;
        const Result<bool> is_better = is_first ? Result<bool>(true) : is_better_setting(candidate);
        if (!is_better) return pass_on(is_better.error());
        if (*is_better) best_ = std::move(candidate);
        is_first = false;
      }
    }
    return {};
  }

  Result<bool> is_better_setting(const Candidate& candidate) {
    const bool has_more_signal = candidate.sqnr_db > best_.sqnr_db + kSqnrMattersDb;
    // A bit less in the weights saves no time by itself.
    const bool may_be_faster = candidate.settings.weight_bits == best_.settings.weight_bits;
    if (!has_more_signal && !may_be_faster) return false;
    const Result<double> ratio = trials_.time_ratio(candidate.model, best_.model);
    if (!ratio) return pass_on(ratio.error());
    if (has_more_signal) return *ratio < 1 + kTimeMatters || !is_loss_kept(best_);
    return *ratio < 1 - kTimeMatters && is_loss_kept(candidate);
  }

  [[nodiscard]] bool is_loss_kept(const Candidate& candidate) const {
    const Result<double> loss = trials_.loss(candidate.model);
    return loss && *loss <= options_.loss_max;
  }

  // Step 2.

  Result<void> try_rules() {
    const Result<void> done = options_.rule == RangeRule::kBest ? try_each_rule() : Result<void>();
    return done ? measure_loss() : done;
  }

  Result<void> try_each_rule() {
    const Result<void> measured = measure_noise(best_, std::numeric_limits<double>::infinity());
    if (!measured) return measured;
    for (const RangeRule rule : kFixedRules) {
      if (!has_time_for("ranges of one rule for all values")) return {};
      Candidate candidate = best_;
      candidate.recipes = recipes_of(rule);
      const Result<void> tried = take_if_better(std::move(candidate), kRangeGainDb);
      if (!tried) return tried;
    }
    Candidate candidate = best_;
    candidate.settings.weight_scale = WeightScale::kLeastError;
    return take_if_better(std::move(candidate), kWeightGainDb);
  }

  Result<void> take_if_better(Candidate candidate, double gain_db) {
    const double noise_max = best_.noise * noise_of(gain_db);
    const Result<void> measured = measure_noise(candidate, noise_max);
    if (measured && candidate.noise < noise_max) best_ = std::move(candidate);
    return measured;
  }

  Result<void> measure_loss() {
    const Result<double> loss = trials_.loss(best_.model);
    if (!loss) return pass_on(loss.error());
    loss_ = *loss;
    return {};
  }

  // Step 3.

  Result<void> return_to_float() {
    while (loss_ > options_.loss_max) {
      const Result<bool> has_returned = return_one();
      if (!has_returned) return pass_on(has_returned.error());
      if (!*has_returned) break;
    }
    return {};
  }

  /// One of the heavy nodes. False: there is one left, or no time.
  Result<bool> return_one() {
    Result<std::vector<Candidate>> candidates = candidates_to_return();
    if (!candidates) return pass_on(candidates.error());
    std::optional<std::size_t> chosen;
    double saved_per_time_most = 0;
    std::vector<double> losses;
    for (const Candidate& candidate : *candidates) {
      if (chosen && !has_time_for("nodes in float")) break;
      const Result<double> loss = trials_.loss(candidate.model);
      if (!loss) return pass_on(loss.error());
      const Result<double> ratio = trials_.time_ratio(candidate.model, best_.model);
      if (!ratio) return pass_on(ratio.error());
      losses.push_back(*loss);
      // The loss of few rows is coarse: noise decides where it does not differ.
      const double loss_saved = std::max(0.0, loss_ - *loss) / loss_;
      const double noise_saved = std::max(0.0, 1 - noise_of(candidate.sqnr_db) / noise_of(best_.sqnr_db));
      const double saved_per_time = (loss_saved + noise_saved) / std::max(*ratio - 1, kTimeLostMin);
      if (chosen && saved_per_time <= saved_per_time_most) continue;
      chosen = losses.size() - 1;
      saved_per_time_most = saved_per_time;
    }
    if (!chosen) return false;
    best_ = std::move((*candidates)[*chosen]);
    loss_ = losses[*chosen];
    return true;
  }

  /// With one more node in float each: those that save the most noise. Nothing without time, or when one node is left.
  Result<std::vector<Candidate>> candidates_to_return() {
    const Int8Plan plan = plan_of(best_);
    std::vector<Candidate> candidates;
    if (plan.heavy.size() < 2) return candidates;
    for (const std::size_t node : nodes_by_noise(plan)) {
      if (!has_time_for("nodes in float")) break;
      Candidate candidate = best_;
      candidate.float_nodes.insert(model_.graph.nodes[node].outputs.front());
      const Result<void> measured = measure(candidate);
      if (!measured) return pass_on(measured.error());
      noise_with_float_[node] = noise_of(candidate.sqnr_db);
      candidates.push_back(std::move(candidate));
      sort_stably(candidates, &Candidate::sqnr_db, std::greater<>());
      if (candidates.size() > kReturnsTimed) candidates.pop_back();
    }
    return candidates;
  }

  /// All heavy nodes at first; later those that came out best before, twice as many as are timed.
  [[nodiscard]] std::vector<std::size_t> nodes_by_noise(const Int8Plan& plan) const {
    std::vector<std::size_t> nodes(plan.heavy.begin(), plan.heavy.end());
    if (noise_with_float_.empty()) return nodes;
    const auto noise_left = [&](std::size_t node) {
      const auto found = noise_with_float_.find(node);
      return found == noise_with_float_.end() ? std::numeric_limits<double>::infinity() : found->second;
    };
    sort_stably(nodes, noise_left);
    nodes.resize(std::min(nodes.size(), 2 * kReturnsTimed));
    return nodes;
  }

  // Step 4.

  Result<void> try_ranges() {
    if (options_.rule != RangeRule::kBest) return {};
    const Candidate before = best_;
    const double loss_before = loss_;
    Result<void> done = measure_noise(best_, std::numeric_limits<double>::infinity());
    if (done) done = try_each_range();
    if (done) done = measure_loss();
    if (done && loss_ > options_.loss_max && loss_ > loss_before) {
      best_ = before;
      loss_ = loss_before;
    }
    return done;
  }

  Result<void> try_each_range() {
    std::size_t trials_left = kRangeTrialsMax;
    for (const std::string& value : values_by_noise()) {
      for (const RangeRecipe& recipe : range_recipes()) {
        Candidate candidate = best_;
        candidate.recipes[value] = recipe;
        if (ranges_of(candidate, statistics_.all) == ranges_of(best_, statistics_.all)) continue;
        if (trials_left == 0 || !has_time_for("ranges value by value")) return {};
        --trials_left;
        const Result<void> tried = take_if_better(std::move(candidate), kRangeGainDb);
        if (!tried) return tried;
      }
    }
    return {};
  }

  /// The values that are rounded, those first that lose the largest share of their energy.
  [[nodiscard]] std::vector<std::string> values_by_noise() {
    std::vector<std::string> values = plan_of(best_).range_values();
    const RangesByValue ranges = ranges_of(best_, statistics_.all);
    const auto share_lost = [&](const std::string& value) {
      const RangeStatistics& statistics = statistics_.all.at(value);
      if (statistics.energy() == 0) return 0.0;
      return squared_error(statistics, ranges.at(value), best_.settings.activations) / statistics.energy();
    };
    sort_stably(values, share_lost, std::greater<>());
    return values;
  }

  // Step 5.

  Result<void> confirm_ranges() {
    if (options_.rule != RangeRule::kBest) return {};
    Candidate plain = best_;
    plain.recipes = recipes_of(RangeRule::kMinMax);
    plain.settings.weight_scale = WeightScale::kLargest;
    const Result<void> measured = measure(plain);
    if (!measured) return measured;
    const auto noise = trials_.row_noise(best_.model);
    if (!noise) return pass_on(noise.error());
    const auto plain_noise = trials_.row_noise(plain.model);
    if (!plain_noise) return pass_on(plain_noise.error());
    if (is_surely_less(*noise, *plain_noise)) return {};
    const Result<double> loss = trials_.loss(plain.model);
    if (!loss) return pass_on(loss.error());
    if (*loss > options_.loss_max && *loss > loss_) return {};
    best_ = std::move(plain);
    loss_ = *loss;
    return {};
  }

  const Model& model_;
  const ValueShapes& shapes_;
  const CalibrationStatistics& statistics_;
  const Int8Options& options_;
  const Trials& trials_;
  Candidate best_;
  double loss_ = 0;  // of best_, from step 2 on
  std::map<std::size_t, double> noise_with_float_;
  std::map<std::tuple<std::string, RangeRecipe, bool, std::ptrdiff_t>, Range> known_ranges_;
  std::set<std::string, std::less<>> clipped_;
  std::vector<std::string> unfinished_;
};

}  // namespace

std::vector<std::string> values_to_observe(const Model& model, const ValueShapes& shapes) {
  std::vector<std::string> values;
  for (const auto& [value, quantized] : int8_plan(model.graph, shapes).values) values.push_back(value);
  return values;
}

Result<Int8Choice> choose_int8(const Model& model, const ValueShapes& shapes, const CalibrationStatistics& statistics,
                               const Int8Options& options, const Trials& trials) {
  return Int8Search(model, shapes, statistics, options, trials).run();
}

}  // namespace berth::models
