/// Whom to ask, and as whom.
#pragma once

#include <string>

namespace berth::kube {

/// Everything that a client needs. PEM texts are complete; paths of tokens are read again, because tokens expire.
struct Access {
  std::string server;           ///< "https://10.0.0.1:6443", without a slash at its end
  std::string authority_pem;    ///< who signed the server's certificate; empty: the authorities of the system
  std::string certificate_pem;  ///< of the client; empty: none
  std::string key_pem;          ///< its key
  std::string token;            ///< empty: none, or in `token_path`
  std::string token_path;       ///< empty: `token` does not change
  std::string server_name;      ///< for the check of the server's certificate; empty: the host in `server`
  std::string proxy;            ///< URL; empty: none
  bool verifies_server = true;
  std::string namespace_name;  ///< of the context; empty: none
  std::string source;          ///< where it was found, for messages
};

}  // namespace berth::kube
