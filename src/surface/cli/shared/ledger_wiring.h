/// The options of verbs that read a ledger, connected with the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "surface/cli/shared/ledger_words.h"

namespace berth::cli {

/// `words` must outlive the parsing.
inline void add_ledger_options(CLI::App& verb, LedgerWords& words) {
  verb.add_option("--events", words.events, "A file of events, one JSON object per line")->type_name("FILE");
  verb.add_option("--ledger", words.ledger, "A ledger on disk (berth ledger ingest)")->type_name("DIR");
  verb.add_option("--refused", words.refused, "Write the lines that had no effect to this file, with the reason")
      ->type_name("FILE");
}

}  // namespace berth::cli
