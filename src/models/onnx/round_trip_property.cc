#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "models/graph/testing/random_graph.h"
#include "models/onnx/check_model.h"
#include "models/onnx/read_model.h"
#include "models/onnx/write_model.h"

namespace berth::models {
namespace {

Result<std::string> nothing_outside(const std::string& path, std::uint64_t, std::uint64_t) { return invalid(path); }

Model any_model() {
  const std::int64_t opset = *rc::gen::inRange<std::int64_t>(13, 22);
  return testing::random_model(Rng(*rc::gen::arbitrary<std::uint64_t>()), {.opset = opset});
}

/// A type that a tensor may have, with the bits of its elements.
Constant any_constant(Rng& rng) {
  Constant constant{.type = static_cast<ElementType>(1 + rng.below(28))};
  const std::uint64_t rank = rng.below(4);
  for (std::uint64_t i = 0; i < rank; ++i) constant.dims.push_back(static_cast<std::int64_t>(rng.below(5)));
  if (constant.type == ElementType::kString) {
    for (std::int64_t i = count_of(constant.dims); i > 0; --i) constant.texts.push_back(std::string(rng.below(3), 'a'));
  } else {
    constant.bytes.resize(byte_size(constant.type, constant.dims));
    for (char& byte : constant.bytes) byte = static_cast<char>(rng.below(256));
  }
  return constant;
}

RC_GTEST_PROP(RoundTripProperty, ModelsSayTheSameAfterWritingAndReading, ()) {
  const Model model = any_model();
  const std::string bytes = write_model(model).value();
  const Model read = read_model(bytes, "random", nothing_outside).value();
  RC_ASSERT(write_model(read).value() == bytes);
  RC_ASSERT(read.opsets == model.opsets);
  RC_ASSERT(read.ir_version == model.ir_version);
  RC_ASSERT(read.graph.nodes.size() == model.graph.nodes.size());
  for (std::size_t i = 0; i < read.graph.nodes.size(); ++i) {
    const Node& now = read.graph.nodes[i];
    const Node& before = model.graph.nodes[i];
    RC_ASSERT(now.name == before.name && now.op == before.op);
    RC_ASSERT(now.inputs == before.inputs && now.outputs == before.outputs);
    RC_ASSERT(now.attributes.size() == before.attributes.size());
  }
  RC_ASSERT(read.graph.initializers.size() == model.graph.initializers.size());
  for (const auto& [name, constant] : model.graph.initializers) {
    RC_ASSERT(*read.graph.initializers.at(name) == *constant);
  }
  RC_ASSERT(check_model(read).has_value());
}

RC_GTEST_PROP(RoundTripProperty, TensorsOfAllTypesSurvive, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  Model model = any_model();
  const Constant constant = any_constant(rng);
  model.graph.initializers.emplace("any", share(constant));
  model.graph.nodes.at(0).attributes.emplace("any", share(constant));
  const Model read = read_model(write_model(model).value(), "random", nothing_outside).value();
  RC_ASSERT(*read.graph.initializers.at("any") == constant);
  RC_ASSERT(*std::get<ConstantPtr>(read.graph.nodes.at(0).attributes.at("any")) == constant);
}

RC_GTEST_PROP(RoundTripProperty, BrokenFilesAreErrors, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  std::string bytes = write_model(any_model()).value();
  bytes.resize(1 + rng.below(bytes.size()));
  for (std::uint64_t i = rng.below(4); i > 0; --i) bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
  const Result<Model> read = read_model(bytes, "random", nothing_outside);
  if (read) {
    RC_ASSERT(write_model(*read).has_value());
  } else {
    RC_ASSERT(read.error().message.starts_with("random: "));
  }
}

}  // namespace
}  // namespace berth::models
