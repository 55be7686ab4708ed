#include "models/prune/detail/channel_rules.h"

#include <functional>
#include <map>
#include <string_view>

namespace berth::models {
namespace {

using enum ChannelRule;
using ChannelRules = std::map<std::string_view, ChannelRule, std::less<>>;

/// Softmax, LayerNormalization, Concat, Split, ConvTranspose and the like are missing: they mix channels, or what
/// removes channels from them is not written.
const ChannelRules& channel_rules() {
  static const ChannelRules kRules = {
      {"Abs", kUnary},
      {"Acos", kUnary},
      {"Acosh", kUnary},
      {"Asin", kUnary},
      {"Asinh", kUnary},
      {"Atan", kUnary},
      {"Atanh", kUnary},
      {"Cast", kUnary},
      {"Ceil", kUnary},
      {"Celu", kUnary},
      {"Clip", kUnary},
      {"Cos", kUnary},
      {"Cosh", kUnary},
      {"Dropout", kUnary},
      {"Elu", kUnary},
      {"Erf", kUnary},
      {"Exp", kUnary},
      {"Floor", kUnary},
      {"Gelu", kUnary},
      {"HardSigmoid", kUnary},
      {"HardSwish", kUnary},
      {"Identity", kUnary},
      {"IsInf", kUnary},
      {"IsNaN", kUnary},
      {"LeakyRelu", kUnary},
      {"Log", kUnary},
      {"Mish", kUnary},
      {"Neg", kUnary},
      {"Not", kUnary},
      {"Reciprocal", kUnary},
      {"Relu", kUnary},
      {"Round", kUnary},
      {"Selu", kUnary},
      {"Shrink", kUnary},
      {"Sigmoid", kUnary},
      {"Sign", kUnary},
      {"Sin", kUnary},
      {"Sinh", kUnary},
      {"Softplus", kUnary},
      {"Softsign", kUnary},
      {"Sqrt", kUnary},
      {"Tan", kUnary},
      {"Tanh", kUnary},
      {"ThresholdedRelu", kUnary},
      {"Add", kBroadcast},
      {"And", kBroadcast},
      {"Div", kBroadcast},
      {"Equal", kBroadcast},
      {"Greater", kBroadcast},
      {"GreaterOrEqual", kBroadcast},
      {"Less", kBroadcast},
      {"LessOrEqual", kBroadcast},
      {"Max", kBroadcast},
      {"Mean", kBroadcast},
      {"Min", kBroadcast},
      {"Mod", kBroadcast},
      {"Mul", kBroadcast},
      {"Or", kBroadcast},
      {"PRelu", kBroadcast},
      {"Pow", kBroadcast},
      {"Sub", kBroadcast},
      {"Sum", kBroadcast},
      {"Where", kBroadcast},
      {"Xor", kBroadcast},
      {"AveragePool", kPool},
      {"GlobalAveragePool", kPool},
      {"GlobalLpPool", kPool},
      {"GlobalMaxPool", kPool},
      {"LpPool", kPool},
      {"MaxPool", kPool},
      {"BatchNormalization", kNormalise},
      {"InstanceNormalization", kNormalise},
      {"Flatten", kReshape},
      {"Reshape", kReshape},
      {"Squeeze", kReshape},
      {"Unsqueeze", kReshape},
      {"Transpose", kTranspose},
      {"ReduceL1", kReduce},
      {"ReduceL2", kReduce},
      {"ReduceLogSum", kReduce},
      {"ReduceLogSumExp", kReduce},
      {"ReduceMax", kReduce},
      {"ReduceMean", kReduce},
      {"ReduceMin", kReduce},
      {"ReduceProd", kReduce},
      {"ReduceSum", kReduce},
      {"ReduceSumSquare", kReduce},
      {"Pad", kPad},
      {"Resize", kResize},
      {"Slice", kSlice},
      {"Shape", kShape},
      {"Conv", kConv},
      {"Gemm", kGemm},
      {"MatMul", kMatMul},
  };
  return kRules;
}

}  // namespace

ChannelRule channel_rule(const Node& node) {
  if (!node.domain.empty()) return kMixes;
  const auto rule = channel_rules().find(node.op);
  return rule == channel_rules().end() ? kMixes : rule->second;
}

}  // namespace berth::models
