#include "surface/cli/cli.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/text.h"
#include "surface/cli/advise/advise_verb.h"
#include "surface/cli/case/case_verb.h"
#include "surface/cli/client/client_verbs.h"
#include "surface/cli/commit/commit_verb.h"
#include "surface/cli/config/config_verb.h"
#include "surface/cli/cost/cost_verb.h"
#include "surface/cli/export/export_verb.h"
#include "surface/cli/forecast/forecast_verb.h"
#include "surface/cli/hands/hands_verb.h"
#include "surface/cli/invoice/invoice_verb.h"
#include "surface/cli/journal/journal_verb.h"
#include "surface/cli/ledger/ledger_verb.h"
#include "surface/cli/mig/mig_verb.h"
#include "surface/cli/pack/pack_verb.h"
#include "surface/cli/place/place_verb.h"
#include "surface/cli/plan/plan_verb.h"
#include "surface/cli/price/price_verb.h"
#include "surface/cli/replay/replay_verb.h"
#include "surface/cli/scale/scale_verb.h"
#include "surface/cli/schedule/schedule_verb.h"
#include "surface/cli/size/size_verb.h"
#include "surface/cli/spot/spot_verb.h"
#include "surface/cli/up/up_verb.h"

namespace berth::cli {
namespace {

constexpr int kStatusFailed = 1;
constexpr int kStatusBadInput = 2;

constexpr const char* kProgramHelp =
    "Plans how the GPUs of a fleet are partitioned and which service runs where; replays arrivals to show what plans "
    "give.";

void print(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

/// The verbs, in the order in which --help lists them.
void add_verbs(CLI::App& app, VerbContext& context) {
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "berth " BERTH_VERSION);
  app.footer("berth VERB --help describes a verb.");
  add_up_verb(app, context);
  add_hands_verb(app, context);
  add_config_verb(app, context);
  add_journal_verb(app, context);
  add_replay_verb(app, context);
  add_size_verb(app, context);
  add_plan_verb(app, context);
  add_forecast_verb(app, context);
  add_mig_verb(app, context);
  add_pack_verb(app, context);
  add_price_verb(app, context);
  add_advise_verb(app, context);
  add_spot_verb(app, context);
  add_commit_verb(app, context);
  add_scale_verb(app, context);
  add_case_verb(app, context);
  add_place_verb(app, context);
  add_schedule_verb(app, context);
  add_ledger_verb(app, context);
  add_cost_verb(app, context);
  add_invoice_verb(app, context);
  add_export_verb(app, context);
  add_client_verbs(app, context);
}

/// The words, if their first one was to be a verb.
std::optional<std::string> find_wrong_verb(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-' || !app.get_subcommands().empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return "wanted a verb, found " + in_quotes(argv[1]) + spelling_hint(argv[1], known);
}

/// Parses, which runs the verb that is named. The status if parsing already decides it (help, version, bad options).
std::optional<int> parse(CLI::App& app, int argc, const char* const* argv, const CliParts& parts) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    print(parts.out, std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::CallForHelp&) {
    print(parts.out, app.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    const auto verbs = app.get_subcommands();
    const std::string verb = verbs.empty() ? "" : " " + verbs.front()->get_name();
    const std::string what = find_wrong_verb(app, argc, argv).value_or(error.what());
    print(parts.err, "berth: " + what + "\nSee: berth" + verb + " --help\n");
    return kStatusBadInput;
  }
  if (!app.get_subcommands().empty()) return std::nullopt;
  print(parts.err, "berth: wanted a verb, found none\n\n" + app.help());
  return kStatusBadInput;
}

int run_verbs(int argc, const char* const* argv, const CliParts& parts) {
  CLI::App app(kProgramHelp, "berth");
  VerbContext context{.in = parts.in,
                      .out = parts.out,
                      .err = parts.err,
                      .status = 0,
                      .files = parts.files,
                      .reports = parts.reports,
                      .start_server = parts.start_server,
                      .make_http_client = parts.make_http_client};
  add_verbs(app, context);
  return parse(app, argc, argv, parts).value_or(context.status);
}

}  // namespace

int run_cli(int argc, const char* const* argv, const CliParts& parts) {
  try {
    return run_verbs(argc, argv, parts);
  } catch (const std::bad_alloc&) {
    print(parts.err, "berth: out of memory\n");
  } catch (const std::exception& error) {
    print(parts.err, std::string("berth: ") + error.what() + "\n");
  }
  return kStatusFailed;
}

}  // namespace berth::cli
