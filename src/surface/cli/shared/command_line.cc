#include "surface/cli/shared/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "base/core/text.h"
#include "surface/cli/shared/help_text.h"
#include "surface/cli/shared/printable.h"

namespace berth::cli {
namespace {

/// The exit status if the arguments are wrong.
constexpr int kStatusWrongArguments = 2;

void print_now(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

/// A validator for CLI11 that replaces any word with that of a set flag. Returns no message.
std::string set_true(std::string& word) {
  word = "true";
  return {};
}

/// Adds the option of a row, according to the type of its target.
struct OptionAdder {
  CLI::Option* operator()(bool* flag) const { return app.add_flag(row.names, *flag, row.meaning); }
  CLI::Option* operator()(std::string* text) const {
    return app.add_option(row.names, *text, row.meaning)->type_name(row.value)->capture_default_str();
  }
  CLI::Option* operator()(std::optional<std::string>* text) const {
    return app.add_option(row.names, *text, row.meaning)->type_name(row.value);
  }
  CLI::Option* operator()(std::vector<std::string>* list) const {
    return app.add_option(row.names, *list, row.meaning)->type_name(row.value)->allow_extra_args(false);
  }

  CLI::App& app;
  const OptionRow& row;
};

void add_option(CLI::App& app, const OptionRow& row, bool is_required) {
  CLI::Option* option = std::visit(OptionAdder{.app = app, .row = row}, row.target);
  const OptionTraits& traits = row.traits;
  if (is_required) option->required();
  if (traits.is_split) option->delimiter(',');
  if (traits.ignores_value) option->transform(CLI::Validator(set_true, ""));
  if (!traits.environment.empty()) option->envname(std::string(traits.environment));
  if (!traits.excludes.empty()) option->excludes(app.get_option(std::string(traits.excludes)));
  if (!traits.choices.empty()) {
    option->check(CLI::IsMember(std::vector<std::string>(traits.choices.begin(), traits.choices.end())));
  }
  if (row.meaning.empty()) option->group("");
}

/// Runs a verb with subcommands, unless one of them is named. The required options are checked here: CLI11 would
/// require them for the subcommands as well.
void run_without_subcommand(const CLI::App& app, const Verb& verb, VerbContext& context) {
  if (!app.get_subcommands().empty()) return;
  for (const OptionRow& row : verb.options) {
    if (row.traits.is_required && app.count(row.names) == 0) throw CLI::RequiredError(row.names);
  }
  verb.run(context);
}

/// Prints what is assumed about the values of given options.
void print_remarks_on_options(const CLI::App& app, const Verb& verb, const VerbContext& context) {
  std::vector<std::string> remarks;
  for (const OptionRow& row : verb.options) {
    if (row.traits.remark == nullptr || app.count(row.names) == 0) continue;
    for (const std::string& value : app.get_option(row.names)->results()) {
      if (const auto remark = row.traits.remark(value)) remarks.push_back(row.names + ": " + *remark);
    }
  }
  print_warnings(remarks, context.err);
}

void run_verb(const CLI::App& app, const Verb& verb, VerbContext& context) {
  print_remarks_on_options(app, verb, context);
  if (verb.subcommands.empty()) {
    verb.run(context);
  } else {
    run_without_subcommand(app, verb, context);
  }
}

/// Subcommands inherit the settings made before they are added.
void add_verb(CLI::App& parent, const Verb& verb, VerbContext& context) {
  CLI::App* app = parent.add_subcommand(verb.name, verb.help);
  if (!verb.heading.empty()) app->group(verb.heading);
  if (!verb.examples.empty()) app->footer(verb.examples);
  if (!verb.run) app->require_subcommand(1);
  for (const OptionRow& row : verb.options) add_option(*app, row, row.traits.is_required && verb.subcommands.empty());
  for (const Verb& subcommand : verb.subcommands) add_verb(*app, subcommand, context);
  if (!verb.run) return;
  app->callback([app, &verb, &context] { run_verb(*app, verb, context); });
}

/// The error of the first argument, if it should be a verb and is not.
std::optional<std::string> find_wrong_verb(const CLI::App& app, std::span<const char* const> arguments) {
  if (arguments.size() < 2 || arguments[1][0] == '-' || !app.get_subcommands().empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return "wanted a verb, found " + in_quotes(arguments[1]) + spelling_hint(arguments[1], known);
}

/// The error of a word that should be a subcommand and is not: an option of subcommands alone comes with it. Its verb
/// has read it as something else, and complains about the option.
std::optional<std::string> find_wrong_subcommand(const CLI::App& app) {
  if (app.get_subcommands().empty()) return std::nullopt;
  const CLI::App& verb = *app.get_subcommands().front();
  if (!verb.get_subcommands().empty()) return std::nullopt;
  const auto subcommands = verb.get_subcommands([](const CLI::App*) { return true; });
  for (const std::string& extra : verb.remaining()) {
    const std::string option = extra.substr(0, extra.find('='));
    if (!option.starts_with('-')) continue;
    std::vector<std::string> names;
    for (const CLI::App* each : subcommands) {
      if (each->get_option_no_throw(option) != nullptr) names.push_back(each->get_name());
    }
    for (const CLI::Option* word : verb.get_options([](const CLI::Option* each) { return each->get_positional(); })) {
      if (names.empty() || word->count() == 0) continue;
      const std::vector<std::string_view> known(names.begin(), names.end());
      return fmt::format("wanted with {} one of {}, found {}{}", option, fmt::join(names, ", "),
                         in_quotes(word->results().front()), spelling_hint(word->results().front(), known));
    }
  }
  return std::nullopt;
}

/// `berth help VERB` is `berth VERB --help`, and `berth help` is `berth --help`.
std::vector<const char*> without_help_verb(std::span<const char* const> arguments) {
  std::vector<const char*> wanted(arguments.begin(), arguments.end());
  if (wanted.size() < 2 || std::string_view(wanted[1]) != "help") return wanted;
  wanted.erase(wanted.begin() + 1);
  wanted.push_back("--help");
  return wanted;
}

/// Parses the arguments, which runs the named verb. The status if parsing already decides it (help, version, bad
/// options).
std::optional<int> parse_arguments(CLI::App& app, std::span<const char* const> arguments, const VerbContext& context,
                                   std::string_view first_steps) {
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::CallForVersion& version) {
    print_now(context.out, std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::CallForHelp&) {
    if (const auto wrong = find_wrong_verb(app, arguments)) {
      print_now(context.err, printable_lines("berth: " + *wrong + "\nSee: berth --help\n"));
      return kStatusWrongArguments;
    }
    print_now(context.out, wrapped_help(app.help()));
    return 0;
  } catch (const CLI::ParseError& error) {
    const auto verbs = app.get_subcommands();
    const std::string verb = verbs.empty() ? "" : " " + verbs.front()->get_name();
    const std::string what =
        find_wrong_verb(app, arguments).value_or(find_wrong_subcommand(app).value_or(error.what()));
    print_now(context.err, printable_lines("berth: " + what + "\nSee: berth" + verb + " --help\n"));
    return kStatusWrongArguments;
  }
  if (!app.get_subcommands().empty()) return std::nullopt;
  print_now(context.err, "berth: wanted a verb, found none\n\n" + std::string(first_steps));
  return kStatusWrongArguments;
}

}  // namespace

int run_command_line(const Program& program, std::span<const char* const> arguments, VerbContext& context) {
  CLI::App app(program.help, program.name);
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", program.version);
  app.footer(program.footer);
  for (const Verb& verb : program.verbs) add_verb(app, verb, context);
  const std::vector<const char*> wanted = without_help_verb(arguments);
  return parse_arguments(app, wanted, context, program.first_steps).value_or(context.status);
}

}  // namespace berth::cli
