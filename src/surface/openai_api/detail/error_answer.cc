#include "surface/openai_api/detail/error_answer.h"

#include "base/json/writer.h"

namespace berth::openai::detail {

std::string error_text(const ApiError& error) {
  json::Writer json;
  json.open_object().open_object("error");
  json.key("message").value(error.message);
  json.key("type").value(error.type);
  json.key("param").value(nullptr);
  json.key("code");
  if (error.code.empty()) {
    json.value(nullptr);
  } else {
    json.value(error.code);
  }
  json.close_object().close_object();
  return json.take();
}

HttpResponse error_answer(const ApiError& error) {
  HttpResponse answer{error.status, "application/json", {}, error_text(error) + "\n"};
  if (error.retry_after) {
    const std::int64_t ms = (error.retry_after->count() + 999) / 1000;
    answer.headers.push_back({"retry-after-ms", std::to_string(ms)});
    answer.headers.push_back({"Retry-After", std::to_string((ms + 999) / 1000)});
  }
  if (error.status == 401) answer.headers.push_back({"WWW-Authenticate", "Bearer"});
  return answer;
}

}  // namespace berth::openai::detail
