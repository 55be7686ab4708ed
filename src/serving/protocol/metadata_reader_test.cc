#include "serving/protocol/metadata_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::serving::protocol {
namespace {

using ::testing::HasSubstr;

TEST(MetadataReader, ReadsAServer) {
  EXPECT_EQ(read_server_metadata(R"({"name":"berth","version":"0.1","extensions":["a","binary_tensor_data"],)"
                                 R"("device":"cpu"})",
                                 "s")
                .value(),
            (ServerSaid{.name = "berth", .version = "0.1", .device = "cpu", .takes_binary = true}));
  EXPECT_EQ(read_server_metadata(R"({"name":"other","extensions":[1]})", "s").value(), (ServerSaid{.name = "other"}));
}

TEST(MetadataReader, ReadsAModel) {
  EXPECT_EQ(read_model_metadata(R"({"name":"m","versions":["1","2"],"inputs":[)"
                                R"({"name":"x","datatype":"FP32","shape":[-1,4]},)"
                                R"({"name":"n","datatype":"INT64","shape":[]}]})",
                                "s")
                .value(),
            (ModelSaid{.name = "m",
                       .version = "2",
                       .inputs = {{.name = "x", .type = TensorType::kFp32, .shape = {-1, 4}},
                                  {.name = "n", .type = TensorType::kInt64, .shape = {}}}}));
}

TEST(MetadataReader, NamesWhatIsWrong) {
  const auto message = [](std::string_view text) { return read_model_metadata(text, "http://h/v2/m").error().message; };
  EXPECT_THAT(message("<html>"), HasSubstr("http://h/v2/m"));
  EXPECT_THAT(message(R"({"inputs":[]})"), HasSubstr("name"));
  EXPECT_THAT(message(R"({"name":"m","inputs":[]})"), HasSubstr("inputs: wanted a list"));
  EXPECT_THAT(message(R"({"name":"m","inputs":[{"name":"x","datatype":"FP31","shape":[1]}]})"), HasSubstr("FP31"));
  EXPECT_THAT(message(R"({"name":"m","inputs":[{"name":"x","datatype":"FP32","shape":[-2]}]})"),
              HasSubstr("inputs[0].shape: wanted a list of sizes from -1 on, found [-2]"));
  EXPECT_THAT(message(R"({"name":"m","inputs":[{"name":"x","datatype":"FP32","shape":[NaN]}]})"),
              HasSubstr("http://h/v2/m"));
  EXPECT_THAT(message(R"({"name":"m","inputs":[{"name":"x","datatype":"FP32","shape":[1]},)"
                      R"({"name":"x","datatype":"FP32","shape":[1]}]})"),
              HasSubstr("twice"));
  EXPECT_THAT(read_server_metadata("{}", "s").error().message, HasSubstr("s: name"));
}

TEST(MetadataReader, FindsTheMessageOfAnError) {
  EXPECT_EQ(read_error_message(R"({"error":"no\nmodel"})"), "no model");
  EXPECT_EQ(read_error_message("<html>\n"), "<html> ");
  EXPECT_EQ(read_error_message(std::string(1000, 'x')).size(), 300U);
}

}  // namespace
}  // namespace berth::serving::protocol
