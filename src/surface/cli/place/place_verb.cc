#include "surface/cli/place/place_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/place/place_options.h"
#include "surface/cli/place/place_run.h"
#include "surface/cli/shared/wiring.h"

namespace berth::cli {
namespace {

constexpr const char* kPlaceHelp =
    "Places the pods of a list on the nodes of a list: how much of the GPUs policies allocate.";

constexpr const char* kPlaceExamples = R"(Examples:
  berth place --nodes examples/scheduling/nodes.csv --pods examples/scheduling/pods.csv
  berth place --nodes nodes.csv --pods pods.csv --policies fgd,berth --seeds 42-44 --churn --format json
  berth place --nodes nodes.csv --pods pods.csv --order given --policies berth --decisions decisions.jsonl
  berth place --nodes nodes.csv --pods pods.csv --as A100-80GB --moves 1
  berth place --nodes examples/scheduling/nodes.csv --pods examples/scheduling/pods.csv --report out

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

void add_place_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("place", kPlaceHelp);
  verb->footer(kPlaceExamples);
  const auto words = std::make_shared<PlaceWords>();
  verb->add_option("--nodes", words->nodes, "Nodes, a CSV file: sn,cpu_milli,memory_mib,gpu,model")
      ->type_name("FILE")
      ->required();
  verb->add_option("--pods", words->pods,
                   "Pods, a CSV file: name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec][,gang][,profile]")
      ->type_name("FILE")
      ->required();
  verb->add_option(
          "--policies", words->policies,
          "all, or random, dot-product, best-fit, packing, clustering, fgd, berth; where GPUs can be partitioned: "
          "first, best, berth")
      ->type_name("A,B")
      ->capture_default_str();
  verb->add_option("--seeds", words->seeds, "A run for each")->type_name("A-B")->capture_default_str();
  verb->add_option("--demand", words->demand, "GPUs that the pods ask for, divided by those of the nodes")
      ->type_name("X")
      ->capture_default_str();
  verb->add_option("--order", words->order,
                   "seeded: shuffled, pods drawn until the demand; given: as in the files, one run")
      ->type_name("WORD")
      ->capture_default_str();
  verb->add_flag("--churn", words->is_churning, "Pods leave after a random time");
  verb->add_option("--as", words->as_gpu, "Every GPU counts as this model, which is partitioned by MIG")
      ->type_name("GPU");
  verb->add_option("--copies", words->copies, "So many nodes: those of the file again and again")->type_name("N");
  verb->add_option("--moves", words->moves, "Slices that berth may move so that a pod fits that fits nowhere")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--report", words->report, "Write a page with charts, DIR/index.html")->type_name("DIR");
  verb->add_option("--decisions", words->decisions, "Write each decision as a line of JSON")->type_name("FILE");
  verb->add_flag("--timings", words->has_timings, "Measure how long decisions take");
  run_when_named(*verb, context, words, check_place_options, run_place);
}

}  // namespace berth::cli
