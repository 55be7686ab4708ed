/// The one way in which a verb without subcommands is connected with the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "base/core/result.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// When parsing names `verb`: `check` makes a request of the words typed, `run` turns it into the text for stdout, and
/// `finish` prints that or the error. `context` must outlive the parsing.
template <class Words, class Check, class Run>
void run_when_named(CLI::App& verb, VerbContext& context, std::shared_ptr<Words> words, Check check, Run run) {
  verb.callback([words = std::move(words), &context, check, run] {
    const auto request = check(*words);
    finish(context, request ? run(*request, context) : Result<std::string>(pass_on(request.error())));
  });
}

}  // namespace berth::cli
