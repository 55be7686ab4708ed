/// The request to `berth up` from its flags and the configuration file that they name.
#pragma once

#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "live/folder/up_request.h"
#include "surface/cli/shared/up_options.h"

namespace berth::cli {

/// A request, and the words that it was made from.
struct StatedRequest {
  live::UpRequest request;
  UpOptions stated;  ///< the flags, completed from the file
};

/// Flags override the file, if any. Errors: those of the flags and of the file, even in values that a flag overrides.
[[nodiscard]] Result<StatedRequest> read_up_request(const UpOptions& typed, const Files& files);

/// The keys whose reread values do not take effect, in the order of config_keys(); then "manage", the whole list.
[[nodiscard]] std::vector<live::UnappliedKey> find_unapplied(const StatedRequest& running, const StatedRequest& read);

/// Reads the file again. An invalid one is an error.
[[nodiscard]] Result<live::RereadConfig> read_config_again(const UpOptions& typed, const StatedRequest& running,
                                                           const Files& files);

}  // namespace berth::cli
