#include "engine/codec/exact_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/core/text.h"

namespace berth::codec {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kDepthMax = 16;
constexpr std::size_t kKeyCountMax = 100;  // keys are searched linearly

/// Builds the document from the parser's events.
class ExactBuilder : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t /*rounded*/, const string_t& text) override {
    return put(Json::binary(std::vector<std::uint8_t>(text.begin(), text.end())));
  }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }  // JSON text has none
  bool start_object(std::size_t /*count*/) override { return open(Json::object()); }
  bool key(string_t& name) override {
    key_ = name;
    if (stack_.back()->size() == kKeyCountMax) {
      fault_ = fmt::format("wanted at most {} keys in an object, found more", kKeyCountMax);
      return false;
    }
    if (!stack_.back()->contains(name)) return true;
    fault_ = "wanted each key once in an object, found " + in_quotes(name) + " twice";
    return false;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*count*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& /*why*/) override {
    error_at_ = position;
    return false;
  }

  [[nodiscard]] const std::string& fault() const { return fault_; }
  /// The number of bytes read when parsing stopped, if the parser reports it.
  [[nodiscard]] std::optional<std::size_t> error_at() const { return error_at_; }
  [[nodiscard]] Json take() { return std::move(root_); }

 private:
  Json* add(Json&& value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (stack_.back()->is_array()) {
      stack_.back()->push_back(std::move(value));
      return &stack_.back()->back();
    }
    return &((*stack_.back())[key_] = std::move(value));
  }
  bool put(Json value) {
    add(std::move(value));
    return true;
  }
  /// Opens an object or a list. Its address stays valid: its parent gets no further member until it is closed.
  bool open(Json value) {
    if (stack_.size() == kDepthMax) {
      fault_ = fmt::format("wanted at most {} levels, found more", kDepthMax);
      return false;
    }
    stack_.push_back(add(std::move(value)));
    return true;
  }
  bool close() {
    stack_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> stack_;
  std::string key_;
  std::string fault_;
  std::optional<std::size_t> error_at_;
};

TextPlace place_of(std::string_view text, std::size_t bytes_read) {
  const std::string_view before = text.substr(0, bytes_read == 0 ? 0 : std::min(bytes_read, text.size()) - 1);
  const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
  const std::size_t last_break = before.rfind('\n');
  return {.line = line, .column = before.size() - (last_break == std::string_view::npos ? 0 : last_break + 1) + 1};
}

/// A description of the last byte that was read.
std::string found_at(std::string_view text, std::size_t bytes_read) {
  if (bytes_read == 0 || bytes_read > text.size()) return "the end";
  const char byte = text[bytes_read - 1];
  const auto number = static_cast<unsigned char>(byte);
  return number < 0x80 ? in_quotes({&byte, 1}) : fmt::format("the byte 0x{:02x}", number);
}

}  // namespace

Result<Json> parse_exact_json(std::string_view text, const std::string& file) {
  ExactBuilder builder;
  if (Json::sax_parse(text, &builder)) return builder.take();
  if (!builder.error_at()) return invalid(fmt::format("{}: {}", file, builder.fault()));
  const std::size_t bytes_read = *builder.error_at();
  return pass_on(error_at(file, place_of(text, bytes_read), "wanted JSON, found " + found_at(text, bytes_read)));
}

std::optional<Decimal> exact_number(const Json& value) {
  if (value.is_number_unsigned()) {
    if (value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
    return Decimal(value.get<std::int64_t>());
  }
  if (value.is_number_integer()) return Decimal(value.get<std::int64_t>());
  if (!value.is_binary()) return std::nullopt;
  const auto& bytes = value.get_binary();
  const auto number = Decimal::parse(std::string(bytes.begin(), bytes.end()));
  if (!number) return std::nullopt;
  return *number;
}

}  // namespace berth::codec
