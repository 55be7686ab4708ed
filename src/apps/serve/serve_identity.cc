#include "apps/serve/serve_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"
#include "base/core/text.h"
#include "serving/replica_proof/replica_proof.h"

namespace berth::serve {
namespace {

constexpr std::size_t kIdentityBytesMax = 256;

Result<std::string> read_variable(const Environment& environment, std::string_view name) {
  const auto value = environment(name);
  if (!value || value->empty()) return std::string();
  const bool is_visible = value->size() <= kIdentityBytesMax &&
                          std::ranges::all_of(*value, [](char each) { return each > ' ' && each <= '~'; });
  if (is_visible) return *value;
  return invalid(fmt::format("{}: wanted at most {} visible characters of ASCII", name, kIdentityBytesMax));
}

void add_headers(const std::vector<HttpField>& more, std::vector<HttpField>& headers) {
  headers.insert(headers.end(), more.begin(), more.end());
}

/// Adds headers to an answer that comes later.
class IdentifiedReply final : public HttpLateReply {
 public:
  IdentifiedReply(std::unique_ptr<HttpLateReply> inner, std::vector<HttpField> own)
      : inner_(std::move(inner)), own_(std::move(own)) {}

  void send(HttpResponse response) override {
    add_headers(own_, response.headers);
    inner_->send(std::move(response));
  }
  [[nodiscard]] std::unique_ptr<HttpBodyWriter> begin(HttpBodyHead head, std::function<void()> on_room) override {
    add_headers(own_, head.headers);
    return inner_->begin(std::move(head), std::move(on_room));
  }
  void on_gone(std::function<void()> gone) override { inner_->on_gone(std::move(gone)); }

 private:
  const std::unique_ptr<HttpLateReply> inner_;
  const std::vector<HttpField> own_;
};

bool is_health(const HttpRequest& request) {
  return request.path.size() >= 2 && request.path[0] == "v2" && request.path[1] == "health";
}

}  // namespace

Result<ServeIdentity> read_identity(const Environment& environment) {
  ServeIdentity identity;
  for (const auto& [name, to] :
       {std::pair("BERTH_SLICE", &identity.slice), std::pair("BERTH_GENERATION", &identity.generation),
        std::pair("BERTH_KEY", &identity.key)}) {
    auto value = read_variable(environment, name);
    if (!value) return pass_on(value.error());
    *to = *std::move(value);
  }
  if (identity.slice.empty() != identity.generation.empty()) {
    return invalid(fmt::format("wanted both BERTH_SLICE and BERTH_GENERATION or neither, found only {}",
                               identity.slice.empty() ? "BERTH_GENERATION" : "BERTH_SLICE"));
  }
  const bool is_number = std::ranges::all_of(identity.generation, [](char each) { return each >= '0' && each <= '9'; });
  if (!is_number) {
    return invalid(fmt::format("BERTH_GENERATION: wanted a whole number, found {}", in_quotes(identity.generation)));
  }
  return identity;
}

IdentifiedHandler::IdentifiedHandler(ServeIdentity identity, HttpHandler& inner)
    : identity_(std::move(identity)),
      inner_(inner),
      token_(identity_.key.empty() ? std::string() : serving::request_token(identity_.key)) {}

bool IdentifiedHandler::has_key(const HttpRequest& request) const {
  if (identity_.key.empty()) return true;
  const std::string_view given = find_header(request.headers, serving::kKeyHeader).value_or("");
  return serving::is_same_secret(given, token_) || serving::is_same_secret(given, identity_.key);
}

std::optional<HttpResponse> IdentifiedHandler::refuse(const HttpRequest& request) {
  const auto refusal = [&](int status, const char* why, std::string message) {
    HttpResponse response = inner_.render({.fault = HttpFault::kMalformedHeaders,
                                           .status = status,
                                           .message = std::move(message),
                                           // Without the key of this server it is nobody's request, and not traced.
                                           .request = status == 401 ? nullptr : &request});
    response.status = status;
    response.headers.push_back({std::string(serving::kRefusedHeader), why});
    return response;
  };
  if (!is_health(request) && !has_key(request)) {
    return refusal(401, "key", "wanted the header berth-key with the key of this server");
  }
  if (is_ending_) return refusal(503, "end", "the server is about to end");
  if (identity_.slice.empty()) return std::nullopt;
  const auto slice = find_header(request.headers, serving::kSliceHeader);
  const auto generation = find_header(request.headers, serving::kGenerationHeader);
  if ((!slice || *slice == identity_.slice) && (!generation || *generation == identity_.generation)) {
    return std::nullopt;
  }
  return refusal(
      421, "replica",
      fmt::format("wanted a request for slice {} of generation {}, found one for {} of {}", identity_.slice,
                  identity_.generation, in_quotes(slice.value_or("any")), in_quotes(generation.value_or("any"))));
}

std::vector<HttpField> IdentifiedHandler::name_headers() const {
  if (identity_.slice.empty()) return {};
  return {{std::string(serving::kSliceHeader), identity_.slice},
          {std::string(serving::kGenerationHeader), identity_.generation}};
}

std::vector<HttpField> IdentifiedHandler::headers_for(const HttpRequest& request) const {
  std::vector<HttpField> headers = name_headers();
  const auto nonce = identity_.key.empty() ? std::nullopt : serving::nonce_in(request.headers);
  if (!nonce) return headers;
  headers.push_back(
      {std::string(serving::kProofHeader),
       serving::replica_proof(
           identity_.key,
           {.nonce = *nonce, .slice = identity_.slice, .generation = identity_.generation, .client = request.peer})});
  return headers;
}

HttpAnswer IdentifiedHandler::answer(const HttpRequest& request) {
  std::vector<HttpField> own = headers_for(request);
  auto refused = refuse(request);
  HttpAnswer answer = refused ? HttpAnswer(*std::move(refused)) : inner_.answer(request);
  if (auto* later = std::get_if<HttpLater>(&answer)) {
    later->start = [own = std::move(own), start = std::move(later->start)](std::unique_ptr<HttpLateReply> reply) {
      start(std::make_unique<IdentifiedReply>(std::move(reply), own));
    };
    return answer;
  }
  std::visit(Overloaded{[&own](auto& whole) { add_headers(own, whole.headers); }, [](HttpLater&) {}}, answer);
  return answer;
}

std::optional<std::size_t> IdentifiedHandler::body_bytes_max(const HttpRequest& request) {
  return refuse(request) ? std::nullopt : inner_.body_bytes_max(request);
}

HttpResponse IdentifiedHandler::render(const HttpRefusal& refusal) {
  HttpResponse response = inner_.render(refusal);
  add_headers(name_headers(), response.headers);
  return response;
}

}  // namespace berth::serve
