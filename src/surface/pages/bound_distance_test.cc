#include "surface/pages/bound_distance.h"

#include <gtest/gtest.h>

namespace berth::report {
namespace {

study::ReplayResult bounded(double any, double unshared) {
  study::ReplayResult result;
  result.bound.any = {.goodput = 0.1, .goodput_mean_of_services = any};
  result.bound.without_sharing = {.goodput = 0.1, .goodput_mean_of_services = unshared};
  return result;
}

measure::PolicyResult giving(double goodput) {
  measure::PolicyResult policy;
  policy.figures.goodput = 0.05;
  policy.figures.goodput_mean_of_services = goodput;
  return policy;
}

std::string bound_text(const study::ReplayResult& result) {
  json::Writer json;
  write_bound(json, result);
  return json.take();
}

TEST(BoundDistance, IsReportedInWords) {
  EXPECT_EQ(bound_distance(bounded(0.8, 0.8), giving(0.6)), "0.200 below the bound: 75.0 % of it");
  EXPECT_EQ(bound_distance(bounded(0.8, 0.8), giving(0.7996)), "at the bound: no policy can exceed it");
}

TEST(BoundDistance, IsThatOfPoliciesThatKeepServicesApartWhereThisOneDoes) {
  const study::ReplayResult result = bounded(0.8, 0.75);
  measure::PolicyResult policy = giving(0.6);
  EXPECT_EQ(bound_distance(result, policy), "0.150 below the bound without sharing: 80.0 % of it");
  policy.timeline.shares_slices = true;
  EXPECT_EQ(bound_distance(result, policy), "0.200 below the bound: 75.0 % of it");
}

TEST(BoundDistance, FollowsTheObjective) {
  study::ReplayResult result = bounded(0.8, 0.8);
  result.objective = Objective::kRequests;
  EXPECT_EQ(bound_distance(result, giving(0.6)), "0.050 below the bound: 50.0 % of it");
  EXPECT_EQ(bound_text(result), R"({"any":0.1,"unshared":0.1})");
}

TEST(BoundDistance, OfNothingIsNotReported) {
  measure::PolicyResult policy = giving(0.6);
  EXPECT_EQ(bound_distance({}, policy), "");
  EXPECT_EQ(bound_text({}), R"({"any":null,"unshared":null})");
  policy.figures.goodput_mean_of_services.reset();
  EXPECT_EQ(bound_distance(bounded(0.8, 0.8), policy), "");
  policy = giving(0.6);
  policy.infeasible = "no room";
  EXPECT_EQ(bound_distance(bounded(0.8, 0.8), policy), "");
}

}  // namespace
}  // namespace berth::report
