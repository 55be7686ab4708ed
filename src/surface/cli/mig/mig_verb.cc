#include "surface/cli/mig/mig_verb.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "surface/cli/mig/mig_report.h"
#include "surface/cli/mig/migparted_report.h"

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

// The value of an option is read by name when the verb runs, so no storage must outlive the parsing.

std::string text_of(const CLI::App& verb, const std::string& option) {
  return verb.count(option) == 0 ? "" : verb.get_option(option)->as<std::string>();
}

OutputFormat format_of(const CLI::App& verb) {
  return text_of(verb, "--format") == "json" ? OutputFormat::kJson : OutputFormat::kTable;
}

void add_gpu_option(CLI::App& verb, bool is_required) {
  verb.add_option("--gpu", "The GPU model, or a unique prefix of it: A100-80GB, H200, RTX")
      ->type_name("NAME")
      ->required(is_required);
}

void add_format_option(CLI::App& verb) {
  verb.add_option("--format", "table (default) or json")->type_name("WORD")->check(CLI::IsMember({"table", "json"}));
}

void add_rules_options(CLI::App& verb) {
  CLI::Option* all = verb.add_flag("--all-profiles")->description("Use every profile, not only the plain ones");
  verb.add_option("--profiles", "Use these profiles, such as 1g.10gb,3g.40gb")
      ->type_name("A,B")
      ->delimiter(',')
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->excludes(all);
  verb.add_flag("--before-r510")
      ->description("With the rule of drivers before R510: no 4g together with 3g (A100 only)");
}

MigRulesOptions rules_of(const CLI::App& verb) {
  MigRulesOptions rules;
  rules.has_all_profiles = verb.count("--all-profiles") > 0;
  if (verb.count("--profiles") > 0) rules.profiles = verb.get_option("--profiles")->as<std::vector<std::string>>();
  rules.is_before_r510 = verb.count("--before-r510") > 0;
  return rules;
}

void add_profiles(CLI::App& mig, VerbContext& context) {
  CLI::App* verb =
      mig.add_subcommand("profiles", "Every profile of a GPU: places, SMs, memory; ? marks unverified values");
  add_gpu_option(*verb, true);
  add_format_option(*verb);
  verb->callback([verb, &context] {
    finish(context, mig_profiles_report({.gpu = text_of(*verb, "--gpu"), .format = format_of(*verb)}));
  });
}

void add_layouts(CLI::App& mig, VerbContext& context) {
  CLI::App* verb = mig.add_subcommand(
      "layouts", "The maximal layouts of a GPU (to which nothing can be added), and the number of states");
  add_gpu_option(*verb, true);
  add_rules_options(*verb);
  add_format_option(*verb);
  verb->callback([verb, &context] {
    finish(context,
           mig_layouts_report({.gpu = text_of(*verb, "--gpu"), .rules = rules_of(*verb), .format = format_of(*verb)}));
  });
}

void add_fits(CLI::App& mig, VerbContext& context) {
  CLI::App* verb = mig.add_subcommand("fits", "What can be added to a state of a GPU, and where");
  add_gpu_option(*verb, true);
  verb->add_option("--state", "Instances and their starts, such as 3g.40gb@4,1g.10gb@0; default: empty")
      ->type_name("STATE");
  add_rules_options(*verb);
  add_format_option(*verb);
  verb->callback([verb, &context] {
    finish(context, mig_fits_report({.gpu = text_of(*verb, "--gpu"),
                                     .state = text_of(*verb, "--state"),
                                     .rules = rules_of(*verb),
                                     .format = format_of(*verb)}));
  });
}

void add_import(CLI::App& mig, VerbContext& context) {
  CLI::App* verb = mig.add_subcommand("import", "Read a mig-parted file and print the places of its instances");
  verb->add_option("FILE", "The file (version v1)")->required();
  add_gpu_option(*verb, false);
  verb->add_option("--config", "One label of the file; default: all")->type_name("LABEL");
  verb->add_flag("--skip-other-gpus")
      ->description("Leave out entries with profiles of other GPUs instead of refusing the file");
  add_format_option(*verb);
  verb->callback([verb, &context] {
    finish(context, mig_import_report({.path = text_of(*verb, "FILE"),
                                       .gpu = text_of(*verb, "--gpu"),
                                       .label = text_of(*verb, "--config"),
                                       .skips_other_gpus = verb->count("--skip-other-gpus") > 0,
                                       .format = format_of(*verb)},
                                      *context.files));
  });
}

void add_export(CLI::App& mig, VerbContext& context) {
  CLI::App* verb = mig.add_subcommand("export", "Write a state, or every label that mig-parted generates, as its file");
  add_gpu_option(*verb, true);
  CLI::Option* all = verb->add_flag("--all")->description("all-disabled, all-enabled, all-PROFILE and all-balanced");
  CLI::Option* state = verb->add_option("--state", "Instances and their starts, such as 3g.40gb@4,1g.10gb@0");
  state->type_name("STATE")->excludes(all);
  verb->add_option("--name", "The label; default: current")->type_name("LABEL")->excludes(all);
  verb->callback([verb, &context] {
    MigExportOptions options = {.gpu = text_of(*verb, "--gpu"),
                                .state = text_of(*verb, "--state"),
                                .label = "current",
                                .has_all_labels = verb->count("--all") > 0};
    if (verb->count("--name") > 0) options.label = text_of(*verb, "--name");
    if (!options.has_all_labels && verb->count("--state") == 0) throw CLI::RequiredError("--state or --all");
    finish(context, mig_export_report(options));
  });
}

}  // namespace

void add_mig_verb(CLI::App& app, VerbContext& context) {
  CLI::App* mig = app.add_subcommand("mig", kMigHelp);
  mig->require_subcommand(1);
  mig->footer(kMigExamples);
  add_profiles(*mig, context);
  add_layouts(*mig, context);
  add_fits(*mig, context);
  add_import(*mig, context);
  add_export(*mig, context);
}

}  // namespace berth::cli
