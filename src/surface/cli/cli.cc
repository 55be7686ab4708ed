#include "surface/cli/cli.h"

#include <exception>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr int kStatusFailed = 1;

constexpr const char* kProgramHelp =
    "Plans how the GPUs of a fleet are partitioned and which service runs where; replays arrivals to show what plans "
    "give.";

constexpr const char* kFirstSteps =
    "Begin with one of these:\n"
    "  berth up                       a demo on simulated GPUs, with a page\n"
    "  berth up --world local         this machine's GPUs, watched, not changed\n"
    "  berth mig layouts --gpu H100-80GB-SXM5\n"
    "                                 how one of your GPUs can be partitioned\n"
    "  berth pack --help              the fewest GPUs for your models and rates\n"
    "  berth replay --help            what policies give on your recorded load\n"
    "\n"
    "berth --help lists all verbs, berth help VERB describes one.\n";

/// All verbs, in the order of --help.
std::vector<Verb> all_verbs() {
  Verb plan = plan_verb();
  plan.subcommands = client_plan_subcommands();
  std::vector<Verb> verbs = {
      up_verb(),      hands_verb(),    operator_verb(), why_verb(),  config_verb(), journal_verb(),  replay_verb(),
      size_verb(),    std::move(plan), forecast_verb(), mig_verb(),  pack_verb(),   price_verb(),    advise_verb(),
      spot_verb(),    commit_verb(),   scale_verb(),    case_verb(), place_verb(),  schedule_verb(), serve_verb(),
      gateway_verb(), optimize_verb(), profile_verb(),  tier_verb(), warm_verb(),   xid_verb(),      ledger_verb(),
      cost_verb(),    invoice_verb(),  export_verb()};
  for (Verb& verb : client_verbs()) verbs.push_back(std::move(verb));
  return verbs;
}

int run_verbs(std::span<const char* const> arguments, const CliParts& parts) {
  const Program program = {.name = "berth",
                           .help = kProgramHelp,
                           .version = "berth " BERTH_VERSION,
                           .footer = "berth help VERB describes a verb.",
                           .first_steps = kFirstSteps,
                           .verbs = all_verbs()};
  VerbContext context{.in = parts.in,
                      .out = parts.out,
                      .err = parts.err,
                      .status = 0,
                      .files = parts.files,
                      .run_up = parts.run_up,
                      .run_serve = parts.run_serve,
                      .run_gateway = parts.run_gateway,
                      .run_operator = parts.run_operator,
                      .explain_pod = parts.explain_pod,
                      .optimize = parts.optimize,
                      .profile = parts.profile,
                      .make_http_client = parts.make_http_client};
  return run_command_line(program, arguments, context);
}

/// Reports a failure that no verb reported; returns the exit status.
int failed_status(std::FILE* err, const std::string& message) {
  std::fputs(("berth: " + message + "\n").c_str(), err);
  std::fflush(err);
  return kStatusFailed;
}

}  // namespace

int run_cli(int argc, const char* const* argv, const CliParts& parts) {
  try {
    return run_verbs({argv, static_cast<std::size_t>(argc)}, parts);
  } catch (const std::bad_alloc&) {
    return failed_status(parts.err, "out of memory");
  } catch (const std::exception& error) {
    return failed_status(parts.err, error.what());
  }
}

}  // namespace berth::cli
