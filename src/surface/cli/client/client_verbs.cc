#include "surface/cli/client/client_verbs.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "surface/cli/client/act_run.h"
#include "surface/cli/client/apply_run.h"
#include "surface/cli/client/get_run.h"
#include "surface/cli/client/history_run.h"
#include "surface/cli/client/outcome.h"
#include "surface/cli/client/top_run.h"
#include "surface/cli/client/usage_run.h"

namespace berth::cli {
namespace {

constexpr const char* kGroup = "Verbs for a running `berth up`";

constexpr const char* kStatusHelp = R"(
The server is --server or BERTH_SERVER, else the one whose address is in the folder of `berth up`, where the key is.
Exit status: 0 done, 1 failed, 2 wrong words or input, 3 not found, 4 not allowed, 5 conflict, 6 timed out,
7 no server.)";

std::string examples(const char* lines) { return std::string("Examples:\n") + lines + kStatusHelp; }

void add_server_options(CLI::App& verb, ServerWords& words) {
  verb.add_option("--server", words.server, "Address of the server")->envname("BERTH_SERVER")->type_name("URL");
  verb.add_option("--data", words.data, "Folder of the key and the address; default: that of `berth up`")
      ->envname("BERTH_STATE")
      ->type_name("DIR");
  verb.add_option("--timeout", words.timeout, "How long to wait for an answer")
      ->type_name("SECONDS")
      ->capture_default_str();
}

void add_output_option(CLI::App& verb, std::string& output) {
  verb.add_option("-o,--output", output, "table, wide, json, yaml or name")->type_name("WORD")->capture_default_str();
}

void add_tenant_option(CLI::App& verb, std::string& tenant) {
  verb.add_option("-t,--tenant", tenant, "The tenant of services and slices")->type_name("TENANT");
}

void add_file_option(CLI::App& verb, std::vector<std::string>& files, bool is_required) {
  verb.add_option("-f,--filename", files, "A file of objects (YAML or JSON); -: the standard input; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->required(is_required);
}

/// When parsing names the verb, it runs with the words typed.
template <class Words, class Run>
void run_client_verb(CLI::App& verb, VerbContext& context, std::shared_ptr<Words> words, Run run) {
  verb.callback([words = std::move(words), &context, run] { print_outcome(context, run(*words, context)); });
}

void add_apply(CLI::App& app, VerbContext& context) {
  CLI::App* verb =
      app.add_subcommand("apply", "Creates or replaces the tenants and services of a file.")->group(kGroup);
  verb->footer(examples(R"(  berth apply -f service.yaml
  berth get service detector -t vision -o yaml | berth apply -f -

Files that a service names (profile, arrivals) are relative to FILE and sent as rows. With a resourceVersion in the
file, an object that has changed since is a conflict. Prints created, configured or unchanged for each object.
)"));
  const auto words = std::make_shared<ApplyWords>();
  add_file_option(*verb, words->files, true);
  add_server_options(*verb, words->server);
  run_client_verb(*verb, context, words, run_apply);
}

void add_get(CLI::App& app, VerbContext& context) {
  CLI::App* verb =
      app.add_subcommand("get", "Lists tenants, services, nodes, gpus, slices or plans, or prints one.")->group(kGroup);
  verb->footer(examples(R"(  berth get services
  berth get service detector -t vision -o yaml
  berth get gpus -o wide
)"));
  const auto words = std::make_shared<GetWords>();
  verb->add_option("KIND", words->kind, "tenants, services, nodes, gpus, slices, plans or faults; also in the singular")
      ->required();
  verb->add_option("NAME", words->name, "The name of one");
  add_tenant_option(*verb, words->tenant);
  add_output_option(*verb, words->output);
  add_server_options(*verb, words->server);
  run_client_verb(*verb, context, words, run_get);
}

void add_describe(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("describe", "Prints one object with everything about it.")->group(kGroup);
  verb->footer(examples(R"(  berth describe service detector -t vision
  berth describe gpu gpu-3
  berth describe node node-0
)"));
  const auto words = std::make_shared<GetWords>();
  verb->add_option("KIND", words->kind, "service, gpu, node, plan, tenant or slice")->required();
  verb->add_option("NAME", words->name, "The name")->required();
  add_tenant_option(*verb, words->tenant);
  add_output_option(*verb, words->output);
  add_server_options(*verb, words->server);
  run_client_verb(*verb, context, words, run_describe);
}

void add_delete(CLI::App& app, VerbContext& context) {
  CLI::App* verb =
      app.add_subcommand("delete", "Deletes a service or a tenant, or the objects of a file.")->group(kGroup);
  verb->footer(examples(R"(  berth delete service detector -t vision
  berth delete tenant vision
  berth delete -f service.yaml
)"));
  const auto words = std::make_shared<DeleteWords>();
  verb->add_option("KIND", words->kind, "service or tenant");
  verb->add_option("NAME", words->name, "The name");
  add_tenant_option(*verb, words->tenant);
  add_file_option(*verb, words->files, false);
  add_server_options(*verb, words->server);
  run_client_verb(*verb, context, words, run_delete);
}

void add_top(CLI::App& app, VerbContext& context) {
  CLI::App* verb =
      app.add_subcommand("top", "Shows GPUs and services with the figures of the last minute.")->group(kGroup);
  verb->footer(examples("  berth top\n  berth top --once\n"));
  const auto words = std::make_shared<TopWords>();
  verb->add_flag("--once", words->is_once, "Print once; otherwise each second, if the output is a terminal");
  add_server_options(*verb, words->server);
  verb->callback([words, &context] { run_top(*words, context); });
}

void add_usage(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("usage", "Lists who held which slice from when to when.")->group(kGroup);
  verb->footer(examples(R"(  berth usage
  berth usage --from 2026-11-22T10:00:00Z --to 2026-11-22T11:00:00Z --format csv

Times are those of the world. Intervals that reach beyond are cut. Units that nobody holds are listed, too.
)"));
  const auto words = std::make_shared<UsageWords>();
  verb->add_option("--from", words->from, "RFC 3339; default: since the world began")->type_name("TIME");
  verb->add_option("--to", words->to, "RFC 3339; default: until now")->type_name("TIME");
  verb->add_option("--format", words->format, "table, json or csv")->type_name("WORD")->capture_default_str();
  add_server_options(*verb, words->server);
  run_client_verb(*verb, context, words, run_usage);
}

void add_schedule(CLI::App& app, VerbContext& context, const std::string& action, const std::string& help) {
  CLI::App* verb = app.add_subcommand(action, help)->group(kGroup);
  const std::string reason = action == "uncordon" ? "" : " --reason \"fan replaced\"";
  verb->footer(
      examples(("  berth " + action + " gpu-3" + reason + "\n  berth " + action + " node-0" + reason + "\n").c_str()));
  const auto words = std::make_shared<ScheduleWords>();
  words->action = action;
  verb->add_option("GPU|NODE", words->target, "gpu-3 or node-0")->required();
  verb->add_option("--reason", words->reason, "Why: 1 to 500 characters")
      ->type_name("TEXT")
      ->required(action != "uncordon");
  add_server_options(*verb, words->server);
  run_client_verb(*verb, context, words, run_cordon);
}

void add_sim(CLI::App& app, VerbContext& context) {
  CLI::App* sim = app.add_subcommand("sim", "Faults of the simulated world.")->group(kGroup);
  sim->require_subcommand(1);
  CLI::App* fault = sim->add_subcommand("fault", "Makes something of the simulated world fail.");
  fault->footer(examples(R"(  berth sim fault lose gpu-3
  berth sim fault return gpu-3
  berth sim fault fail_create node-0 --times 2
  berth sim fault slow gpu-0 --seconds 60
  berth sim fault clear all
)"));
  const auto words = std::make_shared<FaultWords>();
  fault
      ->add_option("KIND", words->kind,
                   "lose, return, fail_create, fail_destroy, slow, reports_failure, foreign_slice or clear")
      ->required();
  fault->add_option("GPU|NODE", words->target, "gpu-3 or node-0; for clear also all")->required();
  fault->add_option("--gpus", words->gpus, "How many GPUs, from there on")->type_name("N");
  fault->add_option("--times", words->times, "How many actions")->type_name("N");
  fault->add_option("--seconds", words->seconds, "How long each action takes (slow)")->type_name("S");
  fault->add_option("--profile", words->profile, "Of the slice (foreign_slice)")->type_name("NAME");
  fault->add_option("--start", words->start, "Where the slice begins (foreign_slice)")->type_name("N");
  add_server_options(*fault, words->server);
  run_client_verb(*fault, context, words, run_fault);
  CLI::App* faults = sim->add_subcommand("faults", "Lists the faults that still wait.");
  faults->footer(examples("  berth sim faults\n"));
  const auto list_words = std::make_shared<FaultsWords>();
  add_output_option(*faults, list_words->output);
  add_server_options(*faults, list_words->server);
  run_client_verb(*faults, context, list_words, run_faults);
}

/// `plan show|history|approve`, which have the same words.
template <class Run>
void add_plan_part(CLI::App& plan, VerbContext& context, const std::string& name, const std::string& help, Run run) {
  CLI::App* verb = plan.add_subcommand(name, help);
  verb->footer(examples(("  berth plan " + name + "\n").c_str()));
  const auto words = std::make_shared<PlanShowWords>();
  if (name != "history") verb->add_option("ID", words->id, "plan-7, or 7; default: the current plan");
  if (name != "approve") add_output_option(*verb, words->output);
  add_server_options(*verb, words->server);
  run_client_verb(*verb, context, words, run);
}

void add_pause(CLI::App& plan, VerbContext& context, bool is_paused) {
  CLI::App* verb = is_paused ? plan.add_subcommand("pause", "Pauses planning: running actions continue, none begins.")
                             : plan.add_subcommand("resume", "Resumes planning.");
  verb->footer(
      examples(is_paused ? "  berth plan pause --reason \"maintenance until 10:00\"\n" : "  berth plan resume\n"));
  const auto words = std::make_shared<PauseWords>();
  words->is_paused = is_paused;
  verb->add_option("--reason", words->reason, "Why: 1 to 500 characters")->type_name("TEXT")->required(is_paused);
  add_server_options(*verb, words->server);
  run_client_verb(*verb, context, words, run_pause);
}

void add_plan_parts(CLI::App& plan, VerbContext& context) {
  add_plan_part(plan, context, "show", "Prints a plan of a running `berth up`, with its actions.", run_plan_show);
  add_plan_part(plan, context, "history",
                "Lists the latest plans, the newest first, with what they promised and what came of it.",
                run_plan_history);
  add_plan_part(plan, context, "approve", "Approves a plan that awaits it.", run_plan_approve);
  add_pause(plan, context, true);
  add_pause(plan, context, false);
}

}  // namespace

void add_client_verbs(CLI::App& app, VerbContext& context) {
  add_apply(app, context);
  add_get(app, context);
  add_describe(app, context);
  add_delete(app, context);
  add_top(app, context);
  add_usage(app, context);
  add_schedule(app, context, "cordon", "Keeps new slices off a GPU or a node; those that stand stay.");
  add_schedule(app, context, "uncordon", "Opens a GPU or a node again.");
  add_schedule(app, context, "drain", "Moves everything off a GPU or a node, and keeps new slices off it.");
  add_sim(app, context);
  add_plan_parts(*app.get_subcommand("plan"), context);
}

}  // namespace berth::cli
