/// The states by which `get --phase` selects objects.
#pragma once

#include <string>
#include <vector>

#include "surface/cli/client/kinds.h"
#include "surface/cli/client/outcome.h"

namespace berth::cli {

/// The phases as typed, in any case of their letters, as the words that the tables show in lower case. Errors
/// (kBadInput): a kind without phases, a word that is no phase of the kind.
[[nodiscard]] ClientResult<std::vector<std::string>> check_phases(Kind kind, const std::vector<std::string>& phases);
/// Keeps the objects that are in one of the phases: of services and plans their phase, of slices their state, of GPUs
/// and nodes their health or what they are open to. No phases: all objects.
void keep_phases(Kind kind, const std::vector<std::string>& phases, std::vector<yaml::Node>& objects);

}  // namespace berth::cli
