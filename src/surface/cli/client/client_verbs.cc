#include <optional>
#include <string>
#include <vector>

#include "surface/cli/client/act_run.h"
#include "surface/cli/client/apply_run.h"
#include "surface/cli/client/get_run.h"
#include "surface/cli/client/history_run.h"
#include "surface/cli/client/logs_run.h"
#include "surface/cli/client/outcome.h"
#include "surface/cli/client/ready_run.h"
#include "surface/cli/client/top_run.h"
#include "surface/cli/client/usage_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kClientHeading = "Verbs for a running `berth up`";

constexpr const char* kStatusHelp = R"(
The server is --server or BERTH_SERVER, else the one whose address is in the folder of `berth up`, where the key is.
Exit status: 0 done, 1 failed, 2 wrong words or input, 3 not found, 4 not allowed, 5 conflict, 6 timed out,
7 no server.)";

constexpr const char* kApplyExamples = R"(  berth apply -f service.yaml
  berth get service detector -t vision -o yaml | berth apply -f -

Files that a service names (profile, arrivals) are relative to FILE and sent as rows. With a resourceVersion in the
file, an object that has changed since is a conflict. Prints created, configured or unchanged for each object.
)";

constexpr const char* kGetExamples = R"(  berth get services
  berth get service detector -t vision -o yaml
  berth get gpus -o wide
  berth get services --phase waiting,starting
  berth get events -w
  berth get all
)";

constexpr const char* kDescribeExamples = R"(  berth describe service detector -t vision
  berth describe service/vision/detector
  berth describe gpu-3
  berth describe node node-0
)";

constexpr const char* kDeleteExamples = R"(  berth delete service detector -t vision
  berth delete tenant vision
  berth delete -f service.yaml
)";

constexpr const char* kUsageExamples = R"(  berth usage
  berth usage --from 2026-11-22T10:00:00Z --to 2026-11-22T11:00:00Z --format csv

Times are those of the world. Intervals that reach beyond are cut. Units that nobody holds are listed, too.
)";

constexpr const char* kFaultExamples = R"(  berth sim fault lose gpu-3
  berth sim fault return gpu-3
  berth sim fault fail_create node-0 --times 2
  berth sim fault slow gpu-0 --seconds 60
  berth sim fault serving vision/detector --factor 1.3 --jitter 0.2
  berth sim fault clear all
)";

std::string examples(const std::string& lines) { return "Examples:\n" + lines + kStatusHelp; }

/// `rows`, and the options that all these verbs have.
OptionTable with_server(const OptionTable& rows, ServerWords& words) {
  constexpr OptionTraits kServer = {.environment = "BERTH_SERVER"};
  constexpr OptionTraits kState = {.environment = "BERTH_STATE"};
  return joined_rows(
      {rows,
       {
           {"--server", "URL", "Address of the server", &words.server, kServer},
           {"--data", "DIR", "Folder of the key and the address; default: that of `berth up`", &words.data, kState},
           {"--timeout", "SECONDS", "How long to wait for an answer", &words.timeout},
       }});
}

OptionRow output_row(std::string& output) {
  return {"-o,--output", "WORD", "table, wide, json, yaml or name", &output};
}

OptionRow tenant_row(std::string& tenant) {
  return {"-t,--tenant", "TENANT", "The tenant of services and slices", &tenant};
}

OptionRow files_row(std::vector<std::string>& files, const OptionTraits& traits = {}) {
  return {"-f,--filename", "FILE", "A file of objects (YAML or JSON); -: the standard input; may be repeated", &files,
          traits};
}

OptionRow reason_row(std::optional<std::string>& reason, bool is_required) {
  return {"--reason", "TEXT", "Why: 1 to 500 characters", &reason, is_required ? kRequired : OptionTraits()};
}

OptionTable apply_option_rows(ApplyWords& words) {
  return with_server({files_row(words.files, kRequired)}, words.server);
}

OptionTable get_option_rows(GetWords& words) {
  return with_server(
      {
          {"KIND", "TEXT",
           "tenants, services, nodes, gpus, slices, plans, faults, events (also in the singular), calibration or "
           "warm; all; or KIND/NAME",
           &words.kind, kRequired},
          {"NAME", "TEXT", "The name of one", &words.name},
          tenant_row(words.tenant),
          {"-A,--all-tenants", "", "The services and slices of all tenants, which is the default",
           &words.has_all_tenants},
          {"--phase",
           "WORD",
           "Only those in this phase (services, plans) or state (slices, gpus, nodes); may be repeated",
           &words.phases,
           {.is_split = true}},
          {"-w,--watch", "", "Then print what changes, until interrupted", &words.is_watched},
          output_row(words.output),
      },
      words.server);
}

OptionTable describe_option_rows(GetWords& words) {
  return with_server(
      {
          {"KIND", "TEXT", "service, gpu, node, plan, tenant, slice or event; or KIND/NAME, or a name alone",
           &words.kind, kRequired},
          {"NAME", "TEXT", "The name", &words.name},
          tenant_row(words.tenant),
          output_row(words.output),
      },
      words.server);
}

OptionTable delete_option_rows(DeleteWords& words) {
  return with_server(
      {
          {"KIND", "TEXT", "service or tenant; or KIND/NAME", &words.kind},
          {"NAME", "TEXT", "The name", &words.name},
          tenant_row(words.tenant),
          files_row(words.files),
      },
      words.server);
}

OptionTable top_option_rows(TopWords& words) {
  return with_server(
      {
          {"--once", "", "Print once; otherwise each second, if the output is a terminal", &words.is_once},
      },
      words.server);
}

OptionTable logs_option_rows(LogsWords& words) {
  return with_server(
      {
          {"KIND", "TEXT", "service; or service/TENANT/NAME", &words.kind, kRequired},
          {"NAME", "TEXT", "The name of the service", &words.name},
          tenant_row(words.tenant),
      },
      words.server);
}

OptionTable usage_option_rows(UsageWords& words) {
  return with_server(
      {
          {"--from", "TIME", "RFC 3339; default: since the world began", &words.from},
          {"--to", "TIME", "RFC 3339; default: until now", &words.to},
          {"--format", "WORD", "table, json or csv", &words.format},
      },
      words.server);
}

OptionTable cordon_option_rows(ScheduleWords& words) {
  return with_server(
      {
          {"GPU|NODE", "TEXT", "gpu-3 or node-0", &words.target, kRequired},
          reason_row(words.reason, words.action != "uncordon"),
      },
      words.server);
}

OptionTable drain_option_rows(ScheduleWords& words) {
  return joined_rows({cordon_option_rows(words),
                      {
                          {"--wait", "", "Wait until the drain has finished", &words.is_awaited},
                          {"--wait-seconds", "S", "The same, for at most so long (status 6)", &words.wait_seconds},
                      }});
}

OptionTable fault_option_rows(FaultWords& words) {
  return with_server(
      {
          {"KIND", "TEXT",
           "lose, return, fail_create, fail_destroy, slow, reports_failure, foreign_slice, serving or clear",
           &words.kind, kRequired},
          {"TARGET", "TEXT", "gpu-3 or node-0; for serving TENANT/NAME; for clear any of these, or all", &words.target,
           kRequired},
          {"--gpus", "N", "How many GPUs, from there on", &words.gpus},
          {"--times", "N", "How many actions", &words.times},
          {"--seconds", "S", "How long each action takes (slow)", &words.seconds},
          {"--profile", "NAME", "Of the slice (foreign_slice)", &words.profile},
          {"--start", "N", "Where the slice begins (foreign_slice)", &words.start},
          {"--factor", "X", "Time of each batch / the table's (serving): 0.1 to 10", &words.factor},
          {"--jitter", "X", "Each batch takes up to so much more or less (serving): 0 to 1", &words.jitter},
      },
      words.server);
}

OptionTable faults_option_rows(FaultsWords& words) { return with_server({output_row(words.output)}, words.server); }

OptionRow plan_id_row(PlanShowWords& words) {
  return {"ID", "TEXT", "plan-7, or 7; default: the current plan", &words.id};
}

OptionTable plan_show_option_rows(PlanShowWords& words) {
  return with_server(
      {
          plan_id_row(words),
          output_row(words.output),
      },
      words.server);
}

OptionTable plan_history_option_rows(PlanShowWords& words) {
  return with_server({output_row(words.output)}, words.server);
}

OptionTable plan_approve_option_rows(PlanShowWords& words) { return with_server({plan_id_row(words)}, words.server); }

OptionTable ready_option_rows(ReadyWords& words) {
  return with_server({{"--live", "", "Ask only whether it answers", &words.is_live_enough}}, words.server);
}

OptionTable pause_option_rows(PauseWords& words) {
  return with_server({reason_row(words.reason, words.is_paused)}, words.server);
}

/// Prints the outcome of run(words, context).
template <class Run>
auto answered(Run run) {
  return [run](const auto& words, VerbContext& context) { print_outcome(context, run(words, context)); };
}

Verb cordon_verb(const std::string& action, const char* help,
                 OptionTable (*options)(ScheduleWords&) = cordon_option_rows, const char* more_examples = "") {
  const std::string reason = action == "uncordon" ? "" : " --reason \"fan replaced\"";
  return with_words({.name = action,
                     .help = help,
                     .examples = examples("  berth " + action + " gpu-3" + reason + "\n  berth " + action + " node-0" +
                                          reason + "\n" + more_examples),
                     .heading = kClientHeading},
                    options, answered(run_cordon), {.action = action});
}

Verb sim_verb() {
  return {.name = "sim",
          .help = "Faults of the simulated world.",
          .heading = kClientHeading,
          .subcommands = {with_words({.name = "fault",
                                      .help = "Makes something of the simulated world fail.",
                                      .examples = examples(kFaultExamples)},
                                     fault_option_rows, answered(run_fault)),
                          with_words({.name = "faults",
                                      .help = "Lists the faults that still wait.",
                                      .examples = examples("  berth sim faults\n")},
                                     faults_option_rows, answered(run_faults))}};
}

}  // namespace

std::vector<Verb> client_verbs() {
  return {with_words({.name = "apply",
                      .help = "Creates or replaces the tenants and services of a file.",
                      .examples = examples(kApplyExamples),
                      .heading = kClientHeading},
                     apply_option_rows, answered(run_apply)),
          with_words({.name = "get",
                      .help = "Lists tenants, services, nodes, gpus, slices, plans or events, or prints one.",
                      .examples = examples(kGetExamples),
                      .heading = kClientHeading},
                     get_option_rows, answered(run_get)),
          with_words({.name = "describe",
                      .help = "Prints one object with everything about it.",
                      .examples = examples(kDescribeExamples),
                      .heading = kClientHeading},
                     describe_option_rows, answered(run_describe)),
          with_words({.name = "delete",
                      .help = "Deletes a service or a tenant, or the objects of a file.",
                      .examples = examples(kDeleteExamples),
                      .heading = kClientHeading},
                     delete_option_rows, answered(run_delete)),
          with_words({.name = "top",
                      .help = "Shows GPUs and services with the figures of the last minute.",
                      .examples = examples("  berth top\n  berth top --once\n"),
                      .heading = kClientHeading},
                     top_option_rows, run_top),
          with_words({.name = "logs",
                      .help = "Prints the last lines of the programs of a service.",
                      .examples = examples("  berth logs service detector -t vision\n"),
                      .heading = kClientHeading},
                     logs_option_rows, answered(run_logs)),
          with_words({.name = "usage",
                      .help = "Lists who held which slice from when to when.",
                      .examples = examples(kUsageExamples),
                      .heading = kClientHeading},
                     usage_option_rows, answered(run_usage)),
          with_words({.name = "ready",
                      .help = "Asks whether a server is ready; for probes.",
                      .examples = examples("  berth ready\n  berth ready --live\n"),
                      .heading = kClientHeading},
                     ready_option_rows, answered(run_ready)),
          cordon_verb("cordon", "Keeps new slices off a GPU or a node; those that stand stay."),
          cordon_verb("uncordon", "Opens a GPU or a node again."),
          cordon_verb("drain", "Moves everything off a GPU or a node, and keeps new slices off it.", drain_option_rows,
                      "  berth drain gpu-3 --reason \"fan replaced\" --wait\n"),
          sim_verb()};
}

std::vector<Verb> client_plan_subcommands() {
  return {
      with_words({.name = "show",
                  .help = "Prints a plan of a running `berth up`, with its actions.",
                  .examples = examples("  berth plan show\n")},
                 plan_show_option_rows, answered(run_plan_show)),
      with_words({.name = "history",
                  .help = "Lists the latest plans, the newest first, with what they promised and what came of it.",
                  .examples = examples("  berth plan history\n")},
                 plan_history_option_rows, answered(run_plan_history)),
      with_words({.name = "approve",
                  .help = "Approves a plan that awaits it.",
                  .examples = examples("  berth plan approve\n")},
                 plan_approve_option_rows, answered(run_plan_approve)),
      with_words({.name = "pause",
                  .help = "Pauses planning: running actions continue, none begins.",
                  .examples = examples("  berth plan pause --reason \"maintenance until 10:00\"\n")},
                 pause_option_rows, answered(run_pause), {.is_paused = true}),
      with_words({.name = "resume", .help = "Resumes planning.", .examples = examples("  berth plan resume\n")},
                 pause_option_rows, answered(run_pause), {.is_paused = false}),
  };
}

}  // namespace berth::cli
