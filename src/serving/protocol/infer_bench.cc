// What a request and its answer cost on the way through the protocol, in the form that clients send most, and the copy
// of the same bytes as what no reader can do without.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/json/document.h"
#include "serving/protocol/infer_reader.h"
#include "serving/protocol/infer_writer.h"

namespace berth::serving::protocol {
namespace {

constexpr std::size_t kPixels = 784;  ///< 3,136 bytes of FP32

std::vector<float> pixels() {
  std::vector<float> numbers;
  for (std::size_t i = 0; i < kPixels; ++i) numbers.push_back(std::sin(static_cast<float>(i)));
  return numbers;
}

std::string head_of(std::string_view rest) {
  return fmt::format(R"({{"inputs":[{{"name":"X","shape":[1,{}],"datatype":"FP32",{}}}]}})", kPixels, rest);
}

std::string binary_head() { return head_of(fmt::format(R"("parameters":{{"binary_data_size":{}}})", 4 * kPixels)); }

std::string json_body() {
  std::string data;
  for (const float number : pixels()) data += fmt::format("{}{}", data.empty() ? "" : ",", number);
  return head_of(fmt::format(R"("data":[{}])", data));
}

void read_binary_request(benchmark::State& state) {
  std::string body = binary_head();
  const std::string length = fmt::to_string(body.size());
  const std::vector<float> numbers = pixels();
  body.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
  for (auto _ : state) benchmark::DoNotOptimize(read_infer_request(body, length));
}

void copy_binary_request(benchmark::State& state) {
  const std::string body(binary_head().size() + kPixels * sizeof(float), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(std::string(body));
}

void read_json_request(benchmark::State& state) {
  const std::string body = json_body();
  for (auto _ : state) benchmark::DoNotOptimize(read_infer_request(body, std::nullopt));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

/// The rival: the house's reader of JSON, which makes a tree, before any tensor.
void read_json_tree(benchmark::State& state) {
  const std::string body = json_body();
  for (auto _ : state) benchmark::DoNotOptimize(json::parse_document(body, "body"));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

InferAnswer answer_of(std::size_t count) {
  InferAnswer answer{.model = "mlp", .version = "1", .id = "", .outputs = {}};
  Tensor output{.name = "Y", .type = TensorType::kFp32, .shape = {1, static_cast<std::int64_t>(count)}};
  output.bytes.resize(count * sizeof(float));
  std::memcpy(output.bytes.data(), pixels().data(), output.bytes.size());
  answer.outputs.push_back(std::move(output));
  return answer;
}

void write_answer(benchmark::State& state) {
  const InferAnswer answer = answer_of(static_cast<std::size_t>(state.range(0)));
  const AnswerForm form{.is_binary = state.range(1) != 0};
  for (auto _ : state) benchmark::DoNotOptimize(write_infer_answer(answer, form));
}

BENCHMARK(read_binary_request);
BENCHMARK(copy_binary_request);
BENCHMARK(read_json_request);
BENCHMARK(read_json_tree);
BENCHMARK(write_answer)->ArgNames({"elements", "binary"})->Args({10, 0})->Args({10, 1})->Args({784, 0});

}  // namespace
}  // namespace berth::serving::protocol
