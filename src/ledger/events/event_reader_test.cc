#include "ledger/events/event_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace berth::ledger {
namespace {

constexpr std::int64_t kTimeMin = 946'684'800'000'000;
constexpr std::int64_t kTimeMax = 4'133'980'799'999'999;
constexpr std::int64_t kMoneyMax = 1'000'000'000'000'000;

const std::string price_text =
    R"({"type":"price","id":"p1","sku":"h100","from_us":1793491200000000,"micro_usd_per_gpu_hour":3490000})";
const std::string gpu_text =
    R"({"type":"gpu","id":"g1","gpu":"n0/0","sku":"h100","capacity":56,"from_us":1793491200000000,)"
    R"("to_us":1793491200000001})";
const std::string use_text =
    R"({"type":"use","id":"u1","gpu":"n0/0","slice":"3g@4","weight":28,"tenant":"acme","service":"chat",)"
    R"("role":"inference","from_us":1793491200000000,"to_us":1793491200000001})";
const std::string credit_text =
    R"({"type":"credit","id":"c1","tenant":"acme","at_us":1793491200000000,"micro_usd":5,"reason":"slo"})";
const std::string budget_text =
    R"({"type":"budget","id":"b1","tenant":"acme","from_us":1793491200000000,"micro_usd_per_month":7,"hard":true})";
const std::string rate_text =
    R"({"type":"rate","id":"r1","currency":"EUR","from_us":1793491200000000,"micro_per_usd":912345})";
const std::string void_text = R"({"type":"void","id":"v1","of":"u1"})";
const std::string close_text = R"({"type":"close","id":"x1","month":"2026-11"})";

constexpr std::int64_t kNovember = 1'793'491'200'000'000;

/// The line with one part of it replaced.
std::string changed(std::string line, std::string_view part, std::string_view by) {
  const std::size_t at = line.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return line.replace(at, part.size(), by);
}

/// Empty: the line is read.
std::string refusal(const std::string& line) {
  EventReader reader;
  const auto event = reader.read(line);
  return event ? "" : event.error().message;
}

/// Reads the line, which must be well-formed, and passes the event on while it is valid.
void read_event(const std::string& line, const auto& check) {
  EventReader reader;
  const auto event = reader.read(line);
  ASSERT_TRUE(event.has_value()) << event.error().message;
  check(*event);
}

void expect_event(const std::string& line, const Event& wanted) {
  read_event(line, [&](const Event& event) { EXPECT_TRUE(event == wanted) << line; });
}

TEST(EventReader, ReadsEveryType) {
  expect_event(
      price_text,
      {.id = "p1", .what = PriceEvent{.sku = "h100", .from_us = kNovember, .micro_usd_per_gpu_hour = 3'490'000}});
  GpuEvent gpu{.gpu = "n0/0",
               .sku = "h100",
               .capacity = 56,
               .when = {.from_us = kNovember, .to_us = kNovember + 1},
               .owner = std::nullopt};
  expect_event(gpu_text, {.id = "g1", .what = gpu});
  expect_event(use_text, {.id = "u1",
                          .what = UseEvent{.gpu = "n0/0",
                                           .slice = "3g@4",
                                           .weight = 28,
                                           .tenant = "acme",
                                           .service = "chat",
                                           .role = Role::kInference,
                                           .when = gpu.when}});
  gpu.owner = "acme";
  expect_event(changed(gpu_text, "}", R"(,"owner":"acme"})"), {.id = "g1", .what = gpu});
  gpu.owner = "";
  expect_event(changed(gpu_text, "}", R"(,"owner":""})"), {.id = "g1", .what = gpu});
  CreditEvent credit{
      .tenant = "acme", .at_us = kNovember, .micro_usd = 5, .reason = CreditReason::kSlo, .expires_us = std::nullopt};
  expect_event(credit_text, {.id = "c1", .what = credit});
  credit.expires_us = kNovember - 1;  // before it is given: a credit that is never used
  expect_event(changed(credit_text, "}", R"(,"expires_us":1793491199999999})"), {.id = "c1", .what = credit});
  BudgetEvent budget{.tenant = "acme", .from_us = kNovember, .micro_usd_per_month = 7, .is_hard = true};
  expect_event(budget_text, {.id = "b1", .what = budget});
  budget.is_hard = false;
  expect_event(changed(budget_text, "true", "false"), {.id = "b1", .what = budget});
  expect_event(rate_text,
               {.id = "r1", .what = RateEvent{.currency = "EUR", .from_us = kNovember, .micro_per_usd = 912'345}});
  expect_event(void_text, {.id = "v1", .what = VoidEvent{.of = "u1"}});
  expect_event(close_text, {.id = "x1", .what = CloseEvent{.month = Month::of(kNovember)}});
}

TEST(EventReader, EventsDifferInEachOfTheirValues) {
  EventReader reader;
  EventReader other;
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {use_text, changed(use_text, "u1", "u2")},
      {use_text, changed(use_text, "28", "27")},
      {use_text, changed(use_text, "chat", "chap")},
      {use_text, changed(use_text, "inference", "job")},
      {use_text, changed(use_text, "000001}", "000002}")},
      {gpu_text, changed(gpu_text, "}", R"(,"owner":""})")},
      {credit_text, changed(credit_text, "}", R"(,"expires_us":1793491199999999})")},
      {budget_text, changed(budget_text, "true", "false")},
      {void_text, close_text},
  };
  for (const auto& [line, changed_line] : pairs) {
    EXPECT_FALSE(reader.read(line).value() == other.read(changed_line).value()) << changed_line;
  }
}

TEST(EventReader, KeysMayStandInAnyOrder) {
  EventReader reader;
  EventReader other;
  const std::string reversed =
      R"({"to_us":1793491200000001,"from_us":1793491200000000,"role":"inference","service":"chat","tenant":"acme",)"
      R"("weight":28,"slice":"3g@4","gpu":"n0/0","id":"u1","type":"use"})";
  for (int i = 0; i < 2; ++i) {  // the places of keys in the line before do not matter
    EXPECT_TRUE(reader.read(use_text).value() == other.read(reversed).value());
    EXPECT_TRUE(reader.read(gpu_text).has_value());
    EXPECT_TRUE(other.read(use_text).has_value());
  }
}

TEST(EventReader, ReadsEveryRoleAndReason) {
  for (const Role role :
       {Role::kInference, Role::kRetraining, Role::kJob, Role::kReserved, Role::kReconfiguration, Role::kStranded}) {
    read_event(changed(use_text, "inference", name_of(role)),
               [&](const Event& event) { EXPECT_EQ(std::get<UseEvent>(event.what).role, role); });
  }
  for (const CreditReason reason :
       {CreditReason::kSlo, CreditReason::kPrepaid, CreditReason::kFree, CreditReason::kGoodwill}) {
    read_event(changed(credit_text, "slo", name_of(reason)),
               [&](const Event& event) { EXPECT_EQ(std::get<CreditEvent>(event.what).reason, reason); });
  }
}

TEST(EventReader, OnlyWhatNobodyUsesMayLeaveTenantAndServiceEmpty) {
  const std::string no_tenant = changed(use_text, "acme", "");
  const std::string no_service = changed(use_text, "chat", "");
  for (const std::string_view role : {"reconfiguration", "stranded"}) {
    EXPECT_EQ(refusal(changed(no_tenant, "inference", role)), "");
    EXPECT_EQ(refusal(changed(no_service, "inference", role)), "");
    EXPECT_EQ(refusal(changed(changed(no_tenant, "chat", ""), "inference", role)), "");
  }
  for (const std::string_view role : {"inference", "retraining", "job", "reserved"}) {
    const std::string wanted =
        "wanted a name that is not empty (required for the role " + std::string(role) + "), found \"\"";
    EXPECT_EQ(refusal(changed(no_tenant, "inference", role)), "tenant: " + wanted);
    EXPECT_EQ(refusal(changed(no_service, "inference", role)), "service: " + wanted);
  }
  for (const std::string& line :
       {changed(use_text, "n0/0", ""), changed(use_text, "3g@4", ""), changed(use_text, "u1", ""),
        changed(credit_text, "acme", ""), changed(rate_text, "EUR", ""), changed(void_text, "u1", "")}) {
    EXPECT_EQ(refusal(line), "") << line;  // names with other spellings
  }
}

const std::string wanted_time =
    "wanted microseconds since 1970, a whole number from 2000-01-01 (946684800000000) to before 2101-01-01, found ";

/// Each numeric key accepts the values at the ends of its range and none outside.
TEST(EventReader, NumbersEndWhereTheirRangeEnds) {
  struct RangeCase {
    std::string line;
    std::string member;  ///< of the line
    std::string key;
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::string wanted;
  };
  const std::string weight = "wanted a whole number from 1 to 1000000, found ";
  const std::string money = "wanted a whole number from 0 to 1000000000000000, found ";
  const std::vector<RangeCase> cases = {
      {use_text, R"("weight":28)", "weight", 1, 1'000'000, weight},
      {gpu_text, R"("capacity":56)", "capacity", 1, 1'000'000, weight},
      {price_text, R"("micro_usd_per_gpu_hour":3490000)", "micro_usd_per_gpu_hour", 0, kMoneyMax, money},
      {credit_text, R"("micro_usd":5)", "micro_usd", 0, kMoneyMax, money},
      {budget_text, R"("micro_usd_per_month":7)", "micro_usd_per_month", 0, kMoneyMax, money},
      {rate_text, R"("micro_per_usd":912345)", "micro_per_usd", 0, kMoneyMax, money},
      {price_text, R"("from_us":1793491200000000)", "from_us", kTimeMin, kTimeMax, wanted_time},
      {budget_text, R"("from_us":1793491200000000)", "from_us", kTimeMin, kTimeMax, wanted_time},
      {rate_text, R"("from_us":1793491200000000)", "from_us", kTimeMin, kTimeMax, wanted_time},
      {credit_text, R"("at_us":1793491200000000)", "at_us", kTimeMin, kTimeMax, wanted_time},
      {changed(credit_text, "}", R"(,"expires_us":1793491200000000})"), R"("expires_us":1793491200000000)",
       "expires_us", kTimeMin, kTimeMax, wanted_time},
      {use_text, R"("from_us":1793491200000000)", "from_us", kTimeMin, kNovember, ""},
      {use_text, R"("to_us":1793491200000001)", "to_us", kNovember + 1, kTimeMax, ""},
      {gpu_text, R"("from_us":1793491200000000)", "from_us", kTimeMin, kNovember, ""},
      {gpu_text, R"("to_us":1793491200000001)", "to_us", kNovember + 1, kTimeMax, ""},
  };
  for (const RangeCase& each : cases) {
    const auto with = [&](std::int64_t value) {
      return refusal(changed(each.line, each.member, "\"" + each.key + "\":" + std::to_string(value)));
    };
    EXPECT_EQ(with(each.min), "") << each.key;
    EXPECT_EQ(with(each.max), "") << each.key;
    if (each.wanted.empty()) continue;
    EXPECT_EQ(with(each.min - 1), each.key + ": " + each.wanted + std::to_string(each.min - 1));
    EXPECT_EQ(with(each.max + 1), each.key + ": " + each.wanted + std::to_string(each.max + 1));
  }
}

TEST(EventReader, IntervalsAreNotEmpty) {
  for (const std::string& line : {use_text, gpu_text}) {
    EXPECT_EQ(refusal(changed(line, "1793491200000001", "1793491200000000")),
              "to_us: wanted a time after from_us (1793491200000000), found 1793491200000000");
    EXPECT_EQ(refusal(changed(line, "1793491200000001", "1793491199999999")),
              "to_us: wanted a time after from_us (1793491200000000), found 1793491199999999");
    EXPECT_EQ(refusal(changed(line, "1793491200000001", "4133980800000000")),
              "to_us: " + wanted_time + "4133980800000000");
    EXPECT_EQ(refusal(changed(line, "1793491200000000", "946684799999999")),
              "from_us: " + wanted_time + "946684799999999");
  }
}

TEST(EventReader, MonthsAreThoseOfTheTimes) {
  EXPECT_EQ(refusal(changed(close_text, "2026-11", "2000-01")), "");
  EXPECT_EQ(refusal(changed(close_text, "2026-11", "2100-12")), "");
  for (const std::string month :
       {"1999-12", "2101-01", "2026-13", "2026-00", "2026-1", "2026-11-01", "202611", "", "2026/11"}) {
    EXPECT_EQ(refusal(changed(close_text, "2026-11", month)),
              "month: wanted a month from 2000-01 to 2100-12, found \"" + month + "\"");
  }
}

TEST(EventReader, LinesMayHave4096BytesAndTexts128) {
  EXPECT_EQ(refusal(void_text + std::string(EventReader::kLineBytesMax - void_text.size(), ' ')), "");
  EXPECT_EQ(refusal(void_text + std::string(EventReader::kLineBytesMax - void_text.size() + 1, ' ')),
            "wanted at most 4096 bytes, found 4097");
  EXPECT_EQ(refusal(std::string(4097, 'x')), "wanted at most 4096 bytes, found 4097");
  const std::string longest(128, 'x');
  const std::string too_long(129, 'x');
  const std::string wanted = "wanted a text of at most 128 bytes, found \"" + std::string(48, 'x') + "...\"";
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"id", changed(void_text, "v1", "TEXT")},        {"of", changed(void_text, "u1", "TEXT")},
      {"gpu", changed(use_text, "n0/0", "TEXT")},      {"slice", changed(use_text, "3g@4", "TEXT")},
      {"tenant", changed(use_text, "acme", "TEXT")},   {"service", changed(use_text, "chat", "TEXT")},
      {"sku", changed(gpu_text, "h100", "TEXT")},      {"owner", changed(gpu_text, "}", R"(,"owner":"TEXT"})")},
      {"currency", changed(rate_text, "EUR", "TEXT")},
  };
  for (const auto& [key, line] : texts) {
    EXPECT_EQ(refusal(changed(line, "TEXT", longest)), "") << key;
    EXPECT_EQ(refusal(changed(line, "TEXT", too_long)), fmt::format("{}: {}", key, wanted));
  }
}

TEST(EventReader, BytesAreCountedWithoutEscapes) {
  std::string escaped;
  for (int i = 0; i < 64; ++i) escaped += "\\u00e9";  // two bytes each
  EXPECT_EQ(refusal(changed(void_text, "u1", escaped)), "");
  EXPECT_NE(refusal(changed(void_text, "u1", escaped + "x")), "");
  read_event(R"({"\u0074ype":"v\u006fid","id":"\"\\\u0000","of":"\ud83d\ude00"})", [](const Event& event) {
    EXPECT_EQ(event.id, std::string_view("\"\\\0", 3));
    EXPECT_EQ(std::get<VoidEvent>(event.what).of, "\xF0\x9F\x98\x80");
  });
}

struct BadCase {
  std::string line;
  std::string message;
};

TEST(EventReader, SaysWhatIsWrongWithALine) {
  const std::vector<BadCase> cases = {
      {"[1]", R"(wanted a JSON object, found "[1]")"},
      {"5", R"(wanted a JSON object, found "5")"},
      // keys
      {"{}", "type: wanted this key, found no key"},
      {R"({"id":"x","of":"u1"})", "type: wanted this key, found id, of"},
      {R"({"type":"void","of":"u1"})", "id: wanted this key in a void event, found type, of"},
      {R"({"type":"void","id":"v1"})", "of: wanted this key in a void event, found type, id"},
      {R"({"type":"use"})", "id: wanted this key in a use event, found type"},
      {changed(use_text, R"("service":"chat",)", ""),
       "service: wanted this key in a use event, found type, id, gpu, slice, weight, tenant, role, from_us, to_us"},
      {changed(budget_text, R"(,"hard":true)", ""),
       "hard: wanted this key in a budget event, found type, id, tenant, from_us, micro_usd_per_month"},
      {changed(void_text, "}", R"(,"gpu":"g"})"),
       "gpu: wanted only keys of a void event (type, id, of), found this key"},
      {changed(use_text, "}", R"(,"owner":"a"})"),
       "owner: wanted only keys of a use event (type, id, gpu, slice, weight, tenant, service, role, from_us, to_us), "
       "found this key"},
      {changed(gpu_text, "}", R"(,"owner":"a","tenant":"a"})"),
       "tenant: wanted only keys of a gpu event (type, id, gpu, sku, capacity, owner, from_us, to_us), found this key"},
      {changed(credit_text, "}", R"(,"to_us":1793491200000000})"),
       "to_us: wanted only keys of a credit event (type, id, tenant, at_us, expires_us, micro_usd, reason), found this "
       "key"},
      {changed(void_text, "}", R"(,"comment":"x"})"), R"(wanted a key of an event, found "comment")"},
      {changed(use_text, "tenant", "tenat"), R"(wanted a key of an event, found "tenat"; did you mean tenant?)"},
      {changed(use_text, "tenant", "Tenant"), R"(wanted a key of an event, found "Tenant"; did you mean tenant?)"},
      {changed(void_text, "}", R"(,"":1})"), R"(wanted a key of an event, found "")"},
      {changed(void_text, "}", R"(,"of":"u1"})"), "of: wanted this key once, found it again"},
      {changed(void_text, "}", R"(,"\u006ff":"u2"})"), "of: wanted this key once, found it again"},
      {changed(void_text, "}", R"(,"type":"void"})"), "type: wanted this key once, found it again"},
      // types
      {changed(void_text, "\"void\"", "\"Void\""),
       R"(type: wanted price, gpu, use, credit, budget, rate, void or close, found "Void")"},
      {changed(void_text, "\"void\"", "\"\""),
       R"(type: wanted price, gpu, use, credit, budget, rate, void or close, found "")"},
      {changed(void_text, "\"void\"", "5"), "type: wanted a text of at most 128 bytes, found 5"},
      {changed(void_text, "\"u1\"", "1"), "of: wanted a text of at most 128 bytes, found 1"},
      {changed(void_text, "\"u1\"", "true"), "of: wanted a text of at most 128 bytes, found true"},
      {changed(void_text, "\"u1\"", "1.5"),
       "of: wanted a text of at most 128 bytes, found a number with a fraction or an exponent"},
      {changed(void_text, "\"u1\"", "null"), "of: wanted a text of at most 128 bytes, found null"},
      {changed(gpu_text, "}", R"(,"owner":null})"), "owner: wanted a text of at most 128 bytes, found null"},
      {changed(void_text, "\"u1\"", "[\"u1\"]"), "of: wanted a text of at most 128 bytes, found a list"},
      {changed(use_text, "28", "\"28\""), R"(weight: wanted a whole number from 1 to 1000000, found "28")"},
      {changed(use_text, "28", "28.0"),
       "weight: wanted a whole number from 1 to 1000000, found a number with a fraction or an exponent"},
      {changed(use_text, "28", "2e1"),
       "weight: wanted a whole number from 1 to 1000000, found a number with a fraction or an exponent"},
      {changed(use_text, "28", "true"), "weight: wanted a whole number from 1 to 1000000, found true"},
      {changed(use_text, "28", "-1"), "weight: wanted a whole number from 1 to 1000000, found -1"},
      {changed(use_text, "28", "-0"), "weight: wanted a whole number from 1 to 1000000, found 0"},
      {changed(use_text, "28", "9223372036854775807"),
       "weight: wanted a whole number from 1 to 1000000, found 9223372036854775807"},
      {changed(use_text, "28", "9223372036854775808"),
       "weight: wanted a whole number from 1 to 1000000, found an integer of more than 63 bits"},
      {changed(price_text, "3490000", "3490000.0"),
       "micro_usd_per_gpu_hour: wanted a whole number from 0 to 1000000000000000, found a number with a fraction or an "
       "exponent"},
      {changed(price_text, "1793491200000000", "\"2026-11-01\""), "from_us: " + wanted_time + "\"2026-11-01\""},
      {changed(price_text, "1793491200000000", "1793491200"), "from_us: " + wanted_time + "1793491200"},
      {changed(budget_text, "true", "1"), "hard: wanted true or false, found 1"},
      {changed(budget_text, "true", "\"true\""), R"(hard: wanted true or false, found "true")"},
      {changed(close_text, "\"2026-11\"", "202611"), "month: wanted a text of at most 128 bytes, found 202611"},
      // words
      {changed(use_text, "inference", "idle"),
       R"(role: wanted inference, retraining, job, reserved, reconfiguration or stranded, found "idle")"},
      {changed(use_text, "inference", "shared"),
       R"(role: wanted inference, retraining, job, reserved, reconfiguration or stranded, found "shared")"},
      {changed(use_text, "inference", ""),
       R"(role: wanted inference, retraining, job, reserved, reconfiguration or stranded, found "")"},
      {changed(credit_text, "slo", "SLO"), R"(reason: wanted slo, prepaid, free or goodwill, found "SLO")"},
  };
  for (const BadCase& bad : cases) EXPECT_EQ(refusal(bad.line), bad.message) << bad.line;
}

TEST(EventReader, WhatIsNotJsonIsMalformed) {
  EventReader reader;
  for (const std::string& line :
       {std::string(), std::string("{"), void_text + "x", void_text + void_text, changed(void_text, "u1", "\xFF"),
        changed(void_text, "u1", "\\ud800"), changed(price_text, "3490000", "{034}")}) {
    const auto event = reader.read(line);
    ASSERT_FALSE(event.has_value()) << line;
    EXPECT_EQ(event.error().code, ErrorCode::kMalformed) << line;
    EXPECT_THAT(event.error().message, ::testing::StartsWith("wanted a JSON object, found ")) << line;
  }
}

TEST(EventReader, AReaderKeepsNothingOfTheLineBefore) {
  EventReader reader;
  ASSERT_TRUE(reader.read(changed(gpu_text, "}", R"(,"owner":"acme"})")).has_value());
  EXPECT_FALSE(std::get<GpuEvent>(reader.read(gpu_text).value().what).owner.has_value());
  ASSERT_TRUE(reader.read(changed(credit_text, "}", R"(,"expires_us":1793491199999999})")).has_value());
  EXPECT_FALSE(std::get<CreditEvent>(reader.read(credit_text).value().what).expires_us.has_value());
  ASSERT_FALSE(reader.read(R"({"type":"void","id":"v1","comment":1})").has_value());
  EXPECT_EQ(reader.read(R"({"type":"void","of":"u1"})").error().message,
            "id: wanted this key in a void event, found type, of");
  EventReader moved = std::move(reader);
  EXPECT_TRUE(moved.read(use_text).has_value());
}

/// A line with every key, and one key more than there are: the keys of all places are known.
TEST(EventReader, ManyKeysAreReadToTheFirstWrongOne) {
  std::string line = R"({"type":"use","id":"x","gpu":"g","sku":"s","slice":"0","weight":1,"capacity":1,"tenant":"t",)"
                     R"("service":"s","role":"job","owner":"o","from_us":1793491200000000,"to_us":1793491200000001,)"
                     R"("at_us":1793491200000000,"expires_us":1793491200000000,"micro_usd_per_gpu_hour":1,)"
                     R"("micro_usd":1,"micro_usd_per_month":1,"micro_per_usd":1,"reason":"slo","hard":true,)"
                     R"("currency":"EUR","of":"u","month":"2026-11"})";
  EventReader reader;
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(reader.read(line).error().message, ::testing::StartsWith("sku: wanted only keys of a use event ("));
    EXPECT_EQ(reader.read(changed(line, R"("2026-11"})", R"("2026-11","hard":false})")).error().message,
              "hard: wanted this key once, found it again");
  }
}

}  // namespace
}  // namespace berth::ledger
