#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/mig/catalogue.h"
#include "surface/cli/mig/mig_report.h"
#include "surface/cli/mig/migparted_report.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kMigHelp =
    "Reports how MIG can partition GPUs: profiles, layouts, what still fits; mig-parted files.";

constexpr const char* kMigExamples = R"(Examples:
  berth mig profiles --gpu H100-80GB
  berth mig layouts --gpu A30 --format json
  berth mig fits --gpu A100-80GB --state "3g.40gb@4,1g.10gb@0"
  berth mig import config.yaml --gpu A100-80GB --config all-balanced
  berth mig import config-default.yaml --gpu A100-80GB --skip-other-gpus
  berth mig export --gpu A100-80GB --state "3g.40gb@4,1g.10gb@0" --name mixed

Exit status: 0 done, 2 bad input (nothing is written to stdout).)";

/// As typed; each subcommand uses some of them.
struct MigWords {
  std::string file;
  std::string gpu;
  std::optional<std::string> state;
  std::vector<std::string> profiles;
  bool has_all_profiles = false;
  bool is_before_r510 = false;
  std::string file_label;  ///< the label to read; empty: all
  bool skips_other_gpus = false;
  bool has_all_labels = false;
  std::optional<std::string> label;  ///< of the written state
  std::string format;                ///< empty: table
};

constexpr std::array<std::string_view, 2> kMigFormats = {"table", "json"};
constexpr OptionTraits kAnyValue = {.ignores_value = true};
constexpr OptionTraits kSomeProfiles = {.is_split = true, .excludes = "--all-profiles"};
constexpr OptionTraits kOneLabel = {.excludes = "--all"};

OptionRow mig_gpu_row(MigWords& words, OptionTraits traits = kRequired) {
  traits.remark = mig::gpu_name_remark;
  return {"--gpu", "NAME", "The GPU model, or a unique prefix of it: A100-80GB, H200, RTX", &words.gpu, traits};
}

OptionRow mig_format_row(MigWords& words) {
  return {"--format", "WORD", "table (default) or json", &words.format, {.choices = kMigFormats}};
}

OptionTable mig_rules_option_rows(MigWords& words) {
  return {
      {"--all-profiles", "", "Use every profile, not only the plain ones", &words.has_all_profiles, kAnyValue},
      {"--profiles", "A,B", "Use these profiles, such as 1g.10gb,3g.40gb", &words.profiles, kSomeProfiles},
      {"--before-r510", "", "With the rule of drivers before R510: no 4g together with 3g (A100 only)",
       &words.is_before_r510, kAnyValue},
  };
}

OptionTable mig_profiles_option_rows(MigWords& words) { return {mig_gpu_row(words), mig_format_row(words)}; }

OptionTable mig_layouts_option_rows(MigWords& words) {
  return joined_rows({{mig_gpu_row(words)}, mig_rules_option_rows(words), {mig_format_row(words)}});
}

OptionTable mig_fits_option_rows(MigWords& words) {
  return joined_rows(
      {{mig_gpu_row(words),
        {"--state", "STATE", "Instances and their starts, such as 3g.40gb@4,1g.10gb@0; default: empty", &words.state}},
       mig_rules_option_rows(words),
       {mig_format_row(words)}});
}

OptionTable mig_import_option_rows(MigWords& words) {
  return {
      {"FILE", "", "The file (version v1), or a Kubernetes ConfigMap with it", &words.file, kRequired},
      mig_gpu_row(words, {}),
      {"--config", "LABEL", "One label of the file; default: all", &words.file_label},
      {"--skip-other-gpus", "", "Leave out entries with profiles of other GPUs instead of refusing the file",
       &words.skips_other_gpus, kAnyValue},
      mig_format_row(words),
  };
}

OptionTable mig_export_option_rows(MigWords& words) {
  return {
      mig_gpu_row(words),
      {"--all", "", "all-disabled, all-enabled, all-PROFILE and all-balanced", &words.has_all_labels, kAnyValue},
      {"--state", "STATE", "Instances and their starts, such as 3g.40gb@4,1g.10gb@0", &words.state, kOneLabel},
      {"--name", "LABEL", "The label; default: current", &words.label, kOneLabel},
  };
}

OutputFormat mig_format(const MigWords& words) {
  return words.format == "json" ? OutputFormat::kJson : OutputFormat::kTable;
}

MigRulesOptions mig_rules(const MigWords& words) {
  return {
      .has_all_profiles = words.has_all_profiles, .profiles = words.profiles, .is_before_r510 = words.is_before_r510};
}

void run_mig_profiles(const MigWords& words, VerbContext& context) {
  finish(context, mig_profiles_report({.gpu = words.gpu, .format = mig_format(words)}));
}

void run_mig_layouts(const MigWords& words, VerbContext& context) {
  finish(context, mig_layouts_report({.gpu = words.gpu, .rules = mig_rules(words), .format = mig_format(words)}));
}

void run_mig_fits(const MigWords& words, VerbContext& context) {
  finish(context, mig_fits_report({.gpu = words.gpu,
                                   .state = words.state.value_or(""),
                                   .rules = mig_rules(words),
                                   .format = mig_format(words)}));
}

void run_mig_import(const MigWords& words, VerbContext& context) {
  finish(context, mig_import_report({.path = words.file,
                                     .gpu = words.gpu,
                                     .label = words.file_label,
                                     .skips_other_gpus = words.skips_other_gpus,
                                     .format = mig_format(words)},
                                    *context.files));
}

void run_mig_export(const MigWords& words, VerbContext& context) {
  if (!words.has_all_labels && !words.state) {
    return finish(context, invalid("--state or --all is required\nSee: berth mig --help"));
  }
  MigExportOptions options = {
      .gpu = words.gpu, .state = words.state.value_or(""), .has_all_labels = words.has_all_labels};
  if (words.label) options.label = *words.label;
  finish(context, mig_export_report(options));
}

}  // namespace

Verb mig_verb() {
  return {
      .name = "mig",
      .help = kMigHelp,
      .examples = kMigExamples,
      .subcommands = {
          with_words(
              {.name = "profiles", .help = "Every profile of a GPU: places, SMs, memory; ? marks unverified values"},
              mig_profiles_option_rows, run_mig_profiles),
          with_words({.name = "layouts",
                      .help = "The maximal layouts of a GPU (to which nothing can be added), and the number "
                              "of states"},
                     mig_layouts_option_rows, run_mig_layouts),
          with_words({.name = "fits", .help = "What can be added to a state of a GPU, and where"}, mig_fits_option_rows,
                     run_mig_fits),
          with_words({.name = "import", .help = "Read a mig-parted file and print the places of its instances"},
                     mig_import_option_rows, run_mig_import),
          with_words({.name = "export", .help = "Write a state, or every label that mig-parted generates, as its file"},
                     mig_export_option_rows, run_mig_export)}};
}

}  // namespace berth::cli
