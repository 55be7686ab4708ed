#include "surface/pages/optimize_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "surface/pages/optimize_charts.h"
#include "surface/pages/optimize_layers.h"
#include "surface/pages/testing/optimize_manifests.h"
#include "surface/pages/testing/page_text.h"

namespace berth::report {
namespace {

using testing::count_of;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(OptimizeReport, BeginsWithWhatToUseAndWhatItWasMeasuredOn) {
  const std::string page = render_optimize_report(testing::rich_manifest());
  EXPECT_THAT(page, HasSubstr("<h1 id=\"headline\">Use fuse+int8: 39 % less time, 28 % less memory, 67 % smaller file; "
                              "it loses 0.22 points of accuracy (loss -0.78 to 1.42).</h1>"));
  EXPECT_THAT(page, HasSubstr("Measured by ONNX Runtime 1.32.0 on x86-64-avx2, one thread"));
  EXPECT_THAT(page, HasSubstr("at batches 1, 8, 64. The loss is that of the 224 rows that judge"));
  EXPECT_THAT(page, HasSubstr("<dd>450 calibrate, 223 choose, 224 judge; 3 left out that also calibrate</dd>"));
  EXPECT_THAT(page, HasSubstr("<dd>0.61 x (0.60 to 0.62)</dd>"));
  EXPECT_THAT(page, HasSubstr("<dd>latency, loss of at most 0.50 points</dd>"));
  EXPECT_THAT(page, HasSubstr("<dd>accuracy; the original's: 97.32 %</dd>"));
}

TEST(OptimizeReport, NothingKeptSaysWhatCameClosest) {
  const std::string page = render_optimize_report(testing::poor_manifest());
  EXPECT_THAT(page, HasSubstr("Keep the original: nothing that was tried is better.</h1>"));
  EXPECT_THAT(page, HasSubstr("Closest was fuse: takes 0.99 x the time, wanted: surely at most 0.90 x."));
  EXPECT_THAT(page, HasSubstr("<dd>225 of the calibration rows calibrate and choose, the other 225 judge</dd>"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Verdict">keep it</td>)"));
  EXPECT_THAT(page, Not(HasSubstr("Channels kept")));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(OptimizeReport, AllVariantsHaveAVerdict) {
  const std::string page = render_optimize_report(testing::rich_manifest());
  EXPECT_THAT(page, HasSubstr("<b>kept, recommended</b>"));
  EXPECT_THAT(page, HasSubstr("<b>refused</b>: loses 8.20 points on the rows that judge, allowed: 0.50 points"));
  EXPECT_THAT(page, HasSubstr("<b>refused</b>: fp16: the session fails"));
  EXPECT_THAT(page, HasSubstr("fold-batch-norm</bdi> was undone: outputs differ by 3e-3"));
  EXPECT_THAT(page, HasSubstr("on the processor it saves bytes of the file alone"));
  EXPECT_THAT(page, HasSubstr("about 1,300 rows in each half would narrow it"));
}

TEST(OptimizeReport, DrawsTimeAndLoss) {
  const std::string page = render_optimize_report(testing::rich_manifest());
  EXPECT_EQ(count_of(page, "batch 64</text>"), 6U);  // fp16 was not measured
  EXPECT_THAT(page, HasSubstr("0.90 x: the most for the mean"));
  EXPECT_THAT(page, HasSubstr("1.05 x: the most for a batch"));
  EXPECT_THAT(page, HasSubstr("allowed: 0.50 points"));
  EXPECT_THAT(page, HasSubstr("the time ran out"));
  EXPECT_FALSE(testing::has_bad_number(page));
  models::Manifest memory = testing::rich_manifest();
  memory.terms.goal = models::Goal::kMemory;
  EXPECT_THAT(render_optimize_report(memory), Not(HasSubstr("the most for the mean")));
}

TEST(OptimizeReport, LayersOfTheRecommendedVariantComeFirst) {
  const std::string section = layers_section(testing::rich_manifest().findings);
  EXPECT_LT(section.find("<b><bdi>fuse+<wbr>int8</bdi>, recommended</b>"),
            section.find("<b><bdi>int8</bdi>, kept</b>"));
  EXPECT_EQ(count_of(section, "class=\"layer float\" x="), 3U * 3U);
  EXPECT_EQ(count_of(section, "class=\"floatmark\" d=\"M8 9"), 1U);
  EXPECT_THAT(section, HasSubstr("50 layers in the order of the graph, 3 of them in float"));
  EXPECT_THAT(section, HasSubstr("Largest errors of <bdi>fuse+<wbr>int8</bdi>"));
}

TEST(OptimizeReport, VariantsWithTheSameChannelsShareATable) {
  const std::string section = channels_section(testing::rich_manifest().findings);
  EXPECT_EQ(count_of(section, "<caption>"), 2U);
  EXPECT_THAT(section, HasSubstr("<caption><bdi>prune</bdi>, <bdi>fuse+<wbr>prune</bdi></caption>"));
  EXPECT_THAT(section, HasSubstr("1 group keeps all its channels."));
}

TEST(OptimizeReport, LargeOnesStaySmallAndNamesAreNoMarkup) {
  const std::string page = render_optimize_report(testing::large_manifest());
  EXPECT_LT(page.size(), 600'000U);
  EXPECT_THAT(page, HasSubstr(fmt::format("The first {} of 90 groups that lose channels", kChannelRowsMax)));
  EXPECT_THAT(page, HasSubstr(fmt::format("The first {} of 8 batch sizes", kBatchColumnsMax)));
  EXPECT_THAT(page, HasSubstr("&lt;encoder&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<encoder>")));
  EXPECT_THAT(page, Not(HasSubstr("<models>")));
  EXPECT_THAT(page, Not(HasSubstr("<b>e")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(OptimizeReport, FiguresThatAreNoNumbersAreNotDrawn) {
  models::Manifest manifest = testing::rich_manifest();
  manifest.findings.metric = models::Metric::kError;
  models::VariantFigures& figures = *manifest.findings.variants[5].figures;
  const double infinity = std::numeric_limits<double>::infinity();
  figures.judging.loss = {.value = infinity, .low = 0, .high = infinity};
  figures.latency[0].ratio = {.value = std::numeric_limits<double>::quiet_NaN(), .low = 0, .high = infinity};
  figures.sqnr_db = -infinity;
  figures.model.run_bytes = -5;
  manifest.findings.variants[5].layers[0].sqnr_db = std::numeric_limits<double>::quiet_NaN();
  manifest.findings.variants[5].layers[1].sqnr_db = infinity;
  manifest.findings.variants[5].layers[2].sqnr_db = -3;
  const std::string page = render_optimize_report(manifest);
  EXPECT_FALSE(testing::has_bad_number(page));
  EXPECT_THAT(page, HasSubstr("infinite"));
  EXPECT_THAT(page, HasSubstr("no signal"));
}

TEST(OptimizeReport, NeedsNoVariants) {
  const std::string page = render_optimize_report(testing::bare_manifest());
  EXPECT_THAT(page, HasSubstr("Keep the original: nothing that was tried is better.</h1>"));
  EXPECT_THAT(page, Not(HasSubstr("<figure")));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(OptimizeReport, OneBatchHasNoMean) {
  models::Manifest manifest = testing::rich_manifest();
  manifest.findings.batches = {1};
  manifest.findings.has_fixed_batch = true;
  for (models::VariantRecord& variant : manifest.findings.variants) {
    if (variant.figures) variant.figures->latency.resize(1);
  }
  const std::string page = render_optimize_report(manifest);
  EXPECT_THAT(page, HasSubstr("at batch 1 (a run of this model takes no other number of rows)"));
  EXPECT_THAT(page, Not(HasSubstr(">mean</text>")));
}

TEST(OptimizeReport, TheSameManifestGivesTheSameBytes) {
  EXPECT_EQ(render_optimize_report(testing::rich_manifest()), render_optimize_report(testing::rich_manifest()));
}

}  // namespace
}  // namespace berth::report
