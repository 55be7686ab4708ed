#include "surface/pages/advise_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "surface/pages/testing/page_text.h"

namespace berth::report {
namespace {

using purchase::advise::Advice;
using purchase::advise::Instance;
using ::testing::HasSubstr;
using ::testing::Not;

Pod pod(const std::string& name, int gpus, int gpu_milli) {
  Pod made;
  made.name = name;
  made.cpu_milli = 4'000;
  made.memory_mib = 16'384;
  made.gpu_count = gpus;
  made.gpu_milli = gpu_milli;
  return made;
}

pricing::Offer offer(const std::string& type, int gpus, std::int64_t micro_usd) {
  pricing::Offer made;
  made.key = {.provider = "cl<oud", .instance_type = type, .region = "here", .purchase = pricing::Purchase::kOnDemand};
  made.shape = {.gpu_model = "t4",
                .gpu_count = gpus,
                .gpu_memory_mib = 16'384,
                .vcpu_milli = 16'000,
                .memory_mib = 65'536,
                .mig_instances_max = 0};
  made.micro_usd_per_hour = micro_usd;
  made.validity.from = Date(20'000);
  return made;
}

/// A problem with its advice: two instances that are filled alike, and one of another offer.
struct Question {
  std::vector<Pod> pods = {pod("a", 1, 250), pod("b<c>", 1, 250), pod("d", 2, 1'000), pod("e", 0, 0)};
  Advice advice = {
      .micro_usd_per_hour = 4'000'000,
      .bound_micro_usd_per_hour = 3'200'000,
      .instances = {{.offer = offer("big", 4, 2'000'000), .pods = {{.row = 2, .gpus = {1, 3}}, {.row = 3, .gpus = {}}}},
                    {.offer = offer("one", 1, 1'000'000), .pods = {{.row = 0, .gpus = {0}}}},
                    {.offer = offer("one", 1, 1'000'000), .pods = {{.row = 1, .gpus = {0}}}}},
      .rivals = {{.name = "ffd", .micro_usd_per_hour = 5'000'000}},
      .nodes = 1'234};

  [[nodiscard]] std::string page(const std::string& name = "pods.csv") const {
    return render_advise_report({.pods_name = name, .pods = pods, .at = Date(20'010), .advice = advice});
  }
};

std::size_t figures_in(const std::string& page) { return testing::count_of(page, "<figure"); }

TEST(AdviseReport, BeginsWithTheAnswerItsProofAndTheAgeOfThePrices) {
  const std::string page = Question().page();
  EXPECT_THAT(page, HasSubstr("Rent these 3 instances: $4.0000 an hour, 20.0% less than by ffd"));
  EXPECT_THAT(page, HasSubstr("Not proven the cheapest: at most 25.00% above it."));
  EXPECT_THAT(page, HasSubstr("list prices of 2024-10-04, 10 days old"));
  EXPECT_THAT(page, HasSubstr("$3.2000 an hour (a gap remains)"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Of the bound">1.250</td>)"));
  EXPECT_THAT(page, HasSubstr(R"(<th scope="row">ffd</th>)"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Age of the price">10 d</td>)"));
}

TEST(AdviseReport, InstancesThatAreFilledAlikeShareAPicture) {
  const std::string page = Question().page();
  EXPECT_EQ(figures_in(page), 2U);
  EXPECT_THAT(page, HasSubstr("<b>2 × one</b><span>$1.0000 an hour each</span>"));
  EXPECT_THAT(page, HasSubstr("<p>a, b&lt;c&gt;</p>"));
  EXPECT_THAT(page, HasSubstr("<b>big</b><span>$2.0000 an hour</span>"));
  EXPECT_THAT(page, HasSubstr("8 of 16 vCPU"));
  EXPECT_THAT(page, HasSubstr("32 of 64 GiB"));
  for (const std::string_view ask : {"no GPU", "0.25 of a GPU", "2 GPUs", "free"}) {
    EXPECT_THAT(page, HasSubstr(fmt::format("</svg>{}</li>", ask)));
  }
  Question other;
  other.pods[1].cpu_milli = 5'000;
  EXPECT_EQ(figures_in(other.page()), 3U);
}

TEST(AdviseReport, TheNumbersOfGpusDoNotMakeFillingsDifferent) {
  Question swapped;
  swapped.advice.instances.push_back(swapped.advice.instances.front());
  swapped.advice.instances.back().pods.front().gpus = {0, 2};
  EXPECT_EQ(figures_in(swapped.page()), 2U);
}

TEST(AdviseReport, AbsentFiguresAreADash) {
  Question question;
  question.advice.bound_micro_usd_per_hour = 0;
  question.advice.instances[0].offer.shape.memory_mib = 0;
  question.pods[2].memory_mib = question.pods[3].memory_mib = 0;
  const std::string page = question.page();
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Of the bound"><span class="absent">–</span></td>)"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Memory taken"><span class="absent">–</span></td>)"));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(AdviseReport, ManyPicturesEndAtALimitAndThePageSaysSo) {
  Question many;
  many.pods.clear();
  many.advice.instances.clear();
  for (std::size_t i = 0; i < kAdvicePicturesMax + 30; ++i) {
    many.pods.push_back(pod("p", 1, static_cast<int>(i) + 1));
    many.advice.instances.push_back({.offer = offer("one", 1, 1'000'000), .pods = {{.row = i, .gpus = {0}}}});
  }
  const std::string page = many.page();
  EXPECT_EQ(figures_in(page), kAdvicePicturesMax);
  EXPECT_THAT(page, HasSubstr("The first 120 of 150 pictures are drawn; the answer as JSON has all instances."));
  EXPECT_THAT(page, HasSubstr("<li>and 118 other shares</li>"));
  EXPECT_THAT(page, HasSubstr("fill:url(#p2)"));
}

TEST(AdviseReport, ManyPodsAreNamedOnlyAsFarAsThereIsRoom) {
  Question question;
  question.pods.assign(8, pod("x", 0, 0));
  Instance& instance = question.advice.instances.front();
  question.advice.instances.resize(1);
  instance.pods.clear();
  for (std::size_t row = 0; row < question.pods.size(); ++row) instance.pods.push_back({.row = row, .gpus = {}});
  EXPECT_THAT(question.page(), HasSubstr("<p>x, x, x, x, x, x and 2 more</p>"));
}

TEST(AdviseReport, NamesAreNoMarkupAndNoMarkIsLeft) {
  const std::string page = Question().page("<script>.csv");
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;.csv"));
  EXPECT_THAT(page, HasSubstr("cl&lt;oud"));
  EXPECT_THAT(page, Not(HasSubstr("cl<oud")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(AdviseReport, TheSameAnswerGivesTheSameBytes) { EXPECT_EQ(Question().page(), Question().page()); }

}  // namespace
}  // namespace berth::report
