#include "surface/cli/profile/book_verbs.h"

#include "surface/cli/profile/book_options.h"
#include "surface/cli/profile/export_run.h"
#include "surface/cli/profile/import_run.h"
#include "surface/cli/profile/list_run.h"
#include "surface/cli/profile/observe_run.h"
#include "surface/cli/profile/show_run.h"

namespace berth::cli {
namespace {

constexpr const char* kListProfilesExamples = R"(Examples:
  berth profile list --db profiles.db
  berth profile list --format json

A line of drift says that batches of a running server take 10 % more or less than what was measured.
Exit status: 0 done, 1 the database cannot be read, 2 bad input.)";

constexpr const char* kShowProfileExamples = R"(Examples:
  berth profile show digits
  berth profile show digits --history

Exit status: 0 done, 1 the database cannot be read, 2 bad input, such as a model that was not profiled.)";

constexpr const char* kImportProfilesExamples = R"(Examples:
  berth profile import measured.csv --db profiles.db
  berth profile import prof_data/

Figures are kept as they are written. Nothing is overwritten: of several imports of a point the last counts.
Exit status: 0 done, 1 the database cannot be written, 2 bad input (nothing is written).)";

constexpr const char* kExportProfilesExamples = R"(Examples:
  berth profile export --db profiles.db > profiles.csv
  berth profile export --as A30-24GB:1g.6gb --out measured/
  berth pack --gpu A30-24GB --profiles measured/ --profile-format csv --demand demand.csv

What was measured on something else than the GPU it counts as is written to a file whose name ends in .cpu.csv.
Exit status: 0 done, 1 the file cannot be written, 2 bad input (nothing is written).)";

constexpr const char* kObserveProfilesExamples = R"(Examples:
  berth profile observe --url http://127.0.0.1:8000
  berth profile list

A second call adds only what is new. From 200 batches of a size on, what was observed counts in place of what was
measured.
Exit status: 0 done, 1 the database cannot be written, 2 the server answers with errors (nothing is written), 6 it does
not answer, 7 there is none.)";

}  // namespace

std::vector<Verb> profile_book_verbs() {
  return {
      with_words(
          {.name = "list", .help = "Lists what was profiled, and what has drifted", .examples = kListProfilesExamples},
          list_profiles_option_rows, checked_run(check_list_profiles, run_list_profiles)),
      with_words({.name = "show", .help = "Shows every point of a model", .examples = kShowProfileExamples},
                 show_profile_option_rows, checked_run(check_show_profile, run_show_profile)),
      with_words({.name = "import",
                  .help = "Adds the rows of profile files, ParvaGPU's too",
                  .examples = kImportProfilesExamples},
                 import_profiles_option_rows, checked_run(check_import_profiles, run_import_profiles)),
      with_words({.name = "export",
                  .help = "Writes a profile file that pack, replay and plan read",
                  .examples = kExportProfilesExamples},
                 export_profiles_option_rows, checked_run(check_export_profiles, run_export_profiles)),
      with_words({.name = "observe",
                  .help = "Adds the batch times that a running `berth serve` counted",
                  .examples = kObserveProfilesExamples},
                 observe_profiles_option_rows, checked_run(check_observe_profiles, run_observe_profiles))};
}

}  // namespace berth::cli
