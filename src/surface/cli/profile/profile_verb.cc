#include "surface/cli/profile/book_verbs.h"
#include "surface/cli/profile/profile_options.h"
#include "surface/cli/profile/profile_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kProfileHelp =
    "Measures the throughput, latency and memory of a model at each batch size, and remembers it.";

constexpr const char* kProfileExamples = R"(Examples:
  berth profile digits.onnx --out profiles.db
  berth profile resnet.onnx --device cuda:0 --as A100-80GB:1g.10gb --out profiles.db
  berth profile --url http://127.0.0.1:8000 --model digits --inputs rows.npz --out profiles.db
  berth profile list --db profiles.db

Exit status: 0 the run is in the database, 1 it cannot be written, 2 bad input (nothing is written), 7 no server,
130 interrupted (nothing is written).)";

}  // namespace

Verb profile_verb() {
  Verb profile = with_words({.name = "profile", .help = kProfileHelp, .examples = kProfileExamples},
                            profile_option_rows, checked_run(check_profile_options, run_profile_model));
  profile.subcommands = profile_book_verbs();
  return profile;
}

}  // namespace berth::cli
