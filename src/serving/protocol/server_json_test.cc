#include "serving/protocol/server_json.h"

#include <gtest/gtest.h>

#include <vector>

#include "serving/protocol/http_fault.h"

namespace berth::serving::protocol {
namespace {

ModelMetadata digits() {
  return {.name = "digits",
          .versions = {"1", "3"},
          .inputs = {{.name = "X", .type = TensorType::kFp32, .shape = {-1, 64}}},
          .outputs = {{.name = "label", .type = TensorType::kBytes, .shape = {-1}}},
          .rows_max = 64};
}

TEST(ServerJsonTest, Metadata) {
  EXPECT_EQ(server_metadata_json({.name = "berth", .version = "0.1.0", .device = "cpu"}),
            R"({"name":"berth","version":"0.1.0","extensions":["binary_tensor_data","model_configuration",)"
            R"("model_repository","schedule_policy","statistics"],"device":"cpu"})");
  EXPECT_EQ(model_metadata_json(digits()), R"({"name":"digits","versions":["1","3"],"platform":"onnxruntime_onnx",)"
                                           R"("inputs":[{"name":"X","datatype":"FP32","shape":[-1,64]}],)"
                                           R"("outputs":[{"name":"label","datatype":"BYTES","shape":[-1]}]})");
}

TEST(ServerJsonTest, Config) {
  EXPECT_EQ(model_config_json(digits()),
            R"({"name":"digits","platform":"onnxruntime_onnx","backend":"onnxruntime","max_batch_size":64,)"
            R"("input":[{"name":"X","data_type":"TYPE_FP32","dims":[64]}],)"
            R"("output":[{"name":"label","data_type":"TYPE_STRING","dims":[]}],"dynamic_batching":{},)"
            R"("model_transaction_policy":{"decoupled":false}})");
  ModelMetadata single = digits();
  single.rows_max = 0;
  EXPECT_EQ(model_config_json(single),
            R"({"name":"digits","platform":"onnxruntime_onnx","backend":"onnxruntime","max_batch_size":0,)"
            R"("input":[{"name":"X","data_type":"TYPE_FP32","dims":[-1,64]}],)"
            R"("output":[{"name":"label","data_type":"TYPE_STRING","dims":[-1]}],)"
            R"("model_transaction_policy":{"decoupled":false}})");
}

TEST(ServerJsonTest, StatisticsAreInNanoseconds) {
  ModelStatistics model;
  model.name = "m";
  model.version = "1";
  model.last_answer_ms = 5;
  model.rows = 8;
  model.batches = 2;
  model.answered = {.count = 3, .sum = Micros(7)};
  model.run = {.count = 3, .sum = Micros(INT64_MAX)};
  model.batch_sizes = {{.rows = 4, .run = {.count = 2, .sum = Micros(6)}}};
  const std::vector<ModelStatistics> models{model};
  EXPECT_EQ(
      statistics_json(models),
      R"({"model_stats":[{"name":"m","version":"1","last_inference":5,"inference_count":8,"execution_count":2,)"
      R"("inference_stats":{"success":{"count":3,"ns":7000},"fail":{"count":0,"ns":0},"queue":{"count":0,"ns":0},)"
      R"("compute_input":{"count":0,"ns":0},"compute_infer":{"count":3,"ns":9223372036854775807000},)"
      R"("compute_output":{"count":0,"ns":0},"cache_hit":{"count":0,"ns":0},"cache_miss":{"count":0,"ns":0}},)"
      R"("batch_stats":[{"batch_size":4,"compute_input":{"count":0,"ns":0},"compute_infer":{"count":2,"ns":6000},)"
      R"("compute_output":{"count":0,"ns":0}}]}]})");
}

TEST(ServerJsonTest, TheIndex) {
  const std::vector<IndexEntry> entries{
      {.name = "a", .version = "1", .state = ModelState::kReady, .reason = "loads on request"},
      {.name = "b", .version = "", .state = ModelState::kUnavailable, .reason = "no \"file\""}};
  EXPECT_EQ(index_json(entries, false), R"([{"name":"a","version":"1","state":"READY","reason":"loads on request"},)"
                                        R"({"name":"b","version":"","state":"UNAVAILABLE","reason":"no \"file\""}])");
  EXPECT_EQ(index_json(entries, true), R"([{"name":"a","version":"1","state":"READY","reason":"loads on request"}])");
  EXPECT_EQ(model_state_name(ModelState::kLoading), "LOADING");
  EXPECT_EQ(model_state_name(ModelState::kUnloading), "UNLOADING");
}

TEST(ServerJsonTest, EachFaultHasAStatus) {
  EXPECT_EQ(http_status(ServeFault::kMalformed), 400);
  EXPECT_EQ(http_status(ServeFault::kNoKey), 401);
  EXPECT_EQ(http_status(ServeFault::kUnknown), 404);
  EXPECT_EQ(http_status(ServeFault::kTooLarge), 413);
  EXPECT_EQ(http_status(ServeFault::kRejected), 429);
  EXPECT_EQ(http_status(ServeFault::kEngineFailed), 500);
  EXPECT_EQ(http_status(ServeFault::kNotOffered), 501);
  EXPECT_EQ(http_status(ServeFault::kUnavailable), 503);
  EXPECT_EQ(http_status(ServeFault::kExpired), 504);
  EXPECT_EQ(http_status(ServeFault::kCancelled), 499);
  EXPECT_EQ(error_json("a \"b\""), R"({"error":"a \"b\""})");
}

}  // namespace
}  // namespace berth::serving::protocol
