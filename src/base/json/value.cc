#include "base/json/value.h"

#include <nlohmann/json.hpp>

#include "base/core/overloaded.h"

namespace berth::json {

void Value::write(JsonWriter& json) const {
  std::visit(Overloaded{[&](std::nullptr_t) { json.null(); }, [&](bool truth) { json.truth(truth); },
                        [&](Int128 number) { json.integer(number); },
                        [&](double number) { json.number(nlohmann::json(number).dump()); },
                        [&](const Number& number) { json.number(number.decimal); },
                        [&](const std::string& text) { json.text(text); },
                        [&](const List& items) {
                          json.open_list();
                          for (const Value& item : items) item.write(json);
                          json.close_list();
                        },
                        [&](const Object& members) {
                          json.open_object();
                          for (const Member& member : members) {
                            json.key(member.key);
                            member.value.write(json);
                          }
                          json.close_object();
                        }},
             value_);
}

std::string Value::to_line() const {
  JsonWriter json;
  write(json);
  return json.take();
}

}  // namespace berth::json
