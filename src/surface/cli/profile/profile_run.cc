#include "surface/cli/profile/profile_run.h"

#include "edges/sqlite_store/profile_file.h"
#include "surface/cli/profile/profile_json.h"
#include "surface/cli/profile/profile_outside.h"
#include "surface/cli/profile/profile_table.h"
#include "surface/cli/shared/interrupt.h"
#include "surface/cli/shared/progress_bar.h"

namespace berth::cli {
namespace {

Result<ProfileRun> measure_with_progress(const CheckedProfile& checked, const VerbContext& context,
                                         const InterruptWatch& interrupt) {
  ProgressBar bar(context.progress(), 1, steady_now);
  return context.profile->measure(checked.request,
                                  {.report = [&bar](double done, std::string_view what) { bar.show(what, 0, done); },
                                   .should_stop = [&interrupt] { return interrupt.is_interrupted(); }});
}

}  // namespace

Result<std::string> run_profile_model(const CheckedProfile& checked, const VerbContext& context) {
  auto store = edges::open_profile_store(checked.out, edges::ProfileFileMode::kWrite);
  if (!store) return pass_on(store.error());
  InterruptWatch interrupt;
  interrupt.defer();
  auto run = measure_with_progress(checked, context, interrupt);
  if (interrupt.is_interrupted()) return tl::unexpected<Error>(interrupted_error());
  if (!run) return pass_on(run.error());
  const auto id = (*store)->add(*run);
  if (!id) return pass_on(id.error());
  run->id = *id;
  return checked.format == OutputFormat::kJson ? profile_json(*run, checked.out)
                                               : profile_table(*run, checked.out, context.has_colour());
}

}  // namespace berth::cli
