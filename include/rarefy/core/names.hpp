// Enumerators and their names: written once, beside the enum, and read by everything that
// parses, prints, checks or lists them.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "rarefy/core/nearest_name.hpp"

namespace rarefy {

/// Specialised for every enum that users meet by name:
///
///   template <>
///   struct EnumNames<Kernel> {
///     static constexpr std::string_view thing = "kernel";  // what messages call it
///     static constexpr std::pair<Kernel, std::string_view> all[] = {{Kernel::gaussian,
///     "gaussian"}};
///   };
template <typename Enum>
struct EnumNames;

template <typename Enum>
concept NamedEnum = requires {
  EnumNames<Enum>::thing;
  EnumNames<Enum>::all;
};

template <NamedEnum Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) {
  for (const auto& [known, name] : EnumNames<Enum>::all) {
    if (known == value) return name;
  }
  return "";
}

/// All names, in the order in which they are written down.
template <NamedEnum Enum>
[[nodiscard]] std::vector<std::string_view> names_of() {
  std::vector<std::string_view> names;
  for (const auto& entry : EnumNames<Enum>::all) names.push_back(entry.second);
  return names;
}

/// The enumerator of that name. Throws an Error with the nearest name where there is none.
template <NamedEnum Enum>
[[nodiscard]] Enum named(std::string_view name) {
  for (const auto& [value, known] : EnumNames<Enum>::all) {
    if (known == name) return value;
  }
  throw unknown_name(EnumNames<Enum>::thing, name, names_of<Enum>());
}

}  // namespace rarefy
