/// How a server is reached over TLS: whom to trust, and who the client is.
#pragma once

#include <string>

namespace berth::edges {

/// PEM texts are complete, not paths. The defaults are those of the other clients of this folder.
struct ServerAccess {
  std::string authority_pem = {};    ///< who signed the server's certificate; empty: the authorities of the system
  std::string certificate_pem = {};  ///< of the client; empty: none
  std::string key_pem = {};
  bool verifies_server = true;  ///< false: the server's certificate is not checked at all
  /// "HOST:PORT": connects there whatever the URL names, which is then only what the certificate must name.
  std::string connect_to = {};
  std::string proxy = {};  ///< URL; empty: as the environment says, and never for this machine
};

}  // namespace berth::edges
