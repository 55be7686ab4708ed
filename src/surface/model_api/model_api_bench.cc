// What the HTTP side of a request costs without server and engine: routing, reading the body, writing the answer.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "surface/model_api/model_api.h"
#include "surface/model_api/testing/api_client.h"
#include "surface/model_api/testing/fake_inference_service.h"

namespace berth::model_api {
namespace {

serving::InferAnswer ten_numbers() {
  return {.model = "digits",
          .version = "1",
          .id = "",
          .outputs = {
              {.name = "Y", .type = TensorType::kFp32, .shape = {1, 10}, .bytes = std::string(40, '>'), .texts = {}}}};
}

/// 784 FP32 as binary data, ten in JSON back.
void answer_binary_request(benchmark::State& state) {
  FakeInferenceService service;
  service.answer_now = ten_numbers();
  ModelApi api(service);
  std::string body =
      R"({"inputs":[{"name":"X","shape":[1,784],"datatype":"FP32","parameters":{"binary_data_size":3136}}]})";
  const std::string length = fmt::to_string(body.size());
  body.append(3136, 'x');
  const HttpRequest request = request_of("POST", "/v2/models/digits/infer", body,
                                         {{"Host", "localhost"},
                                          {"Inference-Header-Content-Length", length},
                                          {"Content-Length", fmt::to_string(body.size())}});
  for (auto _ : state) {
    benchmark::DoNotOptimize(ask(api, request));
    service.requests.clear();
  }
}

BENCHMARK(answer_binary_request);

}  // namespace
}  // namespace berth::model_api
