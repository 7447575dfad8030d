// TOML as JSON, by toml++. Keys keep the order of the file: it is the order of the columns.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

extern "C" {
#include "engine.h"
}

static json_t* convert(const toml::node& node);

static json_t* convert_table(const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> item;
  for (auto&& [key, value] : table) item.emplace_back(&key, &value);
  std::sort(item.begin(), item.end(), [](const auto& a, const auto& b) {
    return a.first->source().begin < b.first->source().begin;
  });
  json_t* object = json_object();
  for (const auto& [key, value] : item)
    json_object_set_new(object, std::string(key->str()).c_str(), convert(*value));
  return object;
}

static json_t* convert_array(const toml::array& array) {
  json_t* list = json_array();
  for (const toml::node& value : array) json_array_append_new(list, convert(value));
  return list;
}

// What JSON cannot say (dates, infinities) becomes text or null, which the reader refuses.
static json_t* convert(const toml::node& node) {
  if (const toml::table* table = node.as_table()) return convert_table(*table);
  if (const toml::array* array = node.as_array()) return convert_array(*array);
  if (auto text = node.as_string()) return json_string(text->get().c_str());
  if (auto whole = node.as_integer()) return json_integer(whole->get());
  if (auto truth = node.as_boolean()) return json_boolean(truth->get());
  if (auto number = node.as_floating_point())
    return std::isfinite(number->get()) ? json_real(number->get()) : json_null();
  return json_null();
}

extern "C" json_t* sweep_toml(const char* text, const char* path, abError* error) {
  toml::parse_result result = toml::parse(std::string_view(text), std::string_view(path));
  if (result) return convert_table(result.table());
  const toml::parse_error& what = result.error();
  sweep_fail(error, AB_ERROR_PARSE, path, static_cast<int>(what.source().begin.line), "%s",
             std::string(what.description()).c_str());
  return nullptr;
}
