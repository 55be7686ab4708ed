#include "domain/tracing/otel_options.h"

#include <gmock/gmock.h>

#include <map>

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

using Variables = std::map<std::string, std::string, std::less<>>;

Result<OtelReading> read(const Variables& variables) {
  const Environment environment = [&](std::string_view name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  };
  return read_otel_options(environment, "berth");
}

/// With an endpoint and these variables; it must be readable.
OtelReading with(Variables variables) {
  variables.emplace("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
  return read(variables).value();
}

TEST(OtelOptions, WithoutAnEndpointAllIsOff) {
  EXPECT_TRUE(read({})->options.is_off());
  EXPECT_TRUE(read({{"OTEL_EXPORTER_OTLP_ENDPOINT", " "}, {"OTEL_TRACES_SAMPLER", "x"}})->options.is_off());
  EXPECT_TRUE(with({{"OTEL_SDK_DISABLED", "true"}}).options.is_off());
}

TEST(OtelOptions, TheUsualOnesSendAllTraces) {
  const OtelReading reading = with({});
  EXPECT_EQ(reading.options.traces_url, "http://127.0.0.1:4318/v1/traces");
  EXPECT_EQ(reading.options.metrics_url, "");
  EXPECT_EQ(reading.options.sampler, Sampler());
  EXPECT_THAT(reading.options.resource, ElementsAre(Pair("service.name", "berth")));
  EXPECT_THAT(reading.warnings, IsEmpty());
}

TEST(OtelOptions, AnEndpointMayHaveAPathAndIsCheckedStrictly) {
  const auto url = [](const std::string& endpoint) {
    return read({{"OTEL_EXPORTER_OTLP_ENDPOINT", endpoint}})->options.traces_url;
  };
  EXPECT_EQ(url("https://collector.example/otlp/"), "https://collector.example/otlp/v1/traces");
  EXPECT_EQ(url("http://[::1]:4318"), "http://[::1]:4318/v1/traces");
  for (const char* bad : {"127.0.0.1:4318", "grpc://a", "http://", "http://:4318", "http://a:0", "http://a:99999",
                          "http://a:x", "http://a b", "http://a?x", "http://a#x", "http:///v1", "http://[]:1"}) {
    const auto reading = read({{"OTEL_EXPORTER_OTLP_ENDPOINT", bad}});
    ASSERT_FALSE(reading) << bad;
    EXPECT_EQ(reading.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(reading.error().message, HasSubstr("OTEL_EXPORTER_OTLP_ENDPOINT: wanted a URL"));
  }
}

TEST(OtelOptions, AnotherProtocolSendsNothing) {
  const OtelReading reading = with({{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}});
  EXPECT_TRUE(reading.options.is_off());
  EXPECT_THAT(reading.warnings,
              ElementsAre(HasSubstr("OTEL_EXPORTER_OTLP_PROTOCOL: wanted http/json, found \"grpc\"")));
  EXPECT_FALSE(with({{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"}}).options.is_off());
}

TEST(OtelOptions, HeadersAreDecodedAndNeverShown) {
  const OtelReading good = with({{"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20secret%3D, x-team = gpu,"}});
  EXPECT_THAT(good.options.headers, ElementsAre(HttpField{"api-key", "a secret="}, HttpField{"x-team", "gpu"}));
  for (const char* bad : {"canary", "a b=canary", "x=canary%0d%0aY: z", "x=canary%2", "=canary"}) {
    const OtelReading reading = with({{"OTEL_EXPORTER_OTLP_HEADERS", bad}});
    EXPECT_THAT(reading.options.headers, IsEmpty()) << bad;
    ASSERT_EQ(reading.warnings.size(), 1U);
    EXPECT_THAT(reading.warnings[0], ::testing::Not(HasSubstr("canary")));
  }
}

TEST(OtelOptions, TheNameOfTheServiceTakesPrecedence) {
  const Variables both = {{"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=lab%20a"},
                          {"OTEL_SERVICE_NAME", "berth-a"}};
  EXPECT_THAT(with(both).options.resource,
              ElementsAre(Pair("deployment.environment.name", "lab a"), Pair("service.name", "berth-a")));
  EXPECT_THAT(with({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=other"}}).options.resource,
              ElementsAre(Pair("service.name", "other")));
  const OtelReading bad = with({{"OTEL_RESOURCE_ATTRIBUTES", "a=b,c"}});
  EXPECT_THAT(bad.options.resource, ElementsAre(Pair("service.name", "berth")));
  EXPECT_THAT(bad.warnings, ElementsAre(HasSubstr("OTEL_RESOURCE_ATTRIBUTES")));
}

TEST(OtelOptions, Samplers) {
  const auto sampler = [](const std::string& name, const std::string& argument) {
    return with({{"OTEL_TRACES_SAMPLER", name}, {"OTEL_TRACES_SAMPLER_ARG", argument}});
  };
  EXPECT_EQ(sampler("always_on", "0.5").options.sampler, (Sampler{.share = 1, .follows_parent = false}));
  EXPECT_EQ(sampler("always_off", "").options.sampler, (Sampler{.share = 0, .follows_parent = false}));
  EXPECT_EQ(sampler("traceidratio", "0.25").options.sampler, (Sampler{.share = 0.25, .follows_parent = false}));
  EXPECT_EQ(sampler("parentbased_traceidratio", "").options.sampler, Sampler());
  EXPECT_EQ(sampler("parentbased_always_off", "").options.sampler, (Sampler{.share = 0}));
  for (const char* bad : {"-0.1", "1.5", "half", "nan", "0.5x"}) {
    const OtelReading reading = sampler("parentbased_traceidratio", bad);
    EXPECT_EQ(reading.options.sampler, Sampler()) << bad;
    EXPECT_THAT(reading.warnings, ElementsAre(HasSubstr("OTEL_TRACES_SAMPLER_ARG")));
  }
  const OtelReading unknown = sampler("jaeger_remote", "");
  EXPECT_EQ(unknown.options.sampler, Sampler());
  EXPECT_THAT(unknown.warnings, ElementsAre(HasSubstr("OTEL_TRACES_SAMPLER: wanted")));
}

TEST(OtelOptions, ExportersCanBeChosen) {
  const OtelReading metrics = with({{"OTEL_METRICS_EXPORTER", "otlp"}, {"OTEL_TRACES_EXPORTER", "none"}});
  EXPECT_EQ(metrics.options.metrics_url, "http://127.0.0.1:4318/v1/metrics");
  EXPECT_EQ(metrics.options.traces_url, "");
  const OtelReading bad = with({{"OTEL_METRICS_EXPORTER", "prometheus"}});
  EXPECT_EQ(bad.options.metrics_url, "");
  EXPECT_THAT(bad.warnings, ElementsAre(HasSubstr("OTEL_METRICS_EXPORTER: wanted otlp or none")));
}

TEST(OtelOptions, MetricsGoOutEachQuarterMinuteOrAsTheEnvironmentSays) {
  EXPECT_EQ(with({}).options.metrics_interval_ms, 15'000);
  EXPECT_EQ(with({{"OTEL_METRIC_EXPORT_INTERVAL", "500"}}).options.metrics_interval_ms, 500);
  for (const char* bad : {"0", "99", "-1", "1.5", "soon", "86400001"}) {
    const OtelReading reading = with({{"OTEL_METRIC_EXPORT_INTERVAL", bad}});
    EXPECT_EQ(reading.options.metrics_interval_ms, 15'000) << bad;
    EXPECT_THAT(reading.warnings, ElementsAre(HasSubstr("OTEL_METRIC_EXPORT_INTERVAL: wanted milliseconds")));
  }
}

}  // namespace
}  // namespace berth
