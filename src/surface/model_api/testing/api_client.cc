#include "surface/model_api/testing/api_client.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/core/ensure.h"

namespace berth::model_api {
namespace {

class ExchangeReply final : public HttpLateReply {
 public:
  explicit ExchangeReply(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ExchangeReply(const ExchangeReply&) = delete;
  ExchangeReply& operator=(const ExchangeReply&) = delete;
  ~ExchangeReply() override { exchange_->is_dropped = !exchange_->response.has_value(); }

  void send(HttpResponse response) override {
    if (!exchange_->response) exchange_->response = std::move(response);
  }
  void on_gone(std::function<void()> gone) override { exchange_->gone = std::move(gone); }

 private:
  std::shared_ptr<Exchange> exchange_;
};

}  // namespace

HttpRequest request_of(std::string_view method, std::string_view path, std::string body,
                       std::vector<HttpField> headers) {
  HttpRequest request;
  request.method = method;
  if (path == "/") path = "";
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    request.path.emplace_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  request.headers = std::move(headers);
  request.body = std::move(body);
  return request;
}

std::string Exchange::header(std::string_view name) const {
  if (!response) return "";
  return std::string(find_header(response->headers, name).value_or(""));
}

std::shared_ptr<Exchange> ask(HttpHandler& handler, const HttpRequest& request, std::shared_ptr<Exchange> exchange) {
  HttpAnswer answer = handler.answer(request);
  if (auto* const response = std::get_if<HttpResponse>(&answer)) {
    exchange->response = std::move(*response);
    return exchange;
  }
  auto* const later = std::get_if<HttpLater>(&answer);
  ENSURE(later != nullptr);
  later->start(std::make_unique<ExchangeReply>(exchange));
  return exchange;
}

}  // namespace berth::model_api
