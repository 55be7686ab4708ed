// The public traces, if the folder named by BERTH_DATA has them: rows and totals as other programs count them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "domain/trace/readers.h"

namespace berth {
namespace {

std::string read_to_end(std::FILE* file) {
  std::string text;
  std::array<char, 65'536> part{};
  while (std::feof(file) == 0 && std::ferror(file) == 0) {
    text.append(part.data(), std::fread(part.data(), 1, part.size(), file));
  }
  return text;
}

class PublicTraces : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("BERTH_DATA");
    if (folder == nullptr) GTEST_SKIP() << "BERTH_DATA does not name the folder with the public traces";
    folder_ = folder;
  }

  [[nodiscard]] std::string text_of(const std::string& path) const {
    std::FILE* file = std::fopen((folder_ + "/" + path).c_str(), "rb");
    if (file == nullptr) return "";
    std::string text = read_to_end(file);
    std::fclose(file);
    return text;
  }

  [[nodiscard]] std::string unpacked_text_of(const std::string& path) const {
    std::FILE* pipe = ::popen(("gzip -dc '" + folder_ + "/" + path + "'").c_str(), "r");
    if (pipe == nullptr) return "";
    std::string text = read_to_end(pipe);
    ::pclose(pipe);
    return text;
  }

 private:
  std::string folder_;
};

std::int64_t sum_of(const std::vector<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

TEST_F(PublicTraces, TwitterHasFourteenDaysThatEndInZeros) {
  const auto trace = read_rps_text(unpacked_text_of("twitter/requests_per_second_14days.txt.gz"), "twitter");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->counts.size(), 14U * 86'400U);
  EXPECT_EQ(sum_of(trace->counts), 76'878'572);
  EXPECT_EQ(trace->counts.front(), 52U);
  EXPECT_EQ(*std::max_element(trace->counts.begin(), trace->counts.end()), 388U);
  EXPECT_EQ(trace->counts.back(), 0U);
}

TEST_F(PublicTraces, AzureLlmHasItsRequestsAndTokens) {
  const auto trace = read_azure_llm(text_of("azure_llm_2023/AzureLLMInferenceTrace_conv.csv"), "azure");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  ASSERT_EQ(trace->requests.size(), 19'366U);
  EXPECT_EQ(trace->requests.front(), (TimedTrace::Request{680'590, 374, 44}));
  EXPECT_EQ(trace->requests.back(), (TimedTrace::Request{3'502'402'527, 197, 183}));
  EXPECT_EQ(trace->seconds, 3'503);
}

TEST_F(PublicTraces, AzureFunctionsHasAppsAndFunctions) {
  const std::string text = text_of("azure_functions_sample/invocations_subset_480min.csv");
  const auto app = read_azure_functions(
      text, "azure", {.is_app = true, .hash = "3800460ec8bc21d723e2ee1fcafc96da60fbd88f585bf22e2b4cd058fc29df78"});
  ASSERT_TRUE(app.has_value()) << app.error().message;
  EXPECT_EQ(app->counts.size(), 480U);
  EXPECT_EQ(sum_of(app->counts), 186);
  const auto function = read_azure_functions(
      text, "azure", {.is_app = false, .hash = "1f7e09a2116585b67199df459edfb2f2c7c246ea52d89eaee9d89bd08f814d1e"});
  ASSERT_TRUE(function.has_value()) << function.error().message;
  EXPECT_EQ(sum_of(function->counts), 8);
}

}  // namespace
}  // namespace berth
