/// Who has to be at the other end of a connection to a replica.
#pragma once

#include <memory>

#include "domain/ports/http_client.h"
#include "domain/values/endpoints.h"

namespace berth::edges {

/// A replica with a key has to prove that it has it; another one has to be a process of its user, if the table names
/// one. Null: nothing can be checked.
[[nodiscard]] std::shared_ptr<const HttpPeerCheck> peer_of(std::shared_ptr<const Endpoint> replica);

}  // namespace berth::edges
