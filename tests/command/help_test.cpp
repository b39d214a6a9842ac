// rarefy list, --help and --version
#include "command_line.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace {

const Words kVerbs = {"run", "resume", "evaluate", "list", "show"};

TEST(CommandHelp, TheVersionIsThatOfTheLibrary) {
  const auto result = rarefy_command({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, std::string("rarefy ") + std::string(rarefy::kVersion) + "\n");
}

TEST(CommandHelp, WithoutArgumentsTheVerbsAreShown) {
  for (const auto& arguments : {Words{}, Words{"--help"}, Words{"-h"}}) {
    const auto result = rarefy_command(arguments);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    for (const auto& verb : kVerbs) {
      EXPECT_TRUE(contains(result.out, "\n  " + verb + " ")) << result.out;
    }
    for (const auto* code : {"0 done", "130 interrupted"}) EXPECT_TRUE(contains(result.out, code));
  }
}

TEST(CommandHelp, EveryVerbHasItsOwn) {
  const std::vector<std::pair<std::string, Words>> told = {
      {"run", {"DOMAIN", "--config", "--out", "--overwrite", "--quiet", "--threads"}},
      {"resume", {"DIR", "--iterations", "--quiet", "--threads"}},
      {"evaluate", {"DOMAIN", "--solutions", "--out", "--n", "--objective"}},
      {"list", {"DOMAIN", "--profile"}},
      {"show", {"DIR", "--json"}}};
  for (const auto& [verb, parts] : told) {
    SCOPED_TRACE(verb);
    const auto result = rarefy_command({verb, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    for (const auto& part : parts) {
      EXPECT_TRUE(contains(result.out, part)) << part << " is not in " << result.out;
    }
  }
}

TEST(CommandHelp, RunTakesEveryParameter) {
  const auto result = rarefy_command({"run", "--help"});
  for (const auto& parameter : rarefy::parameters()) {
    if (parameter.name == "domain") continue;
    EXPECT_TRUE(contains(result.out, "--" + std::string(parameter.name) + " ")) << parameter.name;
  }
}

TEST(CommandList, HasEverythingThereIsToChoose) {
  for (const auto profile : {rarefy::Profile::standard, rarefy::Profile::published}) {
    for (const auto& domain : rarefy::domain_rows()) {
      const auto result = rarefy_command(
          {"list", std::string(domain.name), "--profile", std::string(rarefy::name_of(profile))});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      const auto defaults = rarefy::default_config(domain.name, "dds-kde", profile);
      for (const auto& parameter : rarefy::parameters()) {
        const auto table = result.out.find("Parameters that matter");
        const auto at = result.out.find("\n  " + std::string(parameter.name) + " ", table);
        if (!rarefy::reason_without_effect(defaults, parameter).empty()) {
          EXPECT_EQ(at, std::string::npos) << parameter.name << " does not matter here";
          continue;
        }
        ASSERT_NE(at, std::string::npos) << parameter.name;
        const auto line = result.out.substr(at + 1, result.out.find('\n', at + 1) - at - 1);
        const auto value = rarefy::text_of(parameter.get(defaults));
        EXPECT_TRUE(contains(line, " " + (value.empty() ? "-" : value) + " ")) << line;
        EXPECT_TRUE(contains(line, parameter.meaning)) << line;
      }
      for (const auto& choice : rarefy::domain_rows()) {
        EXPECT_TRUE(contains(result.out, choice.meaning));
      }
      for (const auto& choice : rarefy::algorithms()) {
        EXPECT_TRUE(contains(result.out, choice.meaning));
      }
      EXPECT_TRUE(contains(result.out, rarefy::meaning_of(rarefy::Profile::standard)));
      EXPECT_TRUE(contains(result.out, rarefy::meaning_of(rarefy::Profile::published)));
    }
  }
  // Without arguments: the linear projection.
  EXPECT_EQ(rarefy_command({"list"}).out, rarefy_command({"list", "lp"}).out);
}

}  // namespace
