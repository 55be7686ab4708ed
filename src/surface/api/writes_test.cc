// Writes that are answered later, and their keys, as a client of the API sees them. The test plays the queue.
#include "surface/api/writes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "live/chain/field_hash.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "surface/api/api.h"

namespace berth::api {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kKeyHeader = "Idempotency-Key";

HttpRequest request_with(std::vector<HttpField> headers) {
  HttpRequest request;
  request.headers = std::move(headers);
  return request;
}

TEST(IdempotencyKey, IsAbsentWithoutTheHeader) {
  const auto key = idempotency_key(request_with({{"Content-Type", "application/json"}}));
  ASSERT_TRUE(key);
  EXPECT_EQ(*key, std::nullopt);
}

TEST(IdempotencyKey, IsAnyPrintableText) {
  for (const std::string& text :
       {std::string("a"), std::string("8e03978e-40d5-43dd"), std::string("a b~!\"{}"), std::string(255, 'k')}) {
    const auto key = idempotency_key(request_with({{"idempotency-KEY", text}}));
    ASSERT_TRUE(key) << text;
    EXPECT_EQ(*key, text);
  }
}

TEST(IdempotencyKey, SaysWhatIsWrongWithAMalformedOne) {
  const struct {
    std::vector<HttpField> headers;
    std::string found;
  } cases[] = {
      {{{kKeyHeader, ""}}, "0 bytes"},      {{{kKeyHeader, std::string(256, 'k')}}, "256 bytes"},
      {{{kKeyHeader, "a\tb"}}, "3 bytes"},  {{{kKeyHeader, "\xc3\xa9"}}, "2 bytes"},
      {{{kKeyHeader, "a\x7f"}}, "2 bytes"}, {{{kKeyHeader, "a"}, {"idempotency-key", "a"}}, "2 keys"},
  };
  for (const auto& each : cases) {
    const auto key = idempotency_key(request_with(each.headers));
    ASSERT_FALSE(key) << each.found;
    EXPECT_EQ(key.error().status, 400);
    EXPECT_EQ(key.error().code, "malformed");
    EXPECT_EQ(key.error().field, kKeyHeader);
    EXPECT_EQ(key.error().found, each.found);
  }
}

/// Receives an answer.
class WriteReply : public HttpLateReply {
 public:
  explicit WriteReply(std::optional<HttpResponse>& response) : response_(response) {}
  void send(HttpResponse response) override { response_ = std::move(response); }

 private:
  std::optional<HttpResponse>& response_;
};

struct WrittenAnswer {
  int status = 0;
  std::string text;
  bool is_replay = false;

  [[nodiscard]] Json body() const { return Json::parse(text); }
  [[nodiscard]] std::string code() const { return body()["error"]["code"]; }
};

class WritesApi : public ::testing::Test {
 protected:
  WritesApi() {
    Scenario scenario = sim::testing::scenario_of({}, {}, 2);
    scenario.layout.reset();
    live::SessionOptions options;
    options.records_first = true;
    options.listener.record = [this](const std::vector<live::Entry>&) { return failure_; };
    session_ = std::move(*live::Session::make(std::move(scenario), std::move(options)));
    session_->begin();
    api_ = std::make_unique<Api>(*session_, lock_,
                                 ApiOptions{.key = "k",
                                            .epoch = {},
                                            .page = "",
                                            .driver_status = [] { return DriverStatus(); },
                                            .submit = [this](live::Write write) { carry_out(std::move(write)); },
                                            .usage = {},
                                            .blobs = blob_store()});
  }

  /// Blobs in memory.
  BlobStore blob_store() {
    return {.run_slowly =
                [this](const std::function<void()>& work) {
                  ++slow_count_;
                  work();
                },
            .store = [this](const Sha256& blob, std::string_view bytes) -> std::optional<std::string> {
              if (failure_) return failure_;
              stored_[blob] = bytes;
              return std::nullopt;
            },
            .finish = [this](const Sha256& blob, std::uint64_t bytes) -> tl::expected<bool, std::string> {
              EXPECT_EQ(stored_[blob].size(), bytes);
              if (failure_) return tl::unexpected(*failure_);
              return !blobs_.emplace(blob, stored_[blob]).second;
            },
            .has = [this](const Sha256& blob) -> StoreResult<bool> { return blobs_.contains(blob); },
            .find = [this](const Sha256& blob) -> StoreResult<std::optional<BlobRow>> {
              const auto found = blobs_.find(blob);
              if (found == blobs_.end()) return std::nullopt;
              return BlobRow{.blob = blob, .bytes = found->second.size(), .is_whole = true};
            },
            .read_part = [this](const Sha256& blob, std::uint32_t index) -> StoreResult<std::optional<std::string>> {
              if (is_damaged_) return tl::unexpected(StoreError{StoreFault::kDamaged, "journal.db: damaged"});
              const std::string& bytes = blobs_.at(blob);
              if (index * kPartBytes >= bytes.size()) return std::nullopt;
              return bytes.substr(index * kPartBytes, kPartBytes);
            },
            .read = [this](const Sha256& blob) -> StoreResult<std::optional<std::string>> {
              if (is_damaged_) return tl::unexpected(StoreError{StoreFault::kDamaged, "journal.db: damaged"});
              const auto found = blobs_.find(blob);
              return found == blobs_.end() ? std::nullopt : std::optional(found->second);
            }};
  }

  /// Carries out a write as the queue does, one at a time.
  void carry_out(live::Write write) {
    key_ = write.key;
    if (is_grouping_) {
      group_.push_back(std::move(write));
      return;
    }
    if (write.key && before_) {
      write.key->repeat(*before_);
    } else if (const auto* lone = std::get_if<live::LoneWrite>(&write.what)) {
      begun_status_ = lone->status;
      foretold_ = lone->foretell ? std::optional(lone->foretell().body) : std::nullopt;
      lone->run();
    } else {
      const auto& service = std::get<live::ServiceWrite>(write.what);
      const std::scoped_lock hold(lock_);
      live::OrderBatch batch;
      begun_status_ = service.join(*session_, batch).value_or(0);
      foretold_ = batch.empty() ? std::nullopt : service.foretell();
      const bool is_recorded = batch.empty() || session_->commit(batch);
      service.settle(*session_, is_recorded ? std::nullopt : std::optional(session_->why_not_recorded()));
    }
    rendered_ = write.render();
    write.send();
  }

  /// The response as the server sends it.
  static HttpResponse whole(const HttpParts& parts) {
    HttpResponse response{.status = 200, .content_type = parts.content_type, .headers = parts.headers, .body = {}};
    while (response.body.size() < parts.bytes) {
      const std::string part = parts.next();
      if (part.empty()) break;
      response.body += part;
    }
    return response;
  }

  WrittenAnswer call(const std::string& method, std::vector<std::string> path, const std::string& body = "",
                     const std::string& key = "", std::vector<HttpField> query = {}) {
    HttpRequest request;
    request.method = method;
    request.path = std::move(path);
    request.path.insert(request.path.begin(), "v1");
    request.query = std::move(query);
    request.headers = {{"Authorization", "Bearer k"}, {"Content-Type", "application/json"}};
    if (!key.empty()) request.headers.push_back({kKeyHeader, key});
    request.body = body;
    HttpAnswer answer = api_->answer(request);
    is_later_ = std::holds_alternative<HttpLater>(answer);
    std::optional<HttpResponse> response;
    if (is_later_) {
      std::get<HttpLater>(answer).start(std::make_unique<WriteReply>(response));
    } else if (const auto* parts = std::get_if<HttpParts>(&answer)) {
      response = whole(*parts);
    } else {
      response = std::get<HttpResponse>(std::move(answer));
    }
    if (!response) return {};
    const auto replay = find_header(response->headers, "Idempotent-Replay");
    return {.status = response->status, .text = response->body, .is_replay = replay == "true"};
  }

  /// The answers to two writes about a service that the queue carries out together.
  std::pair<WrittenAnswer, WrittenAnswer> call_together(const HttpRequest& first, const HttpRequest& second) {
    std::optional<HttpResponse> responses[2];
    is_grouping_ = true;
    std::get<HttpLater>(api_->answer(first)).start(std::make_unique<WriteReply>(responses[0]));
    std::get<HttpLater>(api_->answer(second)).start(std::make_unique<WriteReply>(responses[1]));
    is_grouping_ = false;
    {
      const std::scoped_lock hold(lock_);
      live::OrderBatch batch;
      for (const live::Write& write : group_) {
        EXPECT_TRUE(std::get<live::ServiceWrite>(write.what).join(*session_, batch).has_value());
      }
      EXPECT_EQ(session_->commit(batch), !batch.empty());
      for (const live::Write& write : group_) {
        std::get<live::ServiceWrite>(write.what).settle(*session_, std::nullopt);
      }
    }
    for (const live::Write& write : group_) {
      write.render();
      write.send();
    }
    group_.clear();
    return {{.status = responses[0]->status, .text = responses[0]->body},
            {.status = responses[1]->status, .text = responses[1]->body}};
  }
  static HttpRequest about_service_a(const std::string& method, const std::string& body = "") {
    HttpRequest request = request_with({{"Authorization", "Bearer k"}, {"Content-Type", "application/json"}});
    request.method = method;
    request.path = {"v1", "tenants", "t", "services", "a"};
    request.body = body;
    return request;
  }

  /// Sets what the store has of the last write.
  void store_outcome(int status, const std::string& body) {
    ASSERT_TRUE(key_);
    before_ = KeyedOutcome{.key = key_->key, .request = key_->request, .wall_us = 1, .status = status, .body = body};
  }

  static std::string service(std::int64_t target_ms) {
    return R"({"spec":{"slo":{"latency_ms":)" + std::to_string(target_ms) +
           R"(},"profile":{"format":"csv","model":"m","rows":[{"model":"m","gpu":"A100-80GB","profile":"1g.10gb",)"
           R"("batch":1,"processes":1,"requests_per_second":50,"latency_ms":20}]},)"
           R"("arrivals":{"format":"poisson","requests_per_second":30,"seconds":60,"repeat":true}}})";
  }
  static std::string version_of(const WrittenAnswer& answer) { return answer.body()["metadata"]["resourceVersion"]; }

  static constexpr std::size_t kPartBytes = 10;  ///< of blobs
  edges::FairMutex lock_;
  std::unique_ptr<live::Session> session_;
  std::unique_ptr<Api> api_;
  std::optional<std::string> failure_;               ///< why nothing can be recorded
  std::optional<StoreResult<KeyedOutcome>> before_;  ///< what the store returns for every key
  std::optional<live::WriteKey> key_;                ///< of the last write
  std::map<Sha256, std::string> stored_;
  std::map<Sha256, std::string> blobs_;  ///< the complete ones
  bool is_damaged_ = false;
  int slow_count_ = 0;
  int begun_status_ = 0;
  std::optional<std::string> foretold_;  ///< before it was carried out
  live::WriteAnswer rendered_;
  bool is_grouping_ = false;
  std::vector<live::Write> group_;
  bool is_later_ = false;
};

const std::vector<std::string> service_a = {"tenants", "t", "services", "a"};

// ---- later answers

TEST_F(WritesApi, WritesAreAnsweredLaterAndReadsAtOnce) {
  EXPECT_EQ(call("PUT", {"tenants", "t"}, "{}").status, 201);
  EXPECT_TRUE(is_later_);
  const WrittenAnswer created = call("PUT", service_a, service(100));
  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(begun_status_, 201);
  EXPECT_EQ(rendered_.status, 201);
  EXPECT_EQ(rendered_.body, created.text);
  EXPECT_EQ(call("GET", service_a).status, 200);
  EXPECT_FALSE(is_later_);
  EXPECT_EQ(call("DELETE", service_a).status, 200);
  EXPECT_EQ(call("POST", {"gpus", "gpu-0", "cordon"}, R"({"reason":"a"})").status, 200);
  EXPECT_TRUE(is_later_);
}

TEST_F(WritesApi, WhatIsWrongIsAnsweredAndChangesNothing) {
  EXPECT_EQ(call("PUT", service_a, service(100)).status, 404);
  call("PUT", {"tenants", "t"}, "{}");
  EXPECT_EQ(call("PUT", service_a, "{").status, 400);
  EXPECT_EQ(call("PUT", service_a, R"({"spec":{"slo":1}})").status, 422);
  EXPECT_EQ(call("DELETE", service_a).status, 404);
  EXPECT_TRUE(session_->catalog().services.empty());
}

TEST_F(WritesApi, WhatCannotBeRecordedIsReadOnly) {
  call("PUT", {"tenants", "t"}, "{}");
  failure_ = "the disk is full";
  for (const WrittenAnswer& answer : {call("PUT", service_a, service(100)), call("PUT", {"tenants", "u"}, "{}")}) {
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.code(), "read_only");
    EXPECT_THAT(answer.text, HasSubstr("the disk is full"));
  }
  EXPECT_TRUE(session_->catalog().services.empty());
}

TEST_F(WritesApi, WhatIsKnownBeforeIsForetoldAsItIsAnswered) {
  call("PUT", {"tenants", "t"}, "{}");
  const WrittenAnswer created = call("PUT", service_a, service(100));
  EXPECT_EQ(foretold_, std::nullopt) << "the engine acts on it first";
  call("PUT", service_a, service(200));
  EXPECT_EQ(foretold_, std::nullopt);
  Json labelled = Json::parse(service(200));
  labelled["metadata"]["labels"]["team"] = "red";
  const WrittenAnswer changed = call("PUT", service_a, labelled.dump());
  EXPECT_EQ(foretold_, changed.text);
  EXPECT_EQ(changed.text, call("GET", service_a).text);
  EXPECT_NE(version_of(changed), version_of(created));
  const WrittenAnswer removed = call("DELETE", service_a);
  EXPECT_EQ(removed.status, 200);
  EXPECT_EQ(foretold_, removed.text);
  EXPECT_EQ(removed.text, changed.text);
}

TEST_F(WritesApi, WhatWasForetoldAndCannotBeRecordedIsReadOnly) {
  call("PUT", {"tenants", "t"}, "{}");
  const WrittenAnswer created = call("PUT", service_a, service(100));
  Json labelled = Json::parse(service(100));
  labelled["metadata"]["labels"]["team"] = "red";
  failure_ = "the disk is full";
  for (const WrittenAnswer& answer : {call("PUT", service_a, labelled.dump()), call("DELETE", service_a)}) {
    EXPECT_TRUE(foretold_);
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.code(), "read_only");
  }
  EXPECT_EQ(call("GET", service_a).text, created.text);
}

TEST_F(WritesApi, WhatChangesNothingIsAnsweredAsItWasBeforeOthersOfItsGroup) {
  call("PUT", {"tenants", "t"}, "{}");
  const WrittenAnswer created = call("PUT", service_a, service(100));
  const auto [same, other] = call_together(about_service_a("PUT", service(100)), about_service_a("PUT", service(200)));
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(same.text, created.text);
  EXPECT_EQ(other.body()["spec"]["slo"]["latency_ms"], 200);
  EXPECT_NE(version_of(other), version_of(created));
  EXPECT_EQ(call("GET", service_a).text, other.text);

  const auto [again, removed] = call_together(about_service_a("PUT", service(200)), about_service_a("DELETE"));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.text, other.text);
  EXPECT_EQ(removed.status, 200);
  EXPECT_EQ(call("GET", service_a).status, 404);
}

TEST_F(WritesApi, AnAnswerThatCannotBeKeptMayBeRefusedInstead) {
  is_grouping_ = true;
  std::optional<HttpResponse> response;
  std::get<HttpLater>(api_->answer(about_service_a("DELETE"))).start(std::make_unique<WriteReply>(response));
  const live::Write& write = group_.back();
  live::OrderBatch batch;
  EXPECT_EQ(std::get<live::ServiceWrite>(write.what).join(*session_, batch), 404);
  EXPECT_EQ(write.render().status, 404);
  write.refuse("the disk is full");
  write.send();
  EXPECT_EQ(response->status, 503);
  EXPECT_THAT(response->body, HasSubstr("the disk is full"));
}

// ---- keys

TEST_F(WritesApi, AMalformedKeyIsRefusedAtOnce) {
  const WrittenAnswer refused = call("PUT", {"tenants", "t"}, "{}", std::string(256, 'k'));
  EXPECT_EQ(refused.status, 400);
  EXPECT_FALSE(is_later_);
  EXPECT_EQ(refused.code(), "malformed");
  EXPECT_EQ(call("GET", {"tenants"}, "", std::string(256, 'k')).status, 200) << "of reads it means nothing";
  EXPECT_TRUE(call("GET", {"tenants"}).body()["items"].empty());
}

TEST_F(WritesApi, ARepeatGetsTheFirstAnswerToTheByte) {
  const WrittenAnswer first = call("PUT", {"tenants", "t"}, "{}", "key");
  EXPECT_FALSE(first.is_replay);
  store_outcome(first.status, first.text);
  call("PUT", {"tenants", "t"}, R"({"metadata":{"labels":{"a":"b"}}})");
  const WrittenAnswer again = call("PUT", {"tenants", "t"}, "{}", "key");
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.text, first.text);
  EXPECT_TRUE(again.is_replay);
}

TEST_F(WritesApi, TheKeyIsOfOneMethodPathQueryAndBody) {
  call("PUT", {"tenants", "t"}, "{}", "key");
  const live::WriteKey first = *key_;
  call("PUT", {"tenants", "t"}, "{}", "other");
  EXPECT_NE(key_->key, first.key);
  EXPECT_EQ(key_->request, first.request);
  call("PUT", {"tenants", "u"}, "{}", "key");
  EXPECT_EQ(key_->key, first.key);
  EXPECT_NE(key_->request, first.request);
  call("PUT", {"tenants", "t"}, "{ }", "key");
  EXPECT_NE(key_->request, first.request);
  call("DELETE", {"tenants", "t"}, "{}", "key");
  EXPECT_NE(key_->request, first.request);
  const Sha256 without_query = key_->request;
  call("DELETE", {"tenants", "t"}, "{}", "key", {{"resourceVersion", "1"}});
  EXPECT_NE(key_->request, without_query);

  store_outcome(200, "{}");
  const WrittenAnswer reused = call("PUT", {"tenants", "v"}, "{}", "key");
  EXPECT_EQ(reused.status, 422);
  EXPECT_EQ(reused.code(), "key_reused");
  EXPECT_EQ(reused.body()["error"]["field"], kKeyHeader);
  EXPECT_FALSE(reused.is_replay);
  EXPECT_EQ(call("GET", {"tenants", "v"}).status, 404);
}

TEST_F(WritesApi, AnExpiredKeySaysSo) {
  call("PUT", {"tenants", "t"}, "{}", "key");
  store_outcome(0, "");
  const WrittenAnswer expired = call("PUT", {"tenants", "t"}, "{}", "key");
  EXPECT_EQ(expired.status, 409);
  EXPECT_EQ(expired.code(), "key_expired");
  EXPECT_FALSE(expired.is_replay);
}

TEST_F(WritesApi, AKeyThatCannotBeReadIsReadOnly) {
  before_ = tl::unexpected(StoreError{StoreFault::kFailed, "cannot read"});
  const WrittenAnswer answer = call("PUT", {"tenants", "t"}, "{}", "key");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.code(), "read_only");
  EXPECT_EQ(call("GET", {"tenants", "t"}).status, 404);
}

TEST_F(WritesApi, WhatWasBegunIsAnsweredFromThePresentState) {
  call("PUT", {"tenants", "t"}, "{}");
  call("PUT", service_a, service(100), "key");
  store_outcome(201, "");
  const WrittenAnswer now = call("GET", service_a);
  const WrittenAnswer again = call("PUT", service_a, service(100), "key");
  EXPECT_EQ(again.status, 201);
  EXPECT_TRUE(again.is_replay);
  EXPECT_EQ(again.text, now.text);
  EXPECT_EQ(rendered_.body, again.text) << "which is kept from now on";

  before_.reset();
  call("DELETE", service_a, "", "key", {{"resourceVersion", version_of(now)}});
  store_outcome(200, "");
  const WrittenAnswer gone = call("DELETE", service_a, "", "key", {{"resourceVersion", version_of(now)}});
  EXPECT_EQ(gone.status, 200);
  EXPECT_TRUE(gone.is_replay);
  EXPECT_EQ(gone.body(), (Json{{"metadata", {{"name", "a"}}}}));

  before_.reset();
  call("POST", {"gpus", "gpu-0", "cordon"}, R"({"reason":"a"})", "key");
  EXPECT_EQ(begun_status_, 200);
  store_outcome(200, "");
  const WrittenAnswer cordoned = call("POST", {"gpus", "gpu-0", "cordon"}, R"({"reason":"a"})", "key");
  EXPECT_EQ(cordoned.text, call("GET", {"gpus", "gpu-0"}).text);
}

TEST_F(WritesApi, TheNumberOfAFaultIsKnownBefore) {
  for (const std::string kind : {"lose", "return", "fail_create"}) {
    const WrittenAnswer injected = call("POST", {"sim", "faults"}, R"({"kind":")" + kind + R"(","gpu":"gpu-0"})", kind);
    EXPECT_EQ(injected.status, 201) << injected.text;
    EXPECT_EQ(foretold_, injected.text);
  }
  call("PUT", {"tenants", "t"}, "{}", "key");
  EXPECT_EQ(foretold_, std::nullopt);
}

// ---- versions in deletes

TEST_F(WritesApi, ADeleteOfAVersionIsOfThatVersionAlone) {
  const std::vector<std::string> tenant = {"tenants", "t"};
  const std::string tenant_version = version_of(call("PUT", tenant, "{}"));
  const std::string version = version_of(call("PUT", service_a, service(100)));
  const std::string changed = version_of(call("PUT", service_a, service(200)));
  const auto remove = [&](const std::vector<std::string>& path, std::vector<HttpField> query) {
    return call("DELETE", path, "", "", std::move(query));
  };
  const WrittenAnswer conflict = remove(service_a, {{"resourceVersion", version}});
  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(conflict.code(), "conflict");
  EXPECT_EQ(conflict.body()["error"]["wanted"], version);
  EXPECT_EQ(conflict.body()["error"]["found"], changed);
  EXPECT_EQ(remove(tenant, {{"resourceVersion", changed}}).status, 409);
  for (const std::string wrong : {"", "0", "07", "-1", "1e3", "abc", "123456789012345678901"}) {
    for (const auto& path : {service_a, tenant}) {
      const WrittenAnswer refused = remove(path, {{"resourceVersion", wrong}});
      EXPECT_EQ(refused.status, 400) << wrong;
      EXPECT_EQ(refused.code(), "bad_query") << wrong;
    }
  }
  for (const auto& path : {service_a, tenant}) {
    EXPECT_EQ(remove(path, {{"version", version}}).status, 400);
    EXPECT_EQ(remove(path, {{"resourceVersion", version}, {"resourceVersion", version}}).status, 400);
  }
  ASSERT_EQ(call("GET", service_a).status, 200) << "nothing was removed so far";
  EXPECT_EQ(remove(service_a, {{"resourceVersion", changed}}).status, 200);
  EXPECT_EQ(remove(service_a, {{"resourceVersion", changed}}).status, 404);
  EXPECT_EQ(remove(tenant, {{"resourceVersion", tenant_version}}).status, 200);
  EXPECT_EQ(remove(tenant, {{"resourceVersion", tenant_version}}).status, 404);
}

// ---- status

TEST_F(WritesApi, TheStatusShowsTheWindowsWithoutChanges) {
  EXPECT_TRUE(call("GET", {"status"}).body()["no_changes"].is_null());
  ASSERT_TRUE(
      session_->set_no_changes({.week_at_start = Micros(0), .spans = {{.from_minute = 480, .until_minute = 1080}}}));
  EXPECT_EQ(call("GET", {"status"}).body()["no_changes"], "mon 08:00 to mon 18:00");
}

// ---- blobs

std::string sha_of(const std::string& bytes) { return chain::hex_of(chain::sha256(bytes)); }

TEST_F(WritesApi, ABlobIsPutOnceAndReadBack) {
  const std::string bytes = "second,requests\n0,5\n9,0\n";
  const std::vector<std::string> path = {"blobs", sha_of(bytes)};
  EXPECT_EQ(call("GET", path).status, 404);
  const WrittenAnswer created = call("PUT", path, bytes, "key");
  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.text, "{\"sha256\":\"" + path[1] + "\",\"bytes\":24}\n");
  EXPECT_EQ(begun_status_, 201);
  EXPECT_EQ(foretold_, created.text);
  store_outcome(201, created.text);
  EXPECT_EQ(call("PUT", path, bytes).status, 200);
  EXPECT_EQ(call("GET", path).text, bytes);
  EXPECT_EQ(slow_count_, 2) << "those that store, and none that reads";
  const WrittenAnswer again = call("PUT", path, bytes, "key");
  EXPECT_TRUE(again.is_replay);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.text, created.text);
}

TEST_F(WritesApi, ABlobThatCannotBeReadIsAnError) {
  const std::vector<std::string> path = {"blobs", sha_of("")};
  call("PUT", path, "");
  EXPECT_EQ(call("GET", path).status, 200) << "an empty one has no parts";
  const std::string bytes(3 * kPartBytes, 'b');
  const std::vector<std::string> long_path = {"blobs", sha_of(bytes)};
  call("PUT", long_path, bytes);
  HttpRequest request = request_with({{"Authorization", "Bearer k"}});
  request.method = "GET";
  request.path = {"v1", "blobs", long_path[1]};
  HttpAnswer answer = api_->answer(request);
  is_damaged_ = true;
  EXPECT_EQ(call("GET", long_path).status, 500);
  const auto& parts = std::get<HttpParts>(answer);
  EXPECT_EQ(parts.bytes, bytes.size());
  EXPECT_EQ(whole(parts).body, bytes.substr(0, kPartBytes)) << "it ends where it cannot be read";
}

TEST_F(WritesApi, ABlobThatWasBegunIsAnsweredWithoutReadingIt) {
  const std::vector<std::string> path = {"blobs", sha_of("bytes")};
  call("PUT", path, "bytes", "key");
  store_outcome(201, "");
  const WrittenAnswer again = call("PUT", path, "bytes", "key");
  EXPECT_TRUE(again.is_replay);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body()["metadata"]["name"], path[1]);
}

TEST_F(WritesApi, ABlobOfAnotherNameIsRefused) {
  const std::string wanted(64, '0');
  const WrittenAnswer refused = call("PUT", {"blobs", wanted}, "bytes");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.body()["error"]["field"], "sha256");
  EXPECT_EQ(refused.body()["error"]["wanted"], wanted);
  EXPECT_EQ(refused.body()["error"]["found"], sha_of("bytes"));
  EXPECT_TRUE(stored_.empty());
  EXPECT_EQ(call("PUT", {"blobs", "abc"}, "bytes").status, 422);
  EXPECT_EQ(call("GET", {"blobs", "abc"}).status, 404);
}

TEST_F(WritesApi, ABlobThatCannotBeStoredIsNotThere) {
  const std::vector<std::string> path = {"blobs", sha_of("bytes")};
  failure_ = "the disk is full";
  const WrittenAnswer refused = call("PUT", path, "bytes");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "read_only");
  failure_.reset();
  EXPECT_EQ(call("GET", path).status, 404);
}

TEST_F(WritesApi, OnlyTheRouteOfBlobsTakesLargeBodiesAndOnlyWithTheKey) {
  HttpRequest request = request_with({{"Authorization", "Bearer k"}});
  request.method = "PUT";
  request.path = {"v1", "blobs", std::string(64, 'a')};
  EXPECT_EQ(api_->body_bytes_max(request), std::size_t{64} << 20U);
  request.headers = {{"Authorization", "Bearer x"}};
  EXPECT_EQ(api_->body_bytes_max(request), std::nullopt);
  request.headers = {{"Authorization", "Bearer k"}};
  request.method = "GET";
  EXPECT_EQ(api_->body_bytes_max(request), std::nullopt);
  request.method = "PUT";
  request.path = {"v1", "tenants", "t"};
  EXPECT_EQ(api_->body_bytes_max(request), std::nullopt);
}

class ServicesOfBlobs : public WritesApi {
 protected:
  ServicesOfBlobs() {
    call("PUT", {"tenants", "t"}, "{}");
    call("PUT", {"blobs", sha_of(csv_)}, csv_);
    slow_count_ = 0;
  }
  /// A service whose arrivals are the rows of a blob.
  static std::string service_of(const std::string& blob) {
    Json body = Json::parse(service(100));
    body["spec"]["arrivals"] = {{"format", "csv"}, {"rows", {{"blob", blob}}}};
    return body.dump();
  }

  const std::string csv_ = "second,requests\n0,5\n9,0\n";
};

TEST_F(ServicesOfBlobs, RefersToABlobAndShowsTheReference) {
  const WrittenAnswer created = call("PUT", service_a, service_of(sha_of(csv_)));
  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(slow_count_, 1);
  const Json arrivals = created.body()["spec"]["arrivals"];
  EXPECT_EQ(arrivals["rows"]["blob"], sha_of(csv_));
  EXPECT_EQ(arrivals["seconds"], 10);
  const WrittenAnswer written_back = call("PUT", service_a, call("GET", service_a).text);
  EXPECT_EQ(written_back.status, 200);
  EXPECT_EQ(version_of(written_back), version_of(created)) << "changes nothing";

  Json in_place = Json::parse(service_of(""));
  in_place["spec"]["arrivals"]["rows"] =
      Json::array({{{"second", 0}, {"requests", 5}}, {{"second", 9}, {"requests", 0}}});
  const WrittenAnswer changed = call("PUT", service_a, in_place.dump());
  EXPECT_EQ(changed.status, 200);
  EXPECT_NE(version_of(changed), version_of(created));
  EXPECT_EQ(changed.body()["spec"]["arrivals"]["rows"].size(), 2U);
}

TEST_F(ServicesOfBlobs, AReferenceMayBeWrittenWithEscapes) {
  std::string body = service_of(sha_of(csv_));
  body.replace(body.find("\"blob\""), 6, R"("\u0062lob")");
  EXPECT_EQ(call("PUT", service_a, body).status, 201);
  EXPECT_EQ(slow_count_, 1) << "not on a thread that others wait for, nor beside another one";
}

TEST_F(ServicesOfBlobs, RowsOfABlobMayBeJson) {
  const std::string rows = R"( [{"second":0,"requests":5},{"second":9,"requests":0}])";
  call("PUT", {"blobs", sha_of(rows)}, rows);
  const WrittenAnswer created = call("PUT", service_a, service_of(sha_of(rows)));
  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.body()["spec"]["arrivals"]["seconds"], 10);
}

TEST_F(ServicesOfBlobs, SaysWhichReferenceIsWrong) {
  const std::string unknown(64, 'e');
  const WrittenAnswer refused = call("PUT", service_a, service_of(unknown));
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.body()["error"]["field"], "spec.arrivals.rows.blob");
  EXPECT_EQ(refused.body()["error"]["wanted"], "a blob that is there: PUT /v1/blobs/SHA256 stores one");
  EXPECT_EQ(refused.body()["error"]["found"], unknown + ", which is not there");
  for (const std::string bad : {"", "a,b\n", "[1]", "[{\"second\":0}]", "[", "second,requests\n3,1\n2,1\n"}) {
    call("PUT", {"blobs", sha_of(bad)}, bad);
    const WrittenAnswer answer = call("PUT", service_a, service_of(sha_of(bad)));
    EXPECT_EQ(answer.status, 422) << bad << answer.text;
    EXPECT_EQ(answer.body()["error"]["field"], "spec.arrivals.rows.blob") << bad;
  }
  is_damaged_ = true;
  EXPECT_EQ(call("PUT", service_a, service_of(sha_of(csv_))).status, 500);
}

}  // namespace
}  // namespace berth::api
