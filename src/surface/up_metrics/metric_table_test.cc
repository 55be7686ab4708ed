#include "surface/up_metrics/metric_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "surface/up_metrics/metrics_page.h"

namespace berth::metrics {
namespace {

TEST(MetricTable, KeepsToTheRulesForNames) {
  std::set<std::string_view> names;
  for (const MetricRow& row : metric_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.name.starts_with("berth_") || row.name.starts_with("process_")) << row.name;
    EXPECT_EQ(row.kind == MetricKind::kCounter, row.name.ends_with("_total")) << row.name;
    EXPECT_FALSE(row.help.empty() || row.help.ends_with('.')) << row.name;
    EXPECT_EQ(row.help.find('\n'), std::string_view::npos) << row.name;
  }
}

TEST(MetricTable, IsWhatTheDocumentationHas) {
  const char* root = std::getenv("BERTH_SOURCE_DIR");
  const std::filesystem::path path = std::filesystem::path(root != nullptr ? root : ".") / "docs/reference/metrics.md";
  std::ifstream stream(path, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_TRUE(page == metrics_page()) << "out of date: berth config metrics > docs/reference/metrics.md";
}

TEST(FamilySet, HasTheLabelsOfTheTable) {
  FamilySet set;
  set.add(Metric::kServiceAnswers, {"t", "s", "late"}, 3.0);
  set.add_rest(Metric::kServiceAnswers, {"", "", "late"}, 4.0);
  const auto families = set.take();
  ASSERT_EQ(families.size(), kMetricCount);
  const MetricFamily& answers = families[static_cast<std::size_t>(Metric::kServiceAnswers)];
  EXPECT_EQ(answers.name, "berth_service_answers_total");
  ASSERT_EQ(answers.samples.size(), 2U);
  EXPECT_EQ(answers.samples[0],
            (MetricSample{.labels = {{"tenant", "t"}, {"service", "s"}, {"outcome", "late"}}, .value = 3.0}));
  EXPECT_EQ(answers.samples[1],
            (MetricSample{.labels = {{"tenant", ""}, {"service", ""}, {"outcome", "late"}, {"overflow", "true"}},
                          .value = 4.0}));
}

}  // namespace
}  // namespace berth::metrics
