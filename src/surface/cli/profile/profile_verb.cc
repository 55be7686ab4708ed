#include "surface/cli/profile/book_verbs.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {

Verb profile_verb() {
  return {.name = "profile",
          .help = "What models need on which hardware: measured once, and remembered.",
          .subcommands = profile_book_verbs()};
}

}  // namespace berth::cli
