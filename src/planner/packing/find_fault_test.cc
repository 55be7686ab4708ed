#include "planner/packing/find_fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "domain/mig/catalogue.h"

namespace berth::packing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

GpuModel gpu(const char* name) { return *mig::find_gpu_model(name); }

ProfileId profile_of(const char* gpu_name, const char* name) { return *mig::find_profile(gpu(gpu_name), name); }

PerformancePoint row(const char* gpu_name, const char* profile, int batch, int processes, int rate, int latency) {
  return {.gpu = gpu_name,
          .profile = profile,
          .batch = batch,
          .processes = processes,
          .requests_per_second = Decimal(rate),
          .latency_ms = Decimal(latency)};
}

PackedSlice slice(std::uint32_t on_gpu, int start, ProfileId profile, std::uint32_t demand, int batch, int rate) {
  return {.slice = {.gpu = {on_gpu}, .start = start, .profile = profile},
          .demand = demand,
          .batch = batch,
          .processes = 1,
          .requests_per_second = Decimal(rate)};
}

/// At most two A100 and one T4: "bert" needs 300 requests per second with a target of 20 ms (points below 9 ms), "gnn"
/// 130, "idle" none.
PackingProblem problem() {
  PackingProblem made;
  made.offers = {{.model = gpu("A100-80GB"), .count_max = 2, .micro_usd_per_hour = {}},
                 {.model = gpu("T4-16GB"), .count_max = 1, .micro_usd_per_hour = {}}};
  made.demands = {{.model = "bert", .tenant = "red", .requests_per_second = Decimal(300), .latency_ms = Decimal(20)},
                  {.model = "gnn", .tenant = "gnn", .requests_per_second = Decimal(130), .latency_ms = Decimal(100)},
                  {.model = "idle", .tenant = "idle", .requests_per_second = Decimal(0), .latency_ms = Decimal(20)}};
  made.tables = {
      {.model = "bert",
       .points = {row("A100-80GB", "1g.10gb", 1, 1, 40, 8), row("A100-80GB", "2g.20gb", 1, 1, 100, 8),
                  row("A100-80GB", "2g.20gb", 2, 1, 120, 9), row("A100-80GB", "2g.20gb", 1, 4, 150, 8)}},
      {.model = "gnn", .points = {row("A100-80GB", "3g.40gb", 1, 1, 90, 10), row("T4-16GB", "full", 1, 1, 60, 30)}},
      {.model = "idle", .points = {row("A100-80GB", "1g.10gb", 1, 1, 40, 8)}}};
  return made;
}

/// GPU 0: three 2g of bert; GPU 1: a 3g of gnn; GPU 2: the whole T4 for gnn.
Packing packing() {
  const ProfileId two = profile_of("A100-80GB", "2g.20gb");
  const ProfileId three = profile_of("A100-80GB", "3g.40gb");
  return {.gpu_offers = {0, 0, 1},
          .slices = {slice(0, 0, two, 0, 1, 100), slice(0, 2, two, 0, 1, 100), slice(0, 4, two, 0, 1, 100),
                     slice(1, 4, three, 1, 1, 90), slice(2, 0, ProfileId::full(), 1, 1, 60)}};
}

/// The fault of a damaged plan, and of a changed problem.
std::string fault_after(const std::function<void(PackingProblem&, Packing&)>& damage) {
  PackingProblem asked = problem();
  Packing plan = packing();
  damage(asked, plan);
  return find_fault(asked, plan).value_or("(none)");
}

std::string fault_after(const std::function<void(Packing&)>& damage) {
  return fault_after([&](PackingProblem&, Packing& plan) { damage(plan); });
}

TEST(FindFault, ASoundPlanHasNone) {
  EXPECT_EQ(find_fault(problem(), packing()), std::nullopt);
  EXPECT_EQ(find_fault({}, {}), std::nullopt);
}

TEST(FindFault, Gpus) {
  EXPECT_THAT(fault_after([](Packing& plan) { plan.gpu_offers[2] = 2; }),
              HasSubstr("gpu-2: wanted an offer below 2, found 2"));
  EXPECT_THAT(fault_after([](PackingProblem& asked, Packing&) { asked.offers[0].count_max = 1; }),
              HasSubstr("A100-80GB: wanted at most 1 GPUs, found 2"));
  EXPECT_THAT(fault_after([](PackingProblem& asked, Packing&) { asked.offers[1].count_max = 0; }),
              HasSubstr("T4-16GB: wanted at most 0 GPUs, found 1"));
  EXPECT_THAT(fault_after([](PackingProblem& asked, Packing& plan) {
                asked.offers[0].count_max = std::nullopt;
                plan.gpu_offers.push_back(0);
              }),
              HasSubstr("gpu-3 (A100-80GB): wanted a slice, found none"));
}

TEST(FindFault, SlicesOfNoGpuOrDemandOrOutOfOrder) {
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices.back().slice.gpu.index = 3; }),
              HasSubstr("gpu-3, start 0: wanted a GPU below 3"));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[1].demand = 3; }),
              HasSubstr("gpu-0, start 2: wanted a demand below 3, found 3"));
  EXPECT_THAT(fault_after([](Packing& plan) { std::swap(plan.slices[0], plan.slices[1]); }),
              HasSubstr("gpu-0, start 0: wanted slices by GPU, then start, found it after gpu-0, start 2"));
}

TEST(FindFault, IllegalPartitions) {
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[1].slice.start = 3; }),
              AllOf(HasSubstr("gpu-0 (A100-80GB)"), HasSubstr("2g.20gb can start at 0, 2, 4")));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[1].slice.start = 0; }), HasSubstr("overlap"));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[1] = plan.slices[0]; }), HasSubstr("overlap"));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[3].slice.profile = {99}; }),
              HasSubstr("A100-80GB has no profile number 99"));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[4].slice.profile = {0}; }),
              HasSubstr("T4-16GB has no profile number 0"));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[4].slice.start = 1; }),
              HasSubstr("full can only start at 0"));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[2].slice.profile = ProfileId::full(); }),
              HasSubstr("full can only start at 0"));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[0].slice.profile = ProfileId::full(); }),
              HasSubstr("overlap"));
}

TEST(FindFault, MediaEnginesAndCountsOfAProfile) {
  const ProfileId with_media = profile_of("A100-80GB", "1g.10gb+me");
  EXPECT_THAT(fault_after([&](Packing& plan) {
                plan.slices[0].slice.profile = with_media;
                plan.slices[1].slice.profile = with_media;
              }),
              HasSubstr("gpu-0 (A100-80GB)"));
}

TEST(FindFault, PointsThatWereNotMeasured) {
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[0].batch = 3; }),
              AllOf(HasSubstr("gpu-0 (A100-80GB), 2g.20gb@0, model \"bert\" of tenant \"red\""),
                    HasSubstr("found batch 3 with 1 processes, which no row has")));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[0].processes = 2; }), HasSubstr("which no row has"));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[3].slice.profile = profile_of("A100-80GB", "2g.20gb"); }),
              HasSubstr("gpu-1 (A100-80GB), 2g.20gb@4, model \"gnn\": wanted a measured point"));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[4].demand = 0; }),
              HasSubstr("gpu-2 (T4-16GB), full@0, model \"bert\""));
  EXPECT_THAT(fault_after([](PackingProblem& asked, Packing&) { asked.tables.pop_back(); }), "(none)");
  EXPECT_THAT(fault_after([](PackingProblem& asked, Packing&) { asked.tables.erase(asked.tables.begin() + 1); }),
              HasSubstr("model \"gnn\": wanted a measured point"));
}

TEST(FindFault, AWholeGpuThatCanBeCutNeedsRowsOfItsOwn) {
  PackingProblem asked = problem();
  asked.demands = {asked.demands[1]};
  asked.demands[0].requests_per_second = Decimal(70);
  asked.tables[1].points.push_back(row("A100-80GB", "7g.80gb", 1, 1, 70, 9));
  Packing plan{.gpu_offers = {0}, .slices = {slice(0, 0, ProfileId::full(), 0, 1, 70)}};
  EXPECT_THAT(find_fault(asked, plan).value_or("(none)"), HasSubstr("full@0"));
  asked.tables[1].points.push_back(row("A100-80GB", "full", 1, 1, 70, 9));
  EXPECT_EQ(find_fault(asked, plan), std::nullopt);
}

TEST(FindFault, PointsThatAreNotUsable) {
  EXPECT_THAT(fault_after([](Packing& plan) {
                plan.slices[0].batch = 2;  // 9 ms is not below 0.45 x 20 ms
                plan.slices[0].requests_per_second = Decimal(120);
              }),
              HasSubstr("wanted a latency below 9 ms, found 9 ms (batch 2, 1 processes)"));
  EXPECT_THAT(fault_after([](Packing& plan) {
                plan.slices[0].processes = 4;
                plan.slices[0].requests_per_second = Decimal(150);
              }),
              HasSubstr("wanted at most 3 processes, found 4"));
  EXPECT_THAT(fault_after([](PackingProblem& asked, Packing&) { asked.rules.slo_factor = Decimal(4, 10); }),
              HasSubstr("wanted a latency below 8 ms, found 8 ms"));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices[0].requests_per_second = Decimal(101); }),
              HasSubstr("wanted the measured 100 requests per second, found 101"));
}

TEST(FindFault, RatesAreMetExactly) {
  EXPECT_THAT(fault_after([](PackingProblem& asked, Packing&) {
                asked.demands[0].requests_per_second = *Decimal::parse("300.000000000000000000001");
              }),
              HasSubstr("of tenant \"red\": wanted 300.000000000000000000001 requests per second, found 300"));
  EXPECT_THAT(fault_after([](PackingProblem& asked, Packing&) { asked.rules.headroom = Decimal(12, 10); }),
              HasSubstr("wanted 360 requests per second, found 300"));
  EXPECT_THAT(fault_after([](Packing& plan) { plan.slices.erase(plan.slices.begin()); }),
              HasSubstr("wanted 300 requests per second, found 200"));
}

TEST(FindFault, NoSliceIsSurplus) {
  EXPECT_THAT(
      fault_after([](PackingProblem& asked, Packing&) { asked.demands[0].requests_per_second = Decimal(200); }),
      HasSubstr("gpu-0 (A100-80GB), 2g.20gb@0, model \"bert\" of tenant \"red\": wanted no surplus slice, found "
                "200 requests per second without it, of 200 wanted"));
  EXPECT_EQ(fault_after([](PackingProblem& asked, Packing&) {
              asked.demands[0].requests_per_second = *Decimal::parse("200.1");
            }),
            "(none)");
  EXPECT_THAT(fault_after([](Packing& plan) {
                plan.slices.insert(plan.slices.begin() + 3, slice(0, 6, profile_of("A100-80GB", "1g.10gb"), 2, 1, 40));
              }),
              HasSubstr("gpu-0 (A100-80GB), 1g.10gb@6, model \"idle\": wanted no surplus slice"));
}

TEST(FindFault, TenantsApart) {
  const auto share = [](PackingProblem& asked, Packing& plan) {
    plan.slices[3].slice = {.gpu = {0}, .start = 4, .profile = profile_of("A100-80GB", "3g.40gb")};
    plan.slices[2].slice.gpu = {1};
    std::swap(plan.slices[2], plan.slices[3]);
    asked.rules.keeps_tenants_apart = false;
  };
  EXPECT_EQ(fault_after(share), "(none)");
  EXPECT_THAT(fault_after([&](PackingProblem& asked, Packing& plan) {
                share(asked, plan);
                asked.rules.keeps_tenants_apart = true;
              }),
              HasSubstr("gpu-0 (A100-80GB), 3g.40gb@4, model \"gnn\": wanted tenants apart, found tenant \"red\""));
  EXPECT_EQ(fault_after([](PackingProblem& asked, Packing&) { asked.rules.keeps_tenants_apart = true; }), "(none)");
}

}  // namespace
}  // namespace berth::packing
