#include "domain/trace/app_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

using testing::ElementsAre;

TEST(ReadAzureApps, SumsTheRowsOfAnAppInTheOrderOfFirstRows) {
  const auto trace = read_azure_apps(
      "HashOwner,HashApp,HashFunction,Trigger,480,481,482\n"
      "o,b,f1,http,0,2,3\no,never,f2,http,0,0,0\no,a,f3,timer,1,0,0\no,b,f4,queue,0,20,0\n",
      "t.csv");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->minutes, 3);
  EXPECT_THAT(trace->apps, ElementsAre(AppCounts{.app = "b", .invoked = {{1, 22}, {2, 3}}, .invocations = 25},
                                       AppCounts{.app = "a", .invoked = {{0, 1}}, .invocations = 1}));
}

TEST(ReadAppCsv, TakesRowsInAnyOrder) {
  const auto trace = read_app_csv("app,minute,invocations\nb,4,1\na,0,7\nb,1,2\na,6,0\n", "t.csv");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->minutes, 7);
  EXPECT_THAT(trace->apps, ElementsAre(AppCounts{.app = "b", .invoked = {{1, 2}, {4, 1}}, .invocations = 3},
                                       AppCounts{.app = "a", .invoked = {{0, 7}}, .invocations = 7}));
}

struct BadAppText {
  std::string text;
  std::string message;
};

TEST(ReadAppCsv, SaysWhatIsWrong) {
  const std::string head = "app,minute,invocations\n";
  const std::vector<BadAppText> cases = {
      {"", "t.csv:1:1: wanted the header \"app,minute,invocations\", found an empty file"},
      {"app,minute\n", "t.csv:1:1: wanted the header \"app,minute,invocations\", found \"app,minute\""},
      {head, "t.csv:2:1: wanted at least one row, found none"},
      {head + "a,0\n", "t.csv:2:4: wanted 3 fields, found 2"},
      {head + ",0,1\n", "t.csv:2:1: wanted the name of an app, found \"\""},
      {head + "a,-1,1\n", "t.csv:2:3: wanted a whole number from 0 to 1048575, found \"-1\""},
      {head + "a,0,1.5\n", "t.csv:2:5: wanted a whole number from 0 to 600000000, found \"1.5\""},
      {head + "a,0,1\nb,0,1\na,0,0\n", "t.csv:4:1: wanted each pair of app and minute once, found it again"},
  };
  for (const BadAppText& each : cases) {
    const auto trace = read_app_csv(each.text, "t.csv");
    ASSERT_FALSE(trace.has_value()) << each.text;
    EXPECT_EQ(trace.error().message, each.message);
  }
}

TEST(ReadAzureApps, SaysWhatIsWrong) {
  const std::string head = "HashOwner,HashApp,HashFunction,Trigger,0\n";
  EXPECT_EQ(read_azure_apps(head, "t.csv").error().message, "t.csv:2:1: wanted at least one row, found none");
  EXPECT_EQ(read_azure_apps(head + "o,a,f,http,x\n", "t.csv").error().message,
            "t.csv:2:12: wanted a whole number from 0 to 600000000, found \"x\"");
}

}  // namespace
}  // namespace berth
