#include "gpu/programs/program_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/yaml/document.h"
#include "base/yaml/reader.h"
#include "gpu/programs/placeholders.h"
#include "gpu/programs/read_rules.h"

namespace berth::programs {
namespace {

constexpr const char* kRules = R"(
templates:
  triton: {command: [/opt/tritonserver, "--http-port={port}", "--model-repository=/models/{model}", "{{x}}"],
           parameters: {model: "[a-z0-9-]{1,40}"}, ready: /v2/health/ready, ready_seconds: 60, drain_seconds: 20,
           tenants: [vision], in_flight_max: 64, memory_mib: 8192, files_max: 512}
repositories: {demo: {path: /srv/berth/models, tenants: [vision]}}
uids: 600000-600999
)";

Result<ProgramRules> rules_in(const std::string& text) {
  const auto tree = yaml::parse_document(text, "hands.yaml");
  if (!tree) return pass_on(tree.error());
  yaml::Report report("hands.yaml");
  ProgramRules rules = read_rules(yaml::Value(*tree, report));
  if (report.has_failed()) return pass_on(report.failure());
  return rules;
}

ProcessOrder triton_order() {
  return {.template_name = "triton",
          .parameters = {{"model", "digits"}},
          .tenant = "vision",
          .slice = "gpu-3-1g.10gb-2",
          .generation = 17,
          .device_uuid = "MIG-4ceef522-253f-5626-b485-5d5ccc2f4a53"};
}

ProcessOrder serve_order() {
  ProcessOrder order = triton_order();
  order.template_name = "serve";
  order.parameters = {{"repository", "demo"}, {"model", "digits"}};
  return order;
}

TEST(ProgramPlan, AParameterIsPartOfOneArgument) {
  const auto rules = rules_in(kRules);
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_EQ(rules->uids, (UidRange{.first = 600'000, .last = 600'999}));
  const ProcessOrder order = triton_order();
  ASSERT_TRUE(check_order(order, *rules).has_value());
  const ProgramPlan plan = plan_of(order, *rules, {.port = 8001});
  EXPECT_EQ(plan.words, (std::vector<std::string>{"/opt/tritonserver", "--http-port=8001",
                                                  "--model-repository=/models/digits", "{x}"}));
  EXPECT_EQ(plan.ready, "/v2/health/ready");
  EXPECT_EQ(plan.limits,
            (ProgramLimits{
                .ready_seconds = 60, .drain_seconds = 20, .in_flight_max = 64, .memory_mib = 8192, .files_max = 512}));
  EXPECT_EQ(program_name(order.slice, order.generation), "gpu-3-1g.10gb-2-17");
}

TEST(ProgramPlan, ServeIsThisProgramOnOneModel) {
  const auto rules = rules_in(kRules);
  ASSERT_TRUE(rules.has_value());
  ASSERT_TRUE(check_order(serve_order(), *rules).has_value());
  const ProgramPlan real = plan_of(serve_order(), *rules, {.port = 8001, .model_folder = "/s/models"});
  EXPECT_TRUE(real.is_serve);
  EXPECT_EQ(real.words, (std::vector<std::string>{"berth", "serve", "--repository", "/s/models", "--listen",
                                                  "127.0.0.1:8001", "--grpc", "127.0.0.1:0", "--device", "cuda:0"}));
  EXPECT_EQ(real.model_path, "/srv/berth/models/digits");
  const ProgramPlan simulated =
      plan_of(serve_order(), *rules, {.port = 1, .model_folder = "/s", .device_file = "/d.yaml", .engine = "/e.so"});
  EXPECT_EQ((std::vector<std::string>(simulated.words.end() - 3, simulated.words.end())),
            (std::vector<std::string>{"simulated:/d.yaml", "--engine", "/e.so"}));
}

TEST(ProgramPlan, OrdersAgainstTheRulesSayFieldWantedAndFound) {
  const auto rules = rules_in(kRules);
  ASSERT_TRUE(rules.has_value());
  const auto changed = [](ProcessOrder order, const std::string& parameter, const std::string& value) {
    order.parameters[parameter] = value;
    return order;
  };
  ProcessOrder other_tenant = triton_order();
  other_tenant.tenant = "other";
  ProcessOrder no_slice = triton_order();
  no_slice.slice = "../etc";
  ProcessOrder no_device = triton_order();
  no_device.device_uuid = "MIG-1,GPU-2";
  const std::vector<std::pair<ProcessOrder, std::string>> cases = {
      {changed(triton_order(), "model", "a/../b"),
       "run.parameters.model: wanted a text of at most 256 printable bytes that matches \"[a-z0-9-]{1,40}\", found "
       "\"a/../b\""},
      {changed(triton_order(), "more", "a"),
       R"(run.parameters: wanted parameters of template triton (model), found "more")"},
      {other_tenant, R"(run.template: wanted one that the GPU agent allows tenant "other", found "triton")"},
      {changed(serve_order(), "model", "../x"), "run.serve.model: wanted a text"},
      {changed(serve_order(), "repository", "none"),
       R"(run.serve.repository: wanted a repository of the GPU agent (demo), found "none")"},
      {changed(serve_order(), "device", "x"), R"(run.serve: wanted repository and model, found "device")"},
      {no_slice, "slice: wanted a name"},
      {no_device, "device: wanted the UUID"}};
  for (const auto& [order, message] : cases) {
    const auto checked = check_order(order, *rules);
    ASSERT_FALSE(checked.has_value()) << message;
    EXPECT_TRUE(checked.error().message.starts_with(message)) << checked.error().message;
  }
}

TEST(ReadRules, WrongRulesAreRefusedWithTheirPlace) {
  const std::string front = "uids: 600000-600001\ntemplates: {t: {";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {front + "command: [bin/x], ready: /, tenants: [a]}}", "command[0]: wanted the absolute path of a program"},
      {front + "command: ['/bin/{x}'], parameters: {x: a}, ready: /, tenants: [a]}}",
       "command[0]: wanted the absolute path"},
      {front + "command: [/x, '{y}'], ready: /, tenants: [a]}}", "command[1]: wanted {port} or a parameter"},
      {front + "command: [/x, '{y'], ready: /, tenants: [a]}}", "command[1]: wanted {NAME}, {{ or }}"},
      {front + "command: [/x], parameters: {y: a}, ready: /, tenants: [a]}}",
       "parameters.y: wanted an argument with {y}"},
      {front + "command: [/x, '{y}'], parameters: {y: '('}, ready: /, tenants: [a]}}",
       "parameters.y: wanted ) at the end"},
      {front + "command: [/x, '{port}'], parameters: {port: a}, ready: /, tenants: [a]}}", "another name than port"},
      {front + "command: [/x], ready: health, tenants: [a]}}", "ready: wanted a path"},
      {front + "command: [/x], ready: '/a b', tenants: [a]}}", "ready: wanted a path of printable bytes"},
      {front + "command: [/x], ready: /, tenants: []}}", "tenants: wanted a list of at least one tenant"},
      {front + "command: [/x], ready: /, tenants: [a], cpu: 1}}", "unknown key \"cpu\""},
      {"uids: 600000-600001\ntemplates: {serve: {command: [/x], ready: /, tenants: [a]}}",
       "wanted another name than serve"},
      {"templates: {t: {command: [/x], ready: /, tenants: [a]}}", "uids: wanted a range"},
      {"uids: 0-10", "uids: wanted a range"},
      {"uids: 600000", "uids: wanted a range"},
      {"uids: 600001-600000", "uids: wanted a range"},
      {"repositories: {r: {path: models, tenants: [a]}}", "repositories.r.path: wanted the absolute path"}};
  for (const auto& [text, message] : cases) {
    const auto rules = rules_in(text);
    ASSERT_FALSE(rules.has_value()) << text;
    EXPECT_NE(rules.error().message.find(message), std::string::npos) << rules.error().message;
  }
  EXPECT_TRUE(rules_in("separate_users: false\ntemplates: {t: {command: [/x], ready: /, tenants: [a]}}").has_value());
}

TEST(Placeholders, BracesAreDoubledOrAName) {
  EXPECT_EQ(placeholders_of("a{b}c{{d}}{e}").value(), (std::vector<std::string>{"b", "e"}));
  EXPECT_EQ(filled("a{b}c{{d}}{e}", {{"b", "{x}"}, {"e", ""}}), "a{x}c{d}");
  for (const char* const text : {"{", "}", "{}", "{a{b}}", "a}b"})
    EXPECT_FALSE(placeholders_of(text).has_value()) << text;
}

}  // namespace
}  // namespace berth::programs
