/// Finds an object by its name alone.
#pragma once

#include <string>

#include "surface/cli/client/kinds.h"

namespace berth::cli {

/// The one object with that name, whatever its kind; a service may be named TENANT/NAME, and `tenant` limits it to that
/// tenant's services and slices. Errors: kNotFound, kBadInput if several objects have the name, and those of requests.
[[nodiscard]] ClientResult<Selection> find_named(const Client& client, const std::string& name,
                                                 const std::string& tenant);

}  // namespace berth::cli
