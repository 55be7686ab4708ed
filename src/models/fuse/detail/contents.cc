#include "models/fuse/detail/contents.h"

#include <bit>
#include <string_view>
#include <variant>
#include <vector>

#include "base/core/overloaded.h"

namespace berth::models {
namespace {

/// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv).
class Digest {
 public:
  void add(std::string_view text) {
    for (const char letter : text) add_byte(static_cast<unsigned char>(letter));
    add(text.size());
  }
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(number >> shift));
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100'0000'01b3ULL; }

  std::uint64_t value_ = 0xcbf2'9ce4'8422'2325ULL;
};

/// Each part with its length before it, so that no two lists of parts give one text.
void append(std::string& text, std::string_view part) {
  text += std::to_string(part.size());
  text += ':';
  text += part;
}

void append(std::string& text, const Constant& constant) {
  append(text, std::to_string(static_cast<int>(constant.type)));
  for (const std::int64_t dim : constant.dims) append(text, std::to_string(dim));
  append(text, constant.bytes);
  for (const std::string& inner : constant.texts) append(text, inner);
}

void append(std::string& text, float number) { append(text, std::to_string(std::bit_cast<std::uint32_t>(number))); }
void append(std::string& text, std::int64_t number) { append(text, std::to_string(number)); }

void append_value(std::string& text, const AttributeValue& value) {
  append(text, std::to_string(value.index()));
  std::visit(Overloaded{
                 [&](const ConstantPtr& constant) { append(text, *constant); },
                 [&](const OpaqueAttribute& opaque) { append(text, opaque.bytes); },
                 // Nodes with graphs inside are told apart by their addresses, which no caller compares.
                 [&](const GraphPtr&) {},
                 [&](const std::vector<GraphPtr>&) {},
                 [&]<class Element>(const std::vector<Element>& elements) {
                   for (const Element& element : elements) append(text, element);
                 },
                 [&](const auto& single) { append(text, single); },
             },
             value);
}

}  // namespace

std::uint64_t digest_of(const Constant& constant) {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(constant.type));
  for (const std::int64_t dim : constant.dims) digest.add(static_cast<std::uint64_t>(dim));
  digest.add(constant.bytes);
  for (const std::string& text : constant.texts) digest.add(text);
  return digest.value();
}

std::string contents_of(const Node& node) {
  std::string text;
  append(text, node.domain);
  append(text, node.op);
  append(text, static_cast<std::int64_t>(node.inputs.size()));
  for (const std::string& input : node.inputs) append(text, input);
  for (const std::string& output : node.outputs) append(text, output.empty() ? "" : "made");
  for (const auto& [name, value] : node.attributes) {
    append(text, name);
    append_value(text, value);
  }
  append(text, node.rest);
  return text;
}

}  // namespace berth::models
