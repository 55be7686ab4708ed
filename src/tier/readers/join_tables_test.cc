#include "tier/readers/join_tables.h"

#include <gtest/gtest.h>

#include <vector>

#include "tier/readers/read_csv.h"

namespace berth::tier {
namespace {

NamedTable table_of(const std::string& file, const std::string& rows, bool has_latency = true) {
  const std::vector<Tier> tiers = {{.name = "t4", .usd_per_hour = Decimal(1)},
                                   {.name = "a30", .usd_per_hour = Decimal(2)}};
  const std::string head = "group,workload,tier,batch,processes,samples_per_second,";
  auto table =
      read_csv(head + (has_latency ? "latency_ms,flops\n" : "flops\n") + rows, file, tiers, OtherTiers::kLeaveOut);
  EXPECT_TRUE(table.has_value()) << table.error().message;
  return {.file = file, .table = *table};
}

std::string joined_refusal(const NamedTable& first, const NamedTable& second) {
  const auto joined = join_tables(std::vector{first, second});
  return joined ? "" : joined.error().message;
}

TEST(JoinTables, PutsTheRowsOfAWorkloadTogether) {
  const auto joined = join_tables(std::vector{table_of("a.csv", "m,w,t4,1,1,10,5,7\nm,w,h100,1,1,10,5,7\n"),
                                              table_of("b.csv", "m,v,a30,1,1,30,5,7\nm,w,a30,1,1,20,5,7\n")});
  ASSERT_TRUE(joined.has_value()) << joined.error().message;
  ASSERT_EQ(joined->workloads.size(), 2U);
  EXPECT_EQ(joined->workloads[0].name, "w");
  EXPECT_EQ(joined->workloads[0].points[0].size(), 1U);
  EXPECT_EQ(joined->workloads[0].points[1][0].samples_per_second, Decimal(20));
  EXPECT_EQ(joined->rows_left_out, 1);
}

TEST(JoinTables, RefusesWhatContradicts) {
  const NamedTable first = table_of("a.csv", "m,w,t4,1,1,10,5,7\n");
  EXPECT_EQ(joined_refusal(first, table_of("b.csv", "m,w,t4,1,1,11,5,7\n")),
            "b.csv: workload \"w\" of group \"m\": wanted other rows than those of the files before, found a second "
            "one on t4");
  EXPECT_EQ(joined_refusal(first, table_of("b.csv", "m,w,a30,1,1,11,5,8\n")),
            "b.csv: workload \"w\" of group \"m\": wanted the graph figures of the files before, found others");
  EXPECT_EQ(joined_refusal(first, table_of("b.csv", "m,w,a30,1,1,11,7\n", false)),
            "b.csv: wanted rows with a latency, as in a.csv, found rows without a latency");
}

}  // namespace
}  // namespace berth::tier
