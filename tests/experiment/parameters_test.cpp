#include "rarefy/experiment/parameters.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/config_file.hpp"

using rarefy::Config;
using rarefy::Parameter;
using rarefy::ParameterValue;

namespace {

/// A value that the parameter takes and that is not its default.
ParameterValue another_value(const Parameter& parameter) {
  const auto now = parameter.get(Config{});
  if (const auto* flag = std::get_if<bool>(&now)) return !*flag;
  if (const auto* integer = std::get_if<std::int64_t>(&now)) return *integer + 1;
  if (parameter.type == Parameter::Type::number) return 0.1 + 0.2;  // 0.30000000000000004
  for (const auto choice : parameter.choices) {
    if (choice != std::get<std::string>(now)) return std::string(choice);
  }
  static const std::map<std::string_view, std::string> texts = {
      {"walls", "0.5,0.25,0.75,1; 0,0,1,1"},
      {"start", "0.5,0.25,-1.5"},
      {"bounds", "-1.5,2"},
      {"bandwidth", "0.25 width"},
      {"novelty-threshold", "3"},
      {"flow-layers", "16,8"},
      {"discount-layers", "16,8"}};
  if (const auto found = texts.find(parameter.name); found != texts.end()) return found->second;
  // Free text, or a list with one entry.
  return parameter.choices.empty() ? ParameterValue(std::string(R"(some "text" = # '1'\)"))
                                   : ParameterValue(now);
}

template <typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const rarefy::Error& error) {
    EXPECT_EQ(error.kind(), rarefy::ErrorKind::parameter);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

struct EveryParameter : testing::TestWithParam<std::string_view> {
  const Parameter& parameter = rarefy::parameter_named(GetParam());
};

TEST_P(EveryParameter, IsSetByItsOwnType) {
  const auto value = another_value(parameter);
  Config config;
  rarefy::set_parameter(config, parameter, value);
  EXPECT_EQ(parameter.get(config), value);
  // And nothing else is.
  for (const auto& other : rarefy::parameters()) {
    if (other.name == parameter.name) continue;
    EXPECT_EQ(other.get(config), other.get(Config{})) << other.name;
  }
}

TEST_P(EveryParameter, ComesBackFromText) {
  const auto value = another_value(parameter);
  Config config;
  rarefy::set_from_text(config, parameter, rarefy::text_of(value));
  EXPECT_EQ(parameter.get(config), value);
}

TEST_P(EveryParameter, ComesBackFromToml) {
  Config config;
  rarefy::set_parameter(config, parameter, another_value(parameter));
  const auto settings = rarefy::parse_settings(rarefy::to_toml(config), "test");
  EXPECT_EQ(settings.values.size(), rarefy::parameters().size());
  EXPECT_TRUE(rarefy::resolve(settings) == config) << rarefy::to_toml(config);
}

TEST_P(EveryParameter, RefusesAnotherType) {
  Config config;
  const auto value = parameter.get(config);
  const std::vector<ParameterValue> others = {true, std::int64_t{3}, 2.5, std::string("3")};
  for (const auto& other : others) {
    if (other.index() == value.index()) continue;
    const bool wants_number = parameter.type == Parameter::Type::number;
    if (wants_number && (other.index() == 1 || other.index() == 2)) continue;
    if (parameter.type == Parameter::Type::integer && other.index() == 1) continue;
    if (parameter.number_serves && (other.index() == 1 || other.index() == 2)) continue;
    const auto message = message_of([&] { rarefy::set_parameter(config, parameter, other); });
    EXPECT_TRUE(contains(message, parameter.name)) << message;
    EXPECT_TRUE(contains(message, rarefy::text_of(other))) << message;
    EXPECT_TRUE(contains(message, parameter.expected())) << message;
  }
  EXPECT_TRUE(config == Config{}) << "what is refused changes nothing";
}

TEST_P(EveryParameter, KeepsItsRange) {
  Config config;
  const auto refused = [&](const ParameterValue& bad) {
    const auto message = message_of([&] { rarefy::set_parameter(config, parameter, bad); });
    EXPECT_TRUE(contains(message, parameter.name)) << message;
    EXPECT_TRUE(config == Config{});
  };
  if (parameter.type == Parameter::Type::integer) {
    ASSERT_LT(parameter.low, parameter.high) << "an integer without limits";
    const auto low = static_cast<std::int64_t>(parameter.low);
    const auto high = static_cast<std::int64_t>(parameter.high);
    refused(low - 1);
    refused(std::numeric_limits<std::int64_t>::max());
    refused(std::numeric_limits<std::int64_t>::min());
    if (high < 1'000'000'000'000) refused(high + 1);
    EXPECT_NO_THROW(rarefy::set_parameter(config, parameter, low));
    EXPECT_NO_THROW(rarefy::set_parameter(config, parameter, high));
  } else if (parameter.type == Parameter::Type::number) {
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()}) {
      refused(bad);
    }
    if (std::isfinite(parameter.low)) {
      refused(std::nextafter(parameter.low, -1e300));
      if (parameter.low_open) refused(parameter.low);
      EXPECT_NO_THROW(rarefy::set_parameter(
          config, parameter,
          parameter.low_open ? std::nextafter(parameter.low, 1e300) : parameter.low));
    }
    config = {};
    if (std::isfinite(parameter.high)) refused(std::nextafter(parameter.high, 1e300));
  } else if (!parameter.choices.empty()) {
    for (const auto choice : parameter.choices) {
      EXPECT_NO_THROW(rarefy::set_parameter(config, parameter, std::string(choice)));
    }
    config = {};
    refused(std::string("nonsense"));
    refused(std::string());
  }
}

TEST_P(EveryParameter, SaysWhatItIs) {
  EXPECT_FALSE(parameter.meaning.empty());
  EXPECT_FALSE(parameter.section.empty());
  EXPECT_FALSE(parameter.expected().empty());
  EXPECT_FALSE(parameter.type_name().empty());
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const auto& parameter : rarefy::parameters()) names.push_back(parameter.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Of, EveryParameter, testing::ValuesIn(all_names()), [](const auto& each) {
  std::string name(each.param);
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Parameters, HaveNamesOfTheirOwn) {
  const auto names = all_names();
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), names.size());
}

TEST(Parameters, AnIntegerServesForANumber) {
  Config config;
  rarefy::set_parameter(config, rarefy::parameter_named("sigma0"), std::int64_t{2});
  EXPECT_EQ(config.emitters.sigma0, 2.0);
  rarefy::set_from_text(config, rarefy::parameter_named("x0"), "-3");
  EXPECT_EQ(config.emitters.x0, -3.0);
}

TEST(Parameters, TextThatIsNoValueIsRefused) {
  const std::vector<std::pair<std::string_view, std::vector<std::string_view>>> bad = {
      {"n", {"", " 5", "5 ", "5.0", "0x10", "1e3", "99999999999999999999", "five", "+5"}},
      {"sigma0", {"", "1,5", "1.5 ", "one", "1e999", "--1"}},
      {"mirrored", {"", "True", "1", "yes"}},
      {"kernel", {"", "Gaussian", "gaussian "}}};
  for (const auto& [name, texts] : bad) {
    for (const auto text : texts) {
      Config config;
      const auto message = message_of([&, which = name] {
        rarefy::set_from_text(config, rarefy::parameter_named(which), text);
      });
      EXPECT_TRUE(contains(message, name)) << message;
      EXPECT_TRUE(contains(message, fmt::format("'{}'", text))) << message;
      EXPECT_TRUE(config == Config{});
    }
  }
}

TEST(Parameters, AnUnknownNameSuggestsTheNearest) {
  const auto message = message_of([] { (void)rarefy::parameter_named("sigma"); });
  EXPECT_TRUE(contains(message, "'sigma'") && contains(message, "did you mean 'sigma0'?"))
      << message;
  EXPECT_TRUE(
      contains(message_of([] { (void)rarefy::parameter_named("restart_at"); }), "'restart-at'"));
  EXPECT_FALSE(
      contains(message_of([] { (void)rarefy::parameter_named("zzzzzzzzzz"); }), "did you mean"));
}

TEST(Parameters, AwkwardNumbersComeBackFromTomlToTheLastBit) {
  for (const double value : {0.1, 1.0 / 3.0, 1e-308, 5e-324, 1.7976931348623157e308, 123456789.0,
                             1e22, 2.2250738585072014e-308}) {
    Config config;
    config.restarts.stagnation.patience_rate = value;
    config.output.objective_floor = -value;
    config.seed = 8'999'999'999'999'999'999;
    const auto again = rarefy::resolve(rarefy::parse_settings(rarefy::to_toml(config), "test"));
    EXPECT_TRUE(again == config) << value;
  }
  Config config;
  config.emitters.x0 = -0.0;
  const auto again = rarefy::resolve(rarefy::parse_settings(rarefy::to_toml(config), "test"));
  EXPECT_TRUE(std::signbit(again.emitters.x0));
}

TEST(Parameters, ANumberServesForABandwidth) {
  const auto config =
      rarefy::resolve(rarefy::parse_settings("[density]\nbandwidth = 2.5\n", "test"));
  EXPECT_EQ(config.density.kde.bandwidth.text(), "2.5");
}

TEST(Parameters, AWordServesForABufferWithoutALimit) {
  const auto& buffer = rarefy::parameter_named("buffer");
  rarefy::Config config;
  rarefy::set_from_text(config, buffer, "unlimited");
  EXPECT_EQ(config.density.buffer, 0);
  rarefy::set_from_text(config, buffer, "500");
  EXPECT_EQ(config.density.buffer, 500);
  rarefy::set_parameter(config, buffer, rarefy::ParameterValue(std::string("unlimited")));
  EXPECT_EQ(config.density.buffer, 0);
  const auto from_file =
      rarefy::resolve(rarefy::parse_settings("[density]\nbuffer = \"unlimited\"\n", "test"));
  EXPECT_EQ(from_file.density.buffer, 0);
  EXPECT_NE(rarefy::to_toml(config).find("buffer = 'unlimited'"), std::string::npos);
  EXPECT_THROW(rarefy::set_from_text(config, buffer, "limitless"), rarefy::Error);
  EXPECT_THROW(rarefy::set_from_text(config, buffer, "-1"), rarefy::Error);
}

TEST(Parameters, AnyTextComesBackFromToml) {
  for (const std::string text :
       {"", "it's", "a\nb", "\t", "\"", "'''", "C:\\x", "\x01", "käse # 1", "dir/with space.npy"}) {
    Config config;
    config.archive.centroids = text;
    const auto again = rarefy::resolve(rarefy::parse_settings(rarefy::to_toml(config), "test"));
    EXPECT_EQ(again.archive.centroids, text);
  }
}

}  // namespace
