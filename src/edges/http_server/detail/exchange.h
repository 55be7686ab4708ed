/// One request while it arrives: what is known of it, and whether it will be refused.
#pragma once

#include <microhttpd.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "edges/http_server/detail/late_answers.h"
#include "edges/http_server/http_server.h"
#include "ports/http_server.h"

namespace berth::edges::detail {

/// What to do with a request after its headers, or after a part of its body.
enum class Progress {
  kRead,    ///< read the rest of the body
  kRefuse,  ///< answer now and close the connection
  kClose,   ///< close the connection without an answer
};

class Exchange {
 public:
  Exchange(const HttpServerOptions& options, std::string_view target) : options_(options), target_(target) {}

  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Takes the headers. `is_surplus`: the connection is one too many.
  [[nodiscard]] Progress begin(MHD_Connection& connection, const char* method, std::string_view version,
                               bool is_surplus);
  [[nodiscard]] Progress take_body(std::string_view part);

  [[nodiscard]] const HttpRequest& request() const { return request_; }
  [[nodiscard]] bool is_head() const { return is_head_; }
  [[nodiscard]] const std::optional<HttpRefusal>& refusal() const { return refusal_; }

  /// Null until the handler has said that it answers later.
  [[nodiscard]] LateAnswer* late_answer() const { return late_answer_.get(); }
  void set_late_answer(std::shared_ptr<LateAnswer> answer) { late_answer_ = std::move(answer); }

 private:
  /// The first fault counts.
  void refuse(HttpFault fault, int status, std::string message);
  void check_target();
  void check_headers(MHD_Connection& connection, std::string_view version);
  [[nodiscard]] Progress check_length();
  void refuse_body();

  const HttpServerOptions& options_;
  std::string target_;
  HttpRequest request_;
  std::optional<HttpRefusal> refusal_;
  std::shared_ptr<LateAnswer> late_answer_;
  bool has_begun_ = false;
  bool is_head_ = false;
  std::size_t body_bytes_ = 0;  ///< received, kept or not
};

}  // namespace berth::edges::detail
