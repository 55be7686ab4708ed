#include "base/json/value.h"

#include "base/core/overloaded.h"

namespace berth::json {

void Value::write(Writer& json) const {
  std::visit(Overloaded{[&](const Number& number) { json.written(number.decimal); },
                        [&](const List& items) {
                          json.open_list();
                          for (const Value& item : items) item.write(json);
                          json.close_list();
                        },
                        [&](const Object& members) {
                          json.open_object();
                          for (const auto& [key, value] : members) value.write(json.key(key));
                          json.close_object();
                        },
                        [&](const auto& scalar) { json.value(scalar); }},
             value_);
}

std::string Value::to_line() const {
  Writer json;
  write(json);
  return json.take_line();
}

}  // namespace berth::json
