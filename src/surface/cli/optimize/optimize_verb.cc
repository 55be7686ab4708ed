#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "surface/cli/optimize/export_variants.h"
#include "surface/cli/optimize/optimize_options.h"
#include "surface/cli/optimize/optimize_outside.h"
#include "surface/cli/optimize/optimize_table.h"
#include "surface/cli/optimize/publish_variant.h"
#include "surface/cli/optimize/variant_options.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/shared/interrupt.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/cli/verbs.h"
#include "surface/pages/optimize_report.h"

namespace berth::cli {
namespace {

constexpr int kNothingBetter = 3;
constexpr int kDoesNotHold = 1;

constexpr const char* kOptimizeHelp =
    "Makes a model smaller and faster, measures each variant against the original, and keeps only what is better.";

constexpr const char* kOptimizeExamples = R"(Examples:
  berth optimize digits.onnx --calibration calibration.npz --evaluation test.npz --out digits-optimized
  berth optimize digits.onnx --calibration calibration.npz --methods fuse,int8 --max-loss 1% --out smaller
  berth optimize digits.onnx --calibration calibration.npz --out digits-optimized --report digits-report
  berth optimize verify digits-optimized
  berth optimize publish digits-optimized --repository models/digits

Exit status: 0 a variant is kept, 3 nothing is better (the table shows why), 1 an output cannot be written, 2 bad input
(nothing is written), 130 interrupted (nothing is written).)";

constexpr const char* kVerifyVariantsHelp = "Measures what an earlier `berth optimize` wrote again.";
constexpr const char* kVerifyVariantsExamples = R"(Examples:
  berth optimize verify digits-optimized
  berth optimize verify digits-optimized --original digits.onnx --calibration calibration.npz

Exit status: 0 all figures hold, 1 the table names those that do not, 2 bad input, 130 interrupted.)";

constexpr const char* kExportVariantsHelp =
    "Prints the kept variants as `variants` of a service in a scenario, and writes their profiles (csv).";
constexpr const char* kExportVariantsExamples = R"(Examples:
  berth optimize export digits-optimized --as A30-24GB:1g.6gb

Exit status: 0 done, 1 the csv cannot be written, 2 bad input.)";

constexpr const char* kPublishVariantHelp =
    "Adds a kept variant to a repository of `berth serve`, as the next version.";
constexpr const char* kPublishVariantExamples = R"(Examples:
  berth optimize publish digits-optimized --repository models/digits
  berth optimize publish digits-optimized --variant fuse+int8 --repository models/digits

Exit status: 0 done, 1 the repository cannot be written, 2 bad input: other inputs or outputs than the version there.)";

/// What it does now, in one line of a terminal; elsewhere nothing.
class NowLine {
 public:
  explicit NowLine(ProgressOutput output) : output_(output) {}
  NowLine(const NowLine&) = delete;
  NowLine& operator=(const NowLine&) = delete;
  ~NowLine() { clear(); }

  void show(std::string_view what) {
    if (output_.stream == nullptr || !output_.is_terminal) return;
    constexpr std::size_t kColumns = 78;
    fmt::print(output_.stream, "\r\x1b[K{}", what.substr(0, kColumns));
    std::fflush(output_.stream);
    is_shown_ = true;
  }
  void clear() {
    if (!is_shown_) return;
    fmt::print(output_.stream, "\r\x1b[K");
    std::fflush(output_.stream);
    is_shown_ = false;
  }

 private:
  ProgressOutput output_;
  bool is_shown_ = false;
};

/// Runs `work` with hooks; an interrupt stops it before anything is written.
template <class Work>
auto run_with_hooks(const VerbContext& context, const Work& work) {
  InterruptWatch interrupt;
  interrupt.defer();
  NowLine now(context.progress());
  return work(OptimizeHooks{.report = [&now](std::string_view what) { now.show(what); },
                            .should_stop = [&interrupt] { return interrupt.is_interrupted(); }});
}

/// The folder of --out must be new or empty: a page in it is opened when that is written.
bool is_report_in_out(const CheckedOptimize& checked) {
  const auto normal = [](const std::string& path) { return std::filesystem::absolute(path).lexically_normal(); };
  const std::filesystem::path relative = normal(*checked.report_dir).lexically_relative(normal(checked.request.out));
  return !relative.empty() && *relative.begin() != "..";
}

/// Whether something was kept is in `is_kept`.
Result<std::string> optimize_and_report(const CheckedOptimize& checked, const VerbContext& context, bool& is_kept) {
  RunOutputs outputs;
  const bool is_report_late = checked.report_dir && is_report_in_out(checked);
  if (!is_report_late) {
    if (auto opened = outputs.open_report(checked.report_dir); !opened) return pass_on(opened.error());
  }
  outputs.begin();
  NowLine now(context.progress());
  const auto manifest =
      context.optimize->optimize(checked.request, {.report = [&now](std::string_view what) { now.show(what); },
                                                   .should_stop = [&outputs] { return outputs.is_interrupted(); }});
  if (!manifest) return pass_on(manifest.error());
  is_kept = !manifest->findings.recommended.empty();
  if (is_report_late) {
    if (auto opened = outputs.open_report(checked.report_dir); !opened) return pass_on(opened.error());
  }
  return outputs.finish({.text =
                             [&] {
                               return checked.format == OutputFormat::kJson
                                          ? models::write_manifest(*manifest)
                                          : optimize_table(*manifest, checked.request.out, context.has_colour());
                             },
                         .page = [&] { return report::render_optimize_report(*manifest); }});
}

void run_optimize(const OptimizeWords& words, VerbContext& context) {
  const auto checked = check_optimize_options(words);
  if (!checked) return finish(context, pass_on(checked.error()));
  bool is_kept = false;
  finish(context, optimize_and_report(*checked, context, is_kept));
  if (context.status == 0 && !is_kept) context.status = kNothingBetter;
}

void run_verify_variants(const VerifyVariantsWords& words, VerbContext& context) {
  const auto checked = check_verify_variants(words);
  if (!checked) return finish(context, pass_on(checked.error()));
  const auto verification = run_with_hooks(
      context, [&](const OptimizeHooks& hooks) { return context.optimize->verify(checked->request, hooks); });
  if (!verification) return finish(context, pass_on(verification.error()));
  finish(context, checked->format == OutputFormat::kJson ? verify_json(*verification)
                                                         : verify_table(*verification, context.has_colour()));
  if (context.status == 0 && !verification->holds()) context.status = kDoesNotHold;
}

}  // namespace

Verb optimize_verb() {
  Verb optimize = with_words({.name = "optimize", .help = kOptimizeHelp, .examples = kOptimizeExamples},
                             optimize_option_rows, run_optimize);
  optimize.subcommands.push_back(
      with_words({.name = "verify", .help = kVerifyVariantsHelp, .examples = kVerifyVariantsExamples},
                 verify_variants_option_rows, run_verify_variants));
  optimize.subcommands.push_back(
      with_words({.name = "export", .help = kExportVariantsHelp, .examples = kExportVariantsExamples},
                 export_variants_option_rows, checked_run(check_export_variants, run_export_variants)));
  optimize.subcommands.push_back(
      with_words({.name = "publish", .help = kPublishVariantHelp, .examples = kPublishVariantExamples},
                 publish_variant_option_rows, checked_run(check_publish_variant, run_publish_variant)));
  return optimize;
}

}  // namespace berth::cli
