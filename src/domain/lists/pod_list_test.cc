#include "domain/lists/pod_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string pod_header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";

std::string pod_refusal(const std::string& text) {
  const auto pods = read_pods(text, "p.csv");
  return pods ? "" : pods.error().message;
}

TEST(PodList, ReadsWholeSharedAndCpuOnlyPodsInTheOrderOfTheirRows) {
  const auto pods = read_pods(pod_header + "b,12000,16384,2,1000\na,6000,12288,1,460\nc,1,0,0,0\n", "p.csv");
  ASSERT_TRUE(pods.has_value()) << pods.error().message;
  ASSERT_EQ(pods->size(), 3U);
  EXPECT_EQ((*pods)[0].name, "b");
  EXPECT_EQ((*pods)[0].cpu_milli, 12'000);
  EXPECT_EQ((*pods)[0].memory_mib, 16'384);
  EXPECT_EQ((*pods)[0].gpu_count, 2);
  EXPECT_EQ((*pods)[0].gpu_milli, 1000);
  EXPECT_FALSE((*pods)[0].is_shared());
  EXPECT_TRUE((*pods)[1].is_shared());
  EXPECT_EQ((*pods)[1].gpu_milli, 460);
  EXPECT_EQ((*pods)[2].gpu_count, 0);
  EXPECT_FALSE((*pods)[2].is_shared());
  EXPECT_THAT((*pods)[2].gpu_models, IsEmpty());
  EXPECT_EQ((*pods)[2].gpu_memory_mib, 0);
}

TEST(PodList, FindsColumnsByNameAndIgnoresOthers) {
  const auto pods = read_pods(
      "qos,gpu_memory_mib,gpu_milli,num_gpu,gpu_spec,gang,memory_mib,cpu_milli,name\n"
      "LS,40000,1000,1,A100|V100M32|A100|,g1,5,4,p\n"
      "BE,,0,0,,,7,6,q\n",
      "p.csv");
  ASSERT_TRUE(pods.has_value()) << pods.error().message;
  EXPECT_THAT((*pods)[0].gpu_models, ElementsAre("A100", "V100M32"));
  EXPECT_EQ((*pods)[0].gang, "g1");
  EXPECT_EQ((*pods)[0].gpu_memory_mib, 40'000);
  EXPECT_EQ((*pods)[0].memory_mib, 5);
  EXPECT_EQ((*pods)[1].name, "q");
  EXPECT_EQ((*pods)[1].cpu_milli, 6);
  EXPECT_EQ((*pods)[1].gpu_memory_mib, 0);
}

TEST(PodList, RefusesWhatIsNoShareOfItsGpus) {
  EXPECT_EQ(pod_refusal(pod_header + "a,1,1,0,1\n"), "p.csv:2:9: gpu_milli: wanted 0 with num_gpu 0, found \"1\"");
  EXPECT_EQ(pod_refusal(pod_header + "a,1,1,1,0\n"),
            "p.csv:2:9: gpu_milli: wanted a whole number from 1 to 1000 with num_gpu 1, found \"0\"");
  EXPECT_EQ(pod_refusal(pod_header + "a,1,1,1,1001\n"),
            "p.csv:2:9: gpu_milli: wanted a whole number from 1 to 1000 with num_gpu 1, found \"1001\"");
  EXPECT_EQ(pod_refusal(pod_header + "a,1,1,2,500\n"),
            "p.csv:2:9: gpu_milli: wanted 1000 with num_gpu 2, found \"500\"");
}

TEST(PodList, RefusesRowsWithTheirPlace) {
  EXPECT_THAT(pod_refusal(pod_header + "a,1,1,0,0\n,1,1,0,0\n"), ::testing::StartsWith("p.csv:3:1: name: wanted"));
  EXPECT_THAT(pod_refusal(pod_header + "a,-1,1,0,0\n"), ::testing::StartsWith("p.csv:2:3: cpu_milli: wanted"));
  EXPECT_THAT(pod_refusal(pod_header + "a,1.5,1,0,0\n"), ::testing::StartsWith("p.csv:2:3: cpu_milli: wanted"));
  EXPECT_THAT(pod_refusal(pod_header + "a,1,1000000001,0,0\n"), ::testing::StartsWith("p.csv:2:5: memory_mib: wanted"));
  EXPECT_THAT(pod_refusal(pod_header + "a,1,1,0\n"), ::testing::StartsWith("p.csv:2:1: wanted 5 fields"));
  EXPECT_THAT(pod_refusal(pod_header + "a,1,1,0,0\na,1,1,0,0\n"),
              ::testing::StartsWith("p.csv:3:1: name: wanted a name that no other pod has"));
}

TEST(PodList, RefusesFilesWithoutPodsOrColumns) {
  EXPECT_THAT(pod_refusal(pod_header), ::testing::HasSubstr("wanted at least one pod, found none"));
  EXPECT_THAT(pod_refusal("name,cpu_milli,memory_mib,num_gpu\na,1,1,0\n"), ::testing::HasSubstr("gpu_milli"));
  EXPECT_THAT(pod_refusal("name,name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"), ::testing::HasSubstr("name"));
  EXPECT_NE(pod_refusal(""), "");
}

const PodListForm with_profiles = {
    .is_profile = [](std::string_view name) { return name == "2g.20gb" || name == "3g.40gb"; },
    .fits_one_gpu = [](const SliceRequest& request) { return request.count <= 3; }};

std::string profile_refusal(const std::string& rows) {
  const auto pods = read_pods("name,cpu_milli,memory_mib,num_gpu,gpu_milli,profile\n" + rows, "p.csv", with_profiles);
  return pods ? "" : pods.error().message;
}

TEST(PodList, ReadsProfilesInOrderOfPreferenceWhereTheyAreWanted) {
  const std::string text =
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,profile\na,1,1,1,,B|A|B,3g.40gb|2x2g.20gb\nb,1,1,1,300,,2g."
      "20gb\n";
  const auto pods = read_pods(text, "p.csv", with_profiles);
  ASSERT_TRUE(pods.has_value()) << pods.error().message;
  EXPECT_THAT((*pods)[0].slices, ElementsAre(SliceRequest{1, "3g.40gb"}, SliceRequest{2, "2g.20gb"}));
  EXPECT_EQ((*pods)[0].gpu_milli, 0);
  EXPECT_EQ((*pods)[0].gpu_spec, "B|A|B");
  EXPECT_THAT((*pods)[1].slices, ElementsAre(SliceRequest{1, "2g.20gb"}));
  EXPECT_EQ((*pods)[1].gpu_milli, 300);
  EXPECT_FALSE(read_pods(text, "p.csv").has_value()) << "without profiles gpu_milli may not be empty";
}

TEST(PodList, RefusesUnknownProfilesAndThoseOfPodsWithoutExactlyOneGpu) {
  EXPECT_EQ(profile_refusal("a,1,1,1,500,4g.40gb\n"),
            "p.csv:2:13: profile: wanted MIG profiles such as 3g.40gb or 2x2g.20gb, joined by |, "
            "found \"4g.40gb\"");
  EXPECT_EQ(profile_refusal("a,1,1,1,500,2g.20gb|\n"),
            "p.csv:2:13: profile: wanted MIG profiles such as 3g.40gb or 2x2g.20gb, joined by |, "
            "found \"2g.20gb|\"");
  EXPECT_EQ(profile_refusal("a,1,1,1,500,0x2g.20gb\n"),
            "p.csv:2:13: profile: wanted MIG profiles such as 3g.40gb or 2x2g.20gb, joined by |, "
            "found \"0x2g.20gb\"");
  EXPECT_EQ(profile_refusal("a,1,1,2,1000,2g.20gb\n"),
            "p.csv:2:14: profile: wanted nothing with num_gpu 2, found \"2g.20gb\"");
  EXPECT_EQ(
      profile_refusal("a,1,1,1,,4x2g.20gb|2g.20gb\n"),
      "p.csv:2:10: profile: wanted first slices that one GPU can hold or a gpu_milli, found \"4x2g.20gb|2g.20gb\"");
  EXPECT_EQ(profile_refusal("a,1,1,1,,\n"),
            "p.csv:2:9: gpu_milli: wanted a whole number from 1 to 1000 with num_gpu 1, found nothing");
}

}  // namespace
}  // namespace berth
