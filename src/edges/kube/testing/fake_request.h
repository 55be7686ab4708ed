/// A request to the fake API server: read from a socket, and what it names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "edges/kube/testing/fake_api_server.h"

namespace berth::edges::testing {

struct FakeRequest {
  std::string method;
  std::string target;
  std::string token;
  std::string content_type;
  std::string body;
};

struct FakePlace {
  std::string collection;  ///< of all namespaces: "/api/v1/pods"
  kube::ObjectName name;   ///< without a name: the collection
  std::string subresource;
  std::map<std::string, std::string> fields;

  /// The value of a field of the query; empty if there is none.
  [[nodiscard]] std::string_view query(const std::string& key) const {
    const auto found = fields.find(key);
    return found == fields.end() ? std::string_view() : std::string_view(found->second);
  }
};

struct FakeApiServer::Request : FakeRequest {};
struct FakeApiServer::Place : FakePlace {};

/// The next request; nothing if the client has gone. `received` keeps what is behind it.
[[nodiscard]] std::optional<FakeRequest> receive_request(int connection, std::string& received);
[[nodiscard]] FakePlace place_of(const std::string& target);

}  // namespace berth::edges::testing
