#include "surface/metrics/metric_text.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::metrics {
namespace {

TEST(MetricText, WritesEachKind) {
  const std::string text = metric_text({
      {.name = "berth_answers_total",
       .help = "Answers",
       .kind = MetricKind::kCounter,
       .samples = {{.labels = {{"tenant", "a"}, {"outcome", "late"}}, .value = 3.0}}},
      {.name = "berth_queue_requests", .help = "Waiting", .kind = MetricKind::kGauge, .samples = {{.value = 0.5}}},
      {.name = "berth_step_seconds",
       .help = "Steps",
       .kind = MetricKind::kHistogram,
       .samples = {{.value = MetricHistogram{.bounds = {0.1, 1}, .counts = {2, 1, 4}, .sum = 12.5}}}},
  });
  EXPECT_EQ(text,
            "# HELP berth_answers_total Answers\n"
            "# TYPE berth_answers_total counter\n"
            "berth_answers_total{tenant=\"a\",outcome=\"late\"} 3\n"
            "# HELP berth_queue_requests Waiting\n"
            "# TYPE berth_queue_requests gauge\n"
            "berth_queue_requests 0.5\n"
            "# HELP berth_step_seconds Steps\n"
            "# TYPE berth_step_seconds histogram\n"
            "berth_step_seconds_count 7\n"
            "berth_step_seconds_sum 12.5\n"
            "berth_step_seconds_bucket{le=\"0.1\"} 2\n"
            "berth_step_seconds_bucket{le=\"1\"} 3\n"
            "berth_step_seconds_bucket{le=\"+Inf\"} 7\n");
}

TEST(MetricText, LeavesOutWhatHasNoSamplesAndEscapesLabels) {
  const std::string text = metric_text({
      {.name = "berth_a", .help = "A"},
      {.name = "berth_b", .help = "B", .samples = {{.labels = {{"reason", "a \"b\"\\\n"}}, .value = 1.0}}},
  });
  EXPECT_EQ(text, "# HELP berth_b B\n# TYPE berth_b gauge\nberth_b{reason=\"a \\\"b\\\"\\\\\\n\"} 1\n");
}

TEST(MetricText, KeepsLargeCountsExact) {
  const std::string text = metric_text({{.name = "berth_c_total",
                                         .help = "C",
                                         .kind = MetricKind::kCounter,
                                         .samples = {{.value = 9007199254740991.0}}}});
  EXPECT_NE(text.find("9007199254740991"), std::string::npos) << text;
}

}  // namespace
}  // namespace berth::metrics
