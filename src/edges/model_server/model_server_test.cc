// A server with an engine made for the test: models that double their input, and some that misbehave.
#include "edges/model_server/model_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <map>
#include <thread>

namespace berth::edges {
namespace {

using serving::InferAnswer;
using serving::InferRequest;
using serving::ModelState;
using serving::RepositoryVersion;
using serving::ServeFault;
using serving::ServeResult;
using serving::VersionTerms;
using ::testing::HasSubstr;

const TensorSignature kInput{.name = "x", .type = TensorType::kFp32, .shape = {-1, 2}};
const TensorSignature kOutput{.name = "y", .type = TensorType::kFp32, .shape = {-1, 2}};

Tensor floats(std::string name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
  Tensor tensor{.name = std::move(name), .type = TensorType::kFp32, .shape = std::move(shape)};
  tensor.bytes.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

std::vector<float> values_of(const Tensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

/// y = 2 x. The path says how it misbehaves: "batch" adds the number of rows, "fail" fails, "hang" runs until it is
/// stopped, "stuck" runs for a second longer than anyone waits, "slow" takes 30 ms.
class DoublingModel final : public LoadedModel {
 public:
  explicit DoublingModel(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] std::span<const TensorSignature> inputs() const override { return {&kInput, 1}; }
  [[nodiscard]] std::span<const TensorSignature> outputs() const override { return {&kOutput, 1}; }
  [[nodiscard]] std::unique_ptr<ModelRun> begin() override;

  std::string path_;
};

class DoublingRun final : public ModelRun {
 public:
  explicit DoublingRun(const DoublingModel& model) : model_(model) {}
  [[nodiscard]] Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override {
    const std::string& path = model_.path_;
    if (path.find("fail") != std::string::npos) return fail(ErrorCode::kUnavailable, "out of luck");
    if (path.find("hang") != std::string::npos && inputs.front().shape.front() == 3) {
      while (!is_stopped_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return fail(ErrorCode::kInterrupted, "stopped");
    }
    if (path.find("slow") != std::string::npos) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    std::vector<float> values = values_of(inputs.front());
    const float more = path.find("batch") != std::string::npos ? static_cast<float>(inputs.front().shape.front()) : 0;
    for (float& value : values) value = 2 * value + more;
    return std::vector<Tensor>{floats("y", inputs.front().shape, values)};
  }
  void stop() override { is_stopped_ = true; }

 private:
  const DoublingModel& model_;
  std::atomic<bool> is_stopped_ = false;
};

std::unique_ptr<ModelRun> DoublingModel::begin() { return std::make_unique<DoublingRun>(*this); }

class DoublingEngine final : public ModelEngine {
 public:
  [[nodiscard]] std::string name() const override { return "doubling"; }
  [[nodiscard]] Result<std::unique_ptr<LoadedModel>> load(const ModelFile& file) override {
    const std::string& path = file.path;
    ++loads;
    if (path.find("broken") != std::string::npos) return invalid("not a model");
    return std::make_unique<DoublingModel>(path);
  }
  std::atomic<int> loads = 0;
};

class ModelServerTest : public ::testing::Test {
 protected:
  void add(const std::string& name, const std::string& path, std::int64_t number = 1) {
    const std::scoped_lock hold(models_lock_);
    const VersionTerms terms{.inputs = {kInput}, .outputs = {kOutput}, .rows_max = 8, .needs_proof = true};
    RepositoryVersion version{.number = number, .path = path, .terms = terms};
    models_[name] = {.name = name, .versions = {version}};
  }
  void start(std::int64_t memory = std::int64_t{1} << 30, Micros run_max = Micros::seconds(30)) {
    ModelServerOptions options;
    options.terms.dispatch = {.policy = {}, .memory = memory, .lanes = 2};
    options.terms.tenants = {{.name = "default"}};
    options.terms.simulated = simulated_;
    options.run_max = run_max;
    options.scan_every = Micros(20'000);
    options.scan = [this] {
      const std::scoped_lock hold(models_lock_);
      return models_;
    };
    server_ = std::make_unique<ModelServer>(&engine_, options);
    server_->start();
  }
  std::future<ServeResult<InferAnswer>> ask(const std::string& model, std::vector<std::int64_t> shape,
                                            const std::vector<float>& values,
                                            std::optional<Micros> timeout = std::nullopt) {
    auto promise = std::make_shared<std::promise<ServeResult<InferAnswer>>>();
    InferRequest request{.model = model, .id = "7", .timeout = timeout};
    request.inputs = {floats("x", std::move(shape), values)};
    server_->infer(std::move(request),
                   [promise](ServeResult<InferAnswer> answer) { promise->set_value(std::move(answer)); });
    return promise->get_future();
  }
  ServeResult<bool> wait_for(const std::function<void(serving::InferenceService::ModelDone)>& call) {
    std::promise<ServeResult<bool>> promise;
    call([&](ServeResult<bool> result) { promise.set_value(std::move(result)); });
    return promise.get_future().get();
  }
  std::string state_of(const std::string& model) {
    for (const auto& entry : server_->index()) {
      if (entry.name == model)
        return fmt::format("{} {} {}", entry.version, static_cast<int>(entry.state), entry.reason);
    }
    return "";
  }

  std::function<std::optional<serving::ModelTerms>(const std::string& model)> simulated_;
  std::mutex models_lock_;
  serving::RepositoryModels models_;
  DoublingEngine engine_;
  std::unique_ptr<ModelServer> server_;
};

TEST_F(ModelServerTest, EachRequestGetsItsOwnRows) {
  add("double", "ok");
  start();
  std::vector<std::future<ServeResult<InferAnswer>>> answers;
  for (int i = 0; i < 500; ++i) answers.push_back(ask("double", {1, 2}, {static_cast<float>(i), 1}));
  for (int i = 0; i < 500; ++i) {
    const auto answer = answers[static_cast<std::size_t>(i)].get();
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(values_of(answer->outputs.front()), (std::vector<float>{2.0F * static_cast<float>(i), 2}));
    EXPECT_EQ(answer->id, "7");
    EXPECT_EQ(answer->version, "1");
  }
  const auto statistics = server_->statistics("double", "").value();
  EXPECT_EQ(statistics.front().rows, 500U);
  EXPECT_LT(statistics.front().batches, 500U);
  EXPECT_EQ(engine_.loads, 1);
}

TEST_F(ModelServerTest, ASimulatedDeviceLearnsWhatTheMachineAddsToItsTimes) {
  simulated_ = [](const std::string& model) -> std::optional<serving::ModelTerms> {
    return serving::ModelTerms{.name = model,
                               .bytes = 1,
                               .load = Micros(1),
                               .latency = serving::LatencyTable(std::vector<Micros>(8, Micros(10'000)))};
  };
  add("double", "slow");
  start();
  for (int i = 0; i < 25; ++i) ASSERT_TRUE(ask("double", {1, 2}, {1, 1}).get());
  const auto answer = ask("double", {1, 2}, {1, 1}, Micros(20'000)).get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault, ServeFault::kRejected) << answer.error().message;
}

TEST_F(ModelServerTest, AModelWhoseRowsInfluenceEachOtherIsNotBatched) {
  add("sum", "batch");
  start();
  for (int i = 0; i < 20; ++i) {
    const auto answer = ask("sum", {1, 2}, {1, 1}).get();
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(values_of(answer->outputs.front()), (std::vector<float>{3, 3}));
  }
  EXPECT_EQ(values_of(ask("sum", {4, 2}, {1, 1, 1, 1, 1, 1, 1, 1}).get()->outputs.front()).front(), 6);
  EXPECT_EQ(server_->statistics("sum", "").value().front().batches, 21U);
}

TEST_F(ModelServerTest, BadRequestsSayWhatIsWrong) {
  add("double", "ok");
  start();
  EXPECT_THAT(ask("other", {1, 2}, {1, 1}).get().error().message, HasSubstr("found \"other\""));
  EXPECT_THAT(ask("double", {1, 3}, {1, 1, 1}).get().error().message, HasSubstr("wanted the shape [-1,2]"));
  EXPECT_THAT(ask("double", {0, 2}, {}).get().error().message, HasSubstr("wanted 1 to 8 rows, found 0"));
  EXPECT_EQ(ask("double", {1, 2}, {1, 1}).get()->outputs.size(), 1U);
}

TEST_F(ModelServerTest, ABrokenFileIsUnavailableAndLeavesOthersAlone) {
  add("bad", "broken");
  add("fails", "fail");
  add("double", "ok");
  start();
  const auto bad = ask("bad", {1, 2}, {1, 1}).get();
  EXPECT_EQ(bad.error().fault, ServeFault::kUnavailable);
  EXPECT_THAT(bad.error().message, HasSubstr("not a model"));
  EXPECT_EQ(ask("fails", {1, 2}, {1, 1}).get().error().fault, ServeFault::kEngineFailed);
  EXPECT_TRUE(ask("double", {1, 2}, {1, 1}).get());
  EXPECT_THAT(state_of("bad"), HasSubstr("not a model"));
  EXPECT_FALSE(server_->is_model_ready("bad", "").value());
}

TEST_F(ModelServerTest, ModelsTakeTurnsInASmallMemory) {
  for (const char* name : {"a", "b", "c"}) add(name, std::string("ok ") + name);
  start(2'000'000);
  for (int round = 0; round < 3; ++round) {
    for (const char* name : {"a", "b", "c"}) {
      const auto answer = ask(name, {1, 2}, {1, 1}).get();
      ASSERT_TRUE(answer) << answer.error().message;
    }
  }
  EXPECT_GE(engine_.loads, 3);
}

TEST_F(ModelServerTest, UnloadedModelsWaitForALoad) {
  add("double", "ok");
  start();
  EXPECT_TRUE(wait_for([&](auto done) { server_->load("double", Micros(0), done); }));
  EXPECT_EQ(state_of("double"), "1 0 ");
  EXPECT_TRUE(wait_for([&](auto done) { server_->unload("double", done); }));
  EXPECT_EQ(state_of("double"), "1 3 unloaded");
  EXPECT_EQ(ask("double", {1, 2}, {1, 1}).get().error().fault, ServeFault::kUnavailable);
  EXPECT_TRUE(wait_for([&](auto done) { server_->load("double", Micros(0), done); }));
  EXPECT_TRUE(ask("double", {1, 2}, {1, 1}).get());
  EXPECT_EQ(wait_for([&](auto done) { server_->load("none", Micros(0), done); }).error().fault, ServeFault::kUnknown);
}

TEST_F(ModelServerTest, ANewVersionTakesOverWhenItIsLoaded) {
  add("double", "ok");
  start();
  EXPECT_EQ(ask("double", {1, 2}, {1, 1}).get()->version, "1");
  add("double", "broken two", 2);
  while (state_of("double").empty() || engine_.loads < 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(ask("double", {1, 2}, {1, 1}).get()->version, "1");
  add("double", "ok three", 3);
  std::string version;
  while (version != "3") version = ask("double", {1, 2}, {1, 1}).get()->version;
  EXPECT_EQ(engine_.loads, 3);
}

TEST_F(ModelServerTest, ARunThatTakesTooLongIsEnded) {
  add("slow", "hang");
  start(std::int64_t{1} << 30, Micros(50'000));
  const auto slow = ask("slow", {3, 2}, {1, 1, 1, 1, 1, 1}).get();
  EXPECT_EQ(slow.error().fault, ServeFault::kEngineFailed);
  EXPECT_TRUE(ask("slow", {1, 2}, {1, 1}).get());
}

TEST_F(ModelServerTest, TheEndAnswersWhatWasAccepted) {
  add("double", "ok");
  start();
  auto answer = ask("double", {1, 2}, {1, 1});
  EXPECT_TRUE(server_->stop(Micros::seconds(10)).is_complete);
  EXPECT_TRUE(answer.get());
  EXPECT_EQ(ask("double", {1, 2}, {1, 1}).get().error().fault, ServeFault::kUnavailable);
}

}  // namespace
}  // namespace berth::edges
