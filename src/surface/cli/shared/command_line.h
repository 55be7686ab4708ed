/// The verbs of the program as values, and how the arguments choose one of them. Knows no verb.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/core/result.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// A verb, or a subcommand of one: `layouts` of `berth mig`.
struct Verb {
  std::string name;
  std::string help;
  std::string examples = {};  ///< after the options; empty: those of the verb of this subcommand
  std::string heading = {};   ///< of the group in the program's help; empty: the usual one
  OptionTable options = {};
  std::function<void(VerbContext&)> run = {};  ///< empty: a subcommand must be named
  std::vector<Verb> subcommands = {};
};

/// `verb` with the options of its words, which are `initial` before the parsing, and with run(words, context) as its
/// action. The verb owns the words, so copies of it share them.
template <class Words, class Run>
[[nodiscard]] Verb with_words(Verb verb, OptionTable (*options)(Words&), Run run, Words initial = {}) {
  const auto words = std::make_shared<Words>(std::move(initial));
  verb.options = options(*words);
  verb.run = [words, run](VerbContext& context) { run(*words, context); };
  return verb;
}

/// The action of most verbs: `check` turns the words into a request, `run` turns it into the text for stdout, and
/// `finish` prints that or the error.
template <class Check, class Run>
[[nodiscard]] auto checked_run(Check check, Run run) {
  return [check, run](const auto& words, VerbContext& context) {
    const auto request = check(words);
    finish(context, request ? run(*request, context) : Result<std::string>(pass_on(request.error())));
  };
}

struct Program {
  std::string name;
  std::string help;
  std::string version;           ///< what --version prints
  std::string footer;            ///< the end of its help
  std::string first_steps = {};  ///< printed if no verb is named: what to type first
  std::vector<Verb> verbs;
};

/// Runs the verb that the arguments name; the first of them is the program's own name. Returns the status that the verb
/// leaves in `context`; 0 after --help or --version; 2 if the arguments are wrong.
[[nodiscard]] int run_command_line(const Program& program, std::span<const char* const> arguments,
                                   VerbContext& context);

}  // namespace berth::cli
