#include "serving/model_config/detail/config_tree.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/core/ensure.h"

// model_config.proto, compiled when the build is configured.
extern "C" const char model_config_schema_begin[];
extern "C" const char model_config_schema_end[];

namespace berth::serving::detail {
namespace {

namespace protobuf = google::protobuf;
using LocationTree = protobuf::TextFormat::ParseInfoTree;

constexpr int kDepthMax = 32;
constexpr const char* kSchemaFile = "model_config.proto";
constexpr const char* kConfigMessage = "berth.ModelConfig";

/// Keeps the first message.
class FirstError final : public protobuf::io::ErrorCollector {
 public:
  explicit FirstError(std::string_view file) : file_(file) {}
  void AddError(int line, int column, const std::string& message) override {
    if (!error_) error_ = error_at(file_, place_of(line, column), without_package(message));
  }
  [[nodiscard]] Error error() const {
    return error_.value_or(error_at(file_, {}, "wanted the text format of protocol buffers"));
  }

  /// From numbers that count from 0; -1: unknown.
  static TextPlace place_of(int line, int column) {
    return {.line = static_cast<std::size_t>(std::max(line, 0)) + 1,
            .column = static_cast<std::size_t>(std::max(column, 0)) + 1};
  }

 private:
  /// "berth.ModelConfig" is a name of the schema alone.
  static std::string without_package(std::string message) {
    constexpr std::string_view kPackage = "\"berth.";
    for (std::size_t at = message.find(kPackage); at != std::string::npos; at = message.find(kPackage, at)) {
      message.erase(at + 1, kPackage.size() - 1);
    }
    return message;
  }

  std::string_view file_;
  std::optional<Error> error_;
};

const protobuf::Descriptor* config_message(protobuf::DescriptorPool& pool) {
  protobuf::FileDescriptorSet schema;
  ENSURE(schema.ParseFromArray(model_config_schema_begin,
                               static_cast<int>(model_config_schema_end - model_config_schema_begin)));
  for (const protobuf::FileDescriptorProto& file : schema.file()) ENSURE(pool.BuildFile(file) != nullptr);
  ENSURE(pool.FindFileByName(kSchemaFile) != nullptr);
  return pool.FindMessageTypeByName(kConfigMessage);
}

/// Walks over a message and over the places of its fields, which the parser notes apart.
class TreeMaker {
 public:
  std::vector<ConfigField> fields_of(const protobuf::Message& message, const LocationTree* places, TextPlace around) {
    std::vector<const protobuf::FieldDescriptor*> written;
    message.GetReflection()->ListFields(message, &written);
    std::vector<ConfigField> fields;
    for (const protobuf::FieldDescriptor* field : written) {
      const int count = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        around = place_of(places, field, field->is_repeated() ? i : -1).value_or(around);
        fields.push_back(field_of(message, *field, field->is_repeated() ? i : -1, places, around));
      }
    }
    return fields;
  }

 private:
  /// Nothing for the second and later items of a list in brackets.
  static std::optional<TextPlace> place_of(const LocationTree* places, const protobuf::FieldDescriptor* field,
                                           int index) {
    if (places == nullptr) return std::nullopt;
    const auto place = places->GetLocation(field, index);
    if (place.line < 0) return std::nullopt;
    return FirstError::place_of(place.line, place.column);
  }

  ConfigField field_of(const protobuf::Message& message, const protobuf::FieldDescriptor& field, int index,
                       const LocationTree* places, TextPlace place) {
    ConfigField made{.name = field.name(), .place = place};
    if (field.cpp_type() == protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
      const protobuf::Reflection& read = *message.GetReflection();
      const protobuf::Message& inner =
          index < 0 ? read.GetMessage(message, &field) : read.GetRepeatedMessage(message, &field, index);
      const LocationTree* const inside = places == nullptr ? nullptr : places->GetTreeForNested(&field, index);
      made.fields = fields_of(inner, inside, place);
    } else {
      read_scalar(message, field, index, made);
    }
    return made;
  }

  static void read_scalar(const protobuf::Message& message, const protobuf::FieldDescriptor& field, int index,
                          ConfigField& made) {
    const protobuf::Reflection& read = *message.GetReflection();
    const bool is_one = index < 0;
    switch (field.cpp_type()) {
      case protobuf::FieldDescriptor::CPPTYPE_STRING:
        made.text = is_one ? read.GetString(message, &field) : read.GetRepeatedString(message, &field, index);
        break;
      case protobuf::FieldDescriptor::CPPTYPE_ENUM:
        made.text = (is_one ? read.GetEnum(message, &field) : read.GetRepeatedEnum(message, &field, index))->name();
        break;
      case protobuf::FieldDescriptor::CPPTYPE_BOOL:
        made.number = is_one ? read.GetBool(message, &field) : read.GetRepeatedBool(message, &field, index);
        made.is_bool = true;
        break;
      case protobuf::FieldDescriptor::CPPTYPE_INT32:
        made.number = is_one ? read.GetInt32(message, &field) : read.GetRepeatedInt32(message, &field, index);
        break;
      case protobuf::FieldDescriptor::CPPTYPE_UINT32:
        made.number = is_one ? read.GetUInt32(message, &field) : read.GetRepeatedUInt32(message, &field, index);
        break;
      case protobuf::FieldDescriptor::CPPTYPE_INT64:
        made.number = is_one ? read.GetInt64(message, &field) : read.GetRepeatedInt64(message, &field, index);
        break;
      case protobuf::FieldDescriptor::CPPTYPE_UINT64: {
        constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
        const std::uint64_t value =
            is_one ? read.GetUInt64(message, &field) : read.GetRepeatedUInt64(message, &field, index);
        made.number = static_cast<std::int64_t>(std::min(value, kMost));
        break;
      }
      default:
        break;  // fractions: nothing that is read has any
    }
  }
};

}  // namespace

const ConfigField* ConfigField::find(std::string_view field) const {
  const auto found = std::ranges::find(fields, field, &ConfigField::name);
  return found == fields.end() ? nullptr : &*found;
}

Result<ConfigField> parse_config_text(std::string_view text, std::string_view file) {
  protobuf::DescriptorPool pool;
  protobuf::DynamicMessageFactory factory(&pool);
  const protobuf::Descriptor* const type = config_message(pool);
  ENSURE(type != nullptr);
  const std::unique_ptr<protobuf::Message> config(factory.GetPrototype(type)->New());

  FirstError errors(file);
  LocationTree places;
  protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.WriteLocationsTo(&places);
  parser.SetRecursionLimit(kDepthMax);
  protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  if (!parser.Parse(&stream, config.get())) return pass_on(errors.error());
  return ConfigField{.name = "config", .fields = TreeMaker().fields_of(*config, &places, {})};
}

}  // namespace berth::serving::detail
