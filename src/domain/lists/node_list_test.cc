#include "domain/lists/node_list.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

const std::string node_header = "sn,cpu_milli,memory_mib,gpu,model\n";

std::string node_refusal(const std::string& text) {
  const auto nodes = read_nodes(text, "n.csv");
  return nodes ? "" : nodes.error().message;
}

TEST(NodeList, ReadsNodesInTheOrderOfTheirRowsAndFindsColumnsByName) {
  const auto nodes = read_nodes("model,zone,gpu,memory_mib,cpu_milli,sn\nT4,z1,2,4096,64000,b\n,z2,0,1,2,a\n", "n.csv");
  ASSERT_TRUE(nodes.has_value()) << nodes.error().message;
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_EQ((*nodes)[0].name, "b");
  EXPECT_EQ((*nodes)[0].cpu_milli, 64'000);
  EXPECT_EQ((*nodes)[0].memory_mib, 4096);
  EXPECT_EQ((*nodes)[0].gpu_count, 2);
  EXPECT_EQ((*nodes)[0].gpu_model, "T4");
  EXPECT_EQ((*nodes)[1].name, "a");
  EXPECT_EQ((*nodes)[1].gpu_count, 0);
  EXPECT_EQ((*nodes)[1].gpu_model, "");
}

TEST(NodeList, RefusesWhatCannotBeANodeWithItsPlace) {
  EXPECT_EQ(node_refusal(node_header + "a,1,1,17,T4\n"),
            "n.csv:2:7: gpu: wanted a whole number from 0 to 16, found \"17\"");
  EXPECT_EQ(node_refusal(node_header + "a,1,1,1,\n"), "n.csv:2:9: model: wanted 1 to 200 bytes, found nothing");
  EXPECT_EQ(node_refusal(node_header + "a,1,1,1," + std::string(200, 'x') + "\n"), "");
  EXPECT_EQ(node_refusal(node_header + "a,1,1,1," + std::string(201, 'x') + "\n"),
            "n.csv:2:9: model: wanted 1 to 200 bytes, found \"" + std::string(48, 'x') + "...\"");
  EXPECT_EQ(node_refusal(node_header + "a,1,-1,1,T4\n"),
            "n.csv:2:5: memory_mib: wanted a whole number from 0 to 1000000000, found \"-1\"");
  EXPECT_EQ(node_refusal(node_header + "a,1000000001,1,1,T4\n"),
            "n.csv:2:3: cpu_milli: wanted a whole number from 0 to 1000000000, found \"1000000001\"");
  EXPECT_EQ(node_refusal(node_header + "a,1,1,1,T4\na,1,1,1,T4\n"),
            "n.csv:3:1: sn: wanted a name that no other node has, found \"a\"");
  EXPECT_EQ(node_refusal(node_header + "a,1,1,1\n"), "n.csv:2:1: wanted 5 fields, found 4");
  EXPECT_EQ(node_refusal(node_header + "a,1,1,1,T4\nb,\"1\"0,1,1,T4\n"),
            "n.csv:3:6: wanted a comma after the closing quote, found \"0\"");
  EXPECT_EQ(node_refusal(node_header + "a,1,1,1,\"T4\n"),
            "n.csv:2:9: wanted a closing quote, found the end of the line");
  EXPECT_EQ(node_refusal("sn,\"cpu_milli\n"), "n.csv:1:4: wanted a closing quote, found the end of the line");
}

TEST(NodeList, RefusesAListWithoutNodesOrWithoutGpus) {
  EXPECT_EQ(node_refusal(node_header), "n.csv:1:1: wanted at least one node, found none");
  EXPECT_EQ(node_refusal(node_header + "a,1,1,0,\n"), "n.csv:1:1: wanted at least one node with GPUs, found none");
  EXPECT_EQ(node_refusal("sn,cpu_milli,memory_mib,gpu\n"),
            "n.csv:1:1: wanted a header with the columns sn,cpu_milli,memory_mib,gpu,model, found none named model");
}

}  // namespace
}  // namespace berth
