#include "apps/up/request_log.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace berth::up {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class RequestLogTest : public ::testing::Test {
 protected:
  ~RequestLogTest() override { std::fclose(err_); }

  /// The lines so far.
  std::vector<std::string> lines() {
    std::rewind(err_);
    std::vector<std::string> lines;
    char line[1024];
    while (std::fgets(line, sizeof(line), err_) != nullptr) lines.emplace_back(line);
    return lines;
  }
  void add(int status, std::string_view method = "PUT") {
    log_.add({.id = "r-1",
              .method = method,
              .route = "/v1/tenants/{t}",
              .peer = "127.0.0.1:1",
              .status = status,
              .took = Micros(1'500)});
  }

  std::FILE* err_ = std::tmpfile();
  std::int64_t now_us_ = 7'000'000;
  RequestLog log_{err_, [this] { return now_us_; }};
};

TEST_F(RequestLogTest, WritesAndRefusalsAreLines) {
  add(201);
  add(200, "GET");
  add(404, "GET");
  add(503);
  log_.add({.id = "r-2", .status = 413, .took = Micros(0)});
  const auto found = lines();
  ASSERT_THAT(found, SizeIs(4));
  EXPECT_THAT(found[0], HasSubstr(R"("level":"info","request_id":"r-1","trace_id":null,"method":"PUT",)"
                                  R"("route":"/v1/tenants/{t}","status":201,"ms":1.5,"peer":"127.0.0.1:1"})"));
  EXPECT_THAT(found[1], HasSubstr(R"("method":"GET")"));
  EXPECT_THAT(found[2], HasSubstr(R"("level":"warning")"));
  EXPECT_THAT(found[3], HasSubstr(R"("method":null,"route":null,"status":413,"ms":0.0,"peer":null})"));
}

TEST_F(RequestLogTest, TheRestOfASecondIsCounted) {
  for (int i = 0; i < 205; ++i) add(200);
  log_.report_unlogged();  // the second is not over
  EXPECT_THAT(lines(), SizeIs(200));
  now_us_ += 1'000'000;
  log_.report_unlogged();
  log_.report_unlogged();
  const auto found = lines();
  ASSERT_THAT(found, SizeIs(201));
  EXPECT_THAT(found.back(), HasSubstr(R"({"event":"requests_unlogged",)"));
  EXPECT_THAT(found.back(), HasSubstr(R"("count":5})"));
  add(200);
  EXPECT_THAT(lines(), SizeIs(202));
}

TEST(RequestLog, APipeThatNobodyReadsHoldsNobodyUp) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::FILE* const err = ::fdopen(ends[1], "w");
  std::int64_t now_us = 0;
  RequestLog log(err, [&now_us] { return now_us; });
  for (int i = 0; i < 5'000; ++i) {
    now_us += 10'000;
    log.add({.id = "r-1", .method = "PUT", .status = 200, .took = Micros(0)});
  }
  std::fclose(err);
  ::close(ends[0]);
}

}  // namespace
}  // namespace berth::up
