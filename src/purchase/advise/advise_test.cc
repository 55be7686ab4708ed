// The answer as a whole: hand-worked cases, the rivals, errors, budgets.
#include "purchase/advise/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "purchase/advise/find_fault.h"
#include "purchase/advise/testing/cases.h"

namespace berth::purchase::advise {
namespace {

using reference::gpu_offer;
using reference::host_offer;
using reference::pod;
using reference::shared_pod;
using ::testing::HasSubstr;

/// The answer, checked.
Advice advice_for(const std::vector<Pod>& pods, const std::vector<pricing::Offer>& offers,
                  const AdviseOptions& options = {}) {
  const auto advice = advise_instances(pods, offers, options);
  EXPECT_TRUE(advice.has_value()) << (advice ? "" : advice.error().message);
  if (!advice) return {};
  EXPECT_EQ(find_fault(pods, offers, *advice), std::nullopt);
  return *advice;
}

std::string error_for(const std::vector<Pod>& pods, const std::vector<pricing::Offer>& offers) {
  const auto advice = advise_instances(pods, offers, {});
  return advice ? "" : advice.error().message;
}

TEST(Advise, OnePodGetsTheCheapestInstanceThatHoldsIt) {
  const std::vector<pricing::Offer> offers = {host_offer("small", 4, 16, 500), host_offer("medium", 8, 32, 900),
                                              host_offer("large", 16, 64, 1700)};
  const Advice advice = advice_for({pod("p", 6, 10, 1)}, offers);
  ASSERT_EQ(advice.instances.size(), 1U);
  EXPECT_EQ(advice.instances[0].offer.key.instance_type, "medium");
  EXPECT_EQ(advice.micro_usd_per_hour, 900);
  EXPECT_TRUE(advice.is_proven());
  EXPECT_EQ(advice.instances[0].pods[0].gpus, std::vector<int>{0});
}

TEST(Advise, SharesOfAGpuSumToOneAtMost) {
  // Three shares of 600 need three GPUs, shares of 600 and 400 one.
  const std::vector<pricing::Offer> offers = {gpu_offer("one", "t4", 1, 100)};
  const Advice apart = advice_for({shared_pod("a", 600), shared_pod("b", 600), shared_pod("c", 600)}, offers);
  EXPECT_EQ(apart.micro_usd_per_hour, 300);
  EXPECT_TRUE(apart.is_proven());
  const Advice together = advice_for({shared_pod("a", 600), shared_pod("b", 400)}, offers);
  EXPECT_EQ(together.micro_usd_per_hour, 100);
}

TEST(Advise, SharesDoNotStretchOverGpus) {
  // 4 x 0.6 = 2.4 GPUs, but no two share one: 3 GPUs are too few.
  const std::vector<pricing::Offer> offers = {gpu_offer("three", "t4", 3, 100), gpu_offer("four", "t4", 4, 150)};
  std::vector<Pod> pods;
  for (const char* name : {"a", "b", "c", "d"}) pods.push_back(shared_pod(name, 600));
  EXPECT_EQ(advice_for(pods, offers).micro_usd_per_hour, 150);
}

TEST(Advise, WholeAndSharedGpusAreApart) {
  const std::vector<pricing::Offer> offers = {gpu_offer("two", "t4", 2, 100)};
  const Advice advice = advice_for({pod("whole", 1, 1, 1), shared_pod("a", 500), shared_pod("b", 500)}, offers);
  EXPECT_EQ(advice.micro_usd_per_hour, 100);
  ASSERT_EQ(advice.instances[0].pods.size(), 3U);
  EXPECT_EQ(advice.instances[0].pods[0].gpus, std::vector<int>{0});
  EXPECT_EQ(advice.instances[0].pods[1].gpus, std::vector<int>{1});
  EXPECT_EQ(advice.instances[0].pods[2].gpus, std::vector<int>{1});
}

TEST(Advise, ModelsAreComparedInLowerCaseAndGpuMemoryCounts) {
  std::vector<pricing::Offer> offers = {gpu_offer("cheap", "t4", 1, 100), gpu_offer("other", "a10g", 1, 200)};
  Pod picky = pod("p", 1, 1, 1);
  picky.gpu_models = {"V100", "A10G"};
  EXPECT_EQ(advice_for({picky}, offers).micro_usd_per_hour, 200);
  Pod roomy = pod("p", 1, 1, 1);
  roomy.gpu_memory_mib = 20'000;
  offers[0].shape.gpu_memory_mib = 16'384;
  offers[1].shape.gpu_memory_mib = 22'888;
  EXPECT_EQ(advice_for({roomy}, offers).micro_usd_per_hour, 200);
  offers[1].shape.gpu_memory_mib = 0;  // unknown is not enough
  EXPECT_THAT(error_for({roomy}, offers), HasSubstr("GPU"));
}

TEST(Advise, CpuOnlyPodsRunOnAnyModel) {
  Pod host = pod("p", 1, 1, 0);
  host.gpu_models = {"h100"};
  host.gpu_memory_mib = 90'000;
  const Advice advice = advice_for({host, pod("q", 1, 1, 1)}, {gpu_offer("one", "t4", 1, 100)});
  EXPECT_EQ(advice.micro_usd_per_hour, 100);
  EXPECT_TRUE(advice.instances[0].pods[0].gpus.empty());
}

TEST(Advise, FreeInstancesAndFreePodsAreLegal) {
  const Advice free = advice_for({pod("p", 1, 1, 1), pod("q", 1, 1, 1)}, {gpu_offer("one", "t4", 1, 0)});
  EXPECT_EQ(free.micro_usd_per_hour, 0);
  EXPECT_TRUE(free.is_proven());
  std::vector<Pod> nothing;
  nothing.reserve(40);
  for (int i = 0; i < 40; ++i) nothing.push_back(pod("p" + std::to_string(i), 0, 0, 0));
  EXPECT_EQ(advice_for(nothing, {gpu_offer("one", "t4", 1, 7)}).micro_usd_per_hour, 7);
}

TEST(Advise, OffersThatAreNotBuyableAreLeftOut) {
  std::vector<pricing::Offer> offers = {gpu_offer("no-price", "t4", 1, 1), gpu_offer("fraction", "t4", 0, 1),
                                        gpu_offer("amd", "mi300x", 1, 1), gpu_offer("fine", "t4", 1, 50)};
  offers[0].micro_usd_per_hour = std::nullopt;
  EXPECT_EQ(advice_for({pod("p", 1, 1, 1)}, offers).micro_usd_per_hour, 50);
  offers.pop_back();
  EXPECT_EQ(error_for({pod("p", 1, 1, 1)}, offers), "wanted at least one offer that can be bought, found none");
  EXPECT_EQ(error_for({}, offers), "wanted at least one pod, found none");
}

TEST(Advise, APodThatNoOfferHoldsIsNamed) {
  const std::vector<pricing::Offer> offers = {host_offer("small", 4, 16, 500), host_offer("large", 16, 64, 1700)};
  EXPECT_EQ(error_for({pod("fits", 1, 1, 1), pod("wide", 20, 10, 1)}, offers),
            "pods:3:1: wanted a pod that an offer holds, found \"wide\" with 20000 milli CPU and 10240 MiB, 1 GPU; the "
            "nearest, cloud small in here, has 4000 milli CPU");
  Pod picky = shared_pod("picky", 300);
  picky.gpu_models = {"A100", "H100"};
  EXPECT_THAT(error_for({picky}, offers), HasSubstr("300 thousandths of a GPU of A100|H100"));
  EXPECT_THAT(error_for({picky}, offers), HasSubstr("has GPUs of the model t4"));
  const std::vector<Pod> many(8, pod("wide", 20, 10, 1));
  EXPECT_THAT(error_for(many, offers), HasSubstr("; 7 more pods fit none: \"wide\", \"wide\""));
  EXPECT_THAT(error_for(many, offers), HasSubstr(" and others"));
}

TEST(Advise, RivalsByHand) {
  // First fit decreasing opens a node for the pod of 6 CPUs; that of 5 CPUs still fits (11 of 16), that of 3 too (14),
  // the last of 3 does not. Nodes: 14 CPUs: large; 3 CPUs: small.
  const std::vector<pricing::Offer> offers = {host_offer("small", 4, 64, 500), host_offer("medium", 8, 64, 900),
                                              host_offer("large", 16, 64, 1900)};
  const std::vector<Pod> pods = {pod("a", 3, 1, 0), pod("b", 6, 1, 0), pod("c", 3, 1, 0), pod("d", 5, 1, 0)};
  const Advice advice = advice_for(pods, offers);
  ASSERT_EQ(advice.rivals.size(), 2U);
  EXPECT_EQ(advice.rivals[0].name, "ffd");
  EXPECT_EQ(advice.rivals[0].micro_usd_per_hour, 2400);
  // Cheapest fit: 6 in a medium one, 5 in another, then 3 with the 5, the last in a small one.
  EXPECT_EQ(advice.rivals[1].name, "cheapest-fit");
  EXPECT_EQ(advice.rivals[1].micro_usd_per_hour, 900 + 900 + 500);
  EXPECT_EQ(advice.micro_usd_per_hour, 2300);
}

TEST(Advise, RivalsTakePodsByGpusFirst) {
  // By GPU thousandths: c (2000), b (1000), a (900), d (0). Cheapest fit: c opens a node of two GPUs; b and a open one
  // each; d fits with c.
  const std::vector<pricing::Offer> offers = {gpu_offer("one", "t4", 1, 100), gpu_offer("two", "t4", 2, 230)};
  const std::vector<Pod> pods = {shared_pod("a", 900), pod("b", 1, 1, 1), pod("c", 1, 1, 2), pod("d", 1, 1, 0)};
  const Advice advice = advice_for(pods, offers);
  EXPECT_EQ(advice.rivals[1].micro_usd_per_hour, 430);
  // First fit decreasing: c; b fits no node of two GPUs together with it, so a second node, where a fits as well.
  EXPECT_EQ(advice.rivals[0].micro_usd_per_hour, 460);
}

TEST(Advise, TheSameQuestionHasTheSameAnswer) {
  const reference::Case of = reference::random_case(5, {.pods = 40, .offers = 8});
  const Advice first = advice_for(of.pods, of.offers, {.nodes_max = 300'000});
  EXPECT_EQ(first, advice_for(of.pods, of.offers, {.nodes_max = 300'000}));
}

TEST(Advise, SaysHowFarItIsAndEndsWhenTold) {
  const reference::Case of = reference::random_case(5, {.pods = 40, .offers = 8});
  double last = 0;
  int calls = 0;
  const Advice whole = advice_for(of.pods, of.offers, {.nodes_max = 300'000, .progress = [&](double used) {
                                                         EXPECT_LE(last, used);
                                                         last = used;
                                                         ++calls;
                                                         return true;
                                                       }});
  EXPECT_EQ(whole, advice_for(of.pods, of.offers, {.nodes_max = 300'000}));
  EXPECT_GT(calls, 10);
  EXPECT_GT(last, 0.5);
  const Advice short_one = advice_for(of.pods, of.offers, {.progress = [](double) { return false; }});
  EXPECT_LT(short_one.nodes, whole.nodes);
}

TEST(Advise, FewPodsAreDividedExactly) {
  // Three instances of 4 CPUs hold 3 + 1, 2 + 2 and 3 + 1; first fit decreasing does not see that they are cheapest.
  const std::vector<pricing::Offer> offers = {host_offer("small", 4, 64, 400), host_offer("large", 12, 64, 1300)};
  const std::vector<Pod> pods = {pod("a", 3, 1, 0), pod("b", 1, 1, 0), pod("c", 2, 1, 0),
                                 pod("d", 2, 1, 0), pod("e", 3, 1, 0), pod("f", 1, 1, 0)};
  const Advice advice = advice_for(pods, offers);
  EXPECT_EQ(advice.micro_usd_per_hour, 1200);
  EXPECT_EQ(advice.rivals[0].micro_usd_per_hour, 1300);
  EXPECT_TRUE(advice.is_proven());
}

TEST(Advise, TheSmallestBudgetStillGivesARivalsPlan) {
  const reference::Case of = reference::random_case(6, {.pods = 30, .offers = 6});
  const Advice advice = advice_for(of.pods, of.offers, {.nodes_max = 1});
  EXPECT_LE(advice.bound_micro_usd_per_hour, advice.micro_usd_per_hour);
}

TEST(Advise, ManyDifferentPodsAreRounded) {
  const reference::Case of = reference::random_case(7, {.pods = 300, .offers = 8, .is_fine = true});
  const Advice advice = advice_for(of.pods, of.offers, {.nodes_max = 4'000'000});
  EXPECT_GT(advice.bound_micro_usd_per_hour, advice.micro_usd_per_hour / 3);
}

}  // namespace
}  // namespace berth::purchase::advise
