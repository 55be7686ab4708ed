#include "surface/cli/place/place_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/core/decimal.h"
#include "base/core/first_error.h"
#include "base/core/text.h"
#include "domain/mig/catalogue.h"
#include "surface/cli/shared/distinct_paths.h"
#include "surface/cli/shared/option_words.h"
#include "surface/cli/shared/report_folder.h"

namespace berth::cli {
namespace {

using placement::ArrivalOrder;
using placement::Policy;

constexpr std::int64_t kSeedMax = 1'000'000'000'000;
constexpr std::size_t kSeedsMax = 10'000;
constexpr std::int64_t kDemandMax = 1000;
constexpr std::string_view kSeedsDefault = "42-51";
constexpr std::string_view kDemandDefault = "1.3";
constexpr std::int64_t kCopiesMax = 1'000'000;
constexpr std::int64_t kMovesMax = 100;

/// Options of the seeded order alone. Later errors are about their values.
Result<void> check_order_of(const char* option, const std::optional<std::string>& word, const PlaceWords& words) {
  if (!word || words.order != "given") return {};
  return invalid(fmt::format("{}: wanted --order seeded, found given", option));
}

/// "42-51", "7", or several of these, joined by commas.
Result<std::vector<std::uint64_t>> parse_seeds(std::string_view text) {
  const auto wrong = [&] {
    return invalid(
        fmt::format("--seeds: wanted at most {} whole numbers up to {}, such as 42-51 or 1,5,7, each once, found {}",
                    kSeedsMax, kSeedMax, in_quotes(text)));
  };
  std::vector<std::uint64_t> seeds;
  for (std::string_view rest = text;;) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const std::size_t dash = word.find('-');
    const auto first = parse_count(word.substr(0, dash), kSeedMax);
    const auto last = dash == std::string_view::npos ? first : parse_count(word.substr(dash + 1), kSeedMax);
    if (!first || !last || *last < *first || static_cast<std::size_t>(*last - *first) >= kSeedsMax) return wrong();
    for (std::int64_t seed = *first; seed <= *last; ++seed) seeds.push_back(static_cast<std::uint64_t>(seed));
    if (word.size() == rest.size()) break;
    rest.remove_prefix(word.size() + 1);
  }
  std::vector<std::uint64_t> sorted = seeds;
  std::ranges::sort(sorted);
  if (seeds.size() > kSeedsMax || std::ranges::adjacent_find(sorted) != sorted.end()) return wrong();
  return seeds;
}

Result<Decimal> parse_demand(std::string_view text) {
  const auto demand = Decimal::parse(text);
  if (demand && demand->sign() > 0 && *demand <= Decimal(kDemandMax)) return *demand;
  return invalid(fmt::format("--demand: wanted a number above 0, at most {}, found {}", kDemandMax, in_quotes(text)));
}

Result<ArrivalOrder> parse_order(const PlaceWords& words) {
  if (words.order == "seeded") return words.is_churning ? ArrivalOrder::kChurn : ArrivalOrder::kSeeded;
  if (words.order != "given") return invalid("--order: wanted seeded or given, found " + in_quotes(words.order));
  if (words.is_churning) return invalid("--churn: wanted --order seeded, found given");
  return ArrivalOrder::kGiven;
}

Result<void> check_paths(const PlaceWords& words) {
  if (words.nodes.empty()) return invalid("--nodes: wanted a file, found an empty path");
  if (words.pods.empty()) return invalid("--pods: wanted a file, found an empty path");
  if (words.decisions == "") return invalid("--decisions: wanted a file, found an empty path");
  if (words.report == "") return invalid("--report: wanted a folder, found an empty path");
  return check_outputs_are_distinct({{"--nodes", words.nodes}, {"--pods", words.pods}},
                                    {{"--decisions", words.decisions}, {"--report", report_page_of(words.report)}});
}

Result<std::optional<std::string>> parse_as_gpu(const std::optional<std::string>& name) {
  if (!name) return name;
  const auto model = mig::find_gpu_model(*name);
  if (!model) return invalid("--as: " + model.error().message);
  if (!model->is_mig_capable()) return invalid("--as: wanted a GPU model with MIG, found " + in_quotes(*name));
  return name;
}

}  // namespace

OptionTable place_option_rows(PlaceWords& words) {
  return {
      {"--nodes", "FILE", "Nodes, a CSV file: sn,cpu_milli,memory_mib,gpu,model", &words.nodes, kRequired},
      {"--pods", "FILE", "Pods, a CSV file: name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec][,gang][,profile]",
       &words.pods, kRequired},
      {"--policies", "A,B",
       "all, or random, dot-product, best-fit, packing, clustering, fgd, berth; where GPUs can be partitioned: first, "
       "best, berth",
       &words.policies},
      {"--seeds", "A-B", "A run for each; with --order seeded (default 42-51)", &words.seeds},
      {"--demand", "X", "GPUs that the pods ask for, divided by those of the nodes; with --order seeded (default 1.3)",
       &words.demand},
      {"--order", "WORD", "seeded: shuffled, pods drawn until the demand; given: as in the files, one run",
       &words.order},
      {"--churn", "", "Pods leave after a random time", &words.is_churning},
      {"--as",
       "GPU",
       "Every GPU counts as this model, which is partitioned by MIG",
       &words.as_gpu,
       {.remark = mig::gpu_name_remark}},
      {"--copies", "N", "So many nodes: those of the file again and again", &words.copies},
      {"--moves", "N", "Slices that berth may move so that a pod fits that fits nowhere", &words.moves},
      {"--format", "WORD", "table or json", &words.format},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
      {"--decisions", "FILE", "Write each decision as a line of JSON", &words.decisions},
      {"--timings", "", "Measure how long decisions take", &words.has_timings},
  };
}

Result<PlaceRequest> check_place_options(const PlaceWords& words) {
  if (auto checked = check_paths(words); !checked) return pass_on(checked.error());
  if (auto checked = check_order_of("--seeds", words.seeds, words); !checked) return pass_on(checked.error());
  if (auto checked = check_order_of("--demand", words.demand, words); !checked) return pass_on(checked.error());
  FirstError first;
  PlaceRequest request{
      .nodes_path = words.nodes,
      .pods_path = words.pods,
      .policies = words.policies,
      .problem = {.as_gpu = first.take(parse_as_gpu(words.as_gpu))},
      .study = {.order = first.take(parse_order(words)),
                .seeds = first.take(parse_seeds(words.seeds.value_or(std::string(kSeedsDefault)))),
                .demand = first.take(parse_demand(words.demand.value_or(std::string(kDemandDefault))))},
      .format = first.take(parse_format(words.format)),
      .decisions_path = words.decisions,
      .report_dir = words.report,
      .has_timings = words.has_timings};
  if (words.copies) {
    request.problem.copies = static_cast<int>(first.take(whole_option("--copies", *words.copies, 1, kCopiesMax)));
  }
  request.study.moves_max = static_cast<int>(first.take(whole_option("--moves", words.moves, 0, kMovesMax)));
  if (!first.is_clear()) return first.passed_on();
  return request;
}

Result<std::vector<Policy>> place_policies(const PlaceRequest& request, bool has_cuts) {
  const auto known = placement::policies_for(has_cuts, true);
  if (request.policies == "all") {
    const auto all = placement::policies_for(has_cuts, request.study.order != ArrivalOrder::kGiven);
    return std::vector(all.begin(), all.end());
  }
  std::vector<std::string> known_names;
  known_names.reserve(known.size());
  for (const Policy policy : known) known_names.emplace_back(placement::name_of(policy));
  const auto names = parse_policies(request.policies, known_names);
  if (!names) return pass_on(names.error());
  std::vector<Policy> policies;
  policies.reserve(names->size());
  for (const std::string& name : *names) {
    policies.push_back(known[static_cast<std::size_t>(std::ranges::find(known_names, name) - known_names.begin())]);
  }
  return policies;
}

}  // namespace berth::cli
