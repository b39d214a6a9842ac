// How a parameter is described, in a line or two of the table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rarefy/core/names.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy {

/// A value nested in a Config: at(&Config::restarts, &RestartOptions::when).
template <typename... Members>
auto at(Members... members) {
  return [=](auto& config) -> auto& { return (config.*....*members); };
}

/// Reads like a sentence: integer(...).range(1, 10).when(...).
class ParameterBuilder : public Parameter {
 public:
  ParameterBuilder range(double from, double to) && {
    low = from;
    high = to;
    return std::move(*this);
  }
  /// More than `from`, up to `to`.
  ParameterBuilder above(double from, double to) && {
    low_open = true;
    return std::move(*this).range(from, to);
  }
  ParameterBuilder one_of(std::vector<std::string_view> names) && {
    choices = std::move(names);
    return std::move(*this);
  }
  /// A text that may be given as a number; in a file also as a list of numbers.
  ParameterBuilder or_number() && {
    number_serves = true;
    return std::move(*this);
  }
  ParameterBuilder or_list() && {
    list_serves = true;
    return std::move(*this);
  }
  /// Has an effect only where this holds, too.
  ParameterBuilder when(Condition condition) && {
    conditions.push_back(std::move(condition));
    return std::move(*this);
  }
  /// Changes how or how long a run goes, but nothing that it finds on the way.
  ParameterBuilder without_trace() && {
    decides_results = false;
    return std::move(*this);
  }
};

template <typename Get, typename Put>
ParameterBuilder described(std::string_view name, Parameter::Type type, std::string_view meaning,
                           Get get, Put put) {
  ParameterBuilder parameter;
  parameter.name = name;
  parameter.type = type;
  parameter.meaning = meaning;
  parameter.get = std::move(get);
  parameter.put = std::move(put);
  return parameter;
}

template <typename At>
using ValueAt = std::remove_cvref_t<decltype(std::declval<At>()(std::declval<Config&>()))>;

template <typename At>
ParameterBuilder flag(std::string_view name, At place, std::string_view meaning) {
  return described(
      name, Parameter::Type::flag, meaning,
      [place](const Config& config) { return ParameterValue(place(config)); },
      [place](Config& config, const ParameterValue& value) {
        place(config) = std::get<bool>(value);
      });
}

template <typename At>
ParameterBuilder integer(std::string_view name, At place, std::string_view meaning) {
  return described(
      name, Parameter::Type::integer, meaning,
      [place](const Config& config) {
        return ParameterValue(static_cast<std::int64_t>(place(config)));
      },
      [place](Config& config, const ParameterValue& value) {
        place(config) = static_cast<ValueAt<At>>(std::get<std::int64_t>(value));
      });
}

/// An integer of which 0 has a name.
template <typename At>
ParameterBuilder integer_or(std::string_view zero, std::string_view name, At place,
                            std::string_view meaning) {
  auto parameter = described(
      name, Parameter::Type::integer, meaning,
      [place, zero](const Config& config) {
        const auto value = static_cast<std::int64_t>(place(config));
        return value == 0 ? ParameterValue(std::string(zero)) : ParameterValue(value);
      },
      [place](Config& config, const ParameterValue& value) {
        const auto* given = std::get_if<std::int64_t>(&value);
        place(config) = static_cast<ValueAt<At>>(given != nullptr ? *given : 0);
      });
  parameter.word = zero;
  return parameter;
}

template <typename At>
ParameterBuilder number(std::string_view name, At place, std::string_view meaning) {
  return described(
      name, Parameter::Type::number, meaning,
      [place](const Config& config) { return ParameterValue(place(config)); },
      [place](Config& config, const ParameterValue& value) {
        place(config) = std::get<double>(value);
      });
}

/// A std::optional number, whose absence has a name.
template <typename At>
ParameterBuilder number_or(std::string_view none, std::string_view name, At place,
                           std::string_view meaning) {
  auto parameter = described(
      name, Parameter::Type::number, meaning,
      [place, none](const Config& config) {
        const auto& value = place(config);
        return value ? ParameterValue(*value) : ParameterValue(std::string(none));
      },
      [place](Config& config, const ParameterValue& value) {
        const auto* given = std::get_if<double>(&value);
        place(config) = given != nullptr ? std::optional(*given) : std::nullopt;
      });
  parameter.word = none;
  return parameter;
}

template <typename At>
ParameterBuilder text(std::string_view name, At place, std::string_view meaning) {
  return described(
      name, Parameter::Type::text, meaning,
      [place](const Config& config) { return ParameterValue(place(config)); },
      [place](Config& config, const ParameterValue& value) {
        place(config) = std::get<std::string>(value);
      });
}

/// An enum with names.
template <typename At>
ParameterBuilder choice(std::string_view name, At place, std::string_view meaning) {
  using Enum = ValueAt<At>;
  return described(
             name, Parameter::Type::text, meaning,
             [place](const Config& config) {
               return ParameterValue(std::string(name_of(place(config))));
             },
             [place](Config& config, const ParameterValue& value) {
               place(config) = named<Enum>(std::get<std::string>(value));
             })
      .one_of(names_of<Enum>());
}

/// A value that is read from a text, and written as one.
template <typename At, typename Parse, typename Text>
ParameterBuilder parsed(std::string_view name, At place, Parse parse, Text text,
                        std::string_view meaning) {
  return described(
      name, Parameter::Type::text, meaning,
      [place, text](const Config& config) {
        return ParameterValue(std::string(std::invoke(text, place(config))));
      },
      [place, parse](Config& config, const ParameterValue& value) {
        place(config) = parse(std::get<std::string>(value));
      });
}

}  // namespace rarefy
