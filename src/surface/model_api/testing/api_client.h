/// Asks a handler without a server: also answers that are given later.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ports/http_server.h"

namespace berth::model_api {

/// A request of that path, whose segments are not encoded.
[[nodiscard]] HttpRequest request_of(std::string_view method, std::string_view path, std::string body = "",
                                     std::vector<HttpField> headers = {});

/// What became of a request.
struct Exchange {
  std::optional<HttpResponse> response = std::nullopt;  ///< nothing: not answered yet
  bool is_dropped = false;                              ///< the reply was destroyed before an answer
  std::function<void()> gone = {};                      ///< call it when the client has left

  [[nodiscard]] int status() const { return response ? response->status : 0; }
  [[nodiscard]] std::string body() const { return response ? response->body : ""; }
  /// The value of a header of the answer; empty if it is absent.
  [[nodiscard]] std::string header(std::string_view name) const;
};

/// Asks, and returns `exchange`; what is answered later is put into it when it comes.
std::shared_ptr<Exchange> ask(HttpHandler& handler, const HttpRequest& request,
                              std::shared_ptr<Exchange> exchange = std::make_shared<Exchange>());

}  // namespace berth::model_api
