// The tables of algorithms and domains: what is in them works, and what is not is an error.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "rarefy/core/error.hpp"
#include "support/small_config.hpp"

namespace rarefy {
namespace {

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::parameter);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

void expect_named(const std::string& message, std::string_view given, std::string_view nearest) {
  EXPECT_NE(message.find(given), std::string::npos) << message;
  EXPECT_NE(message.find(nearest), std::string::npos) << message;
}

// Such a mistake used to be a random search.
TEST(UnknownNames, OfAlgorithmsAreErrors) {
  Config config = small_config();
  config.algorithm = "dds-kd";
  const auto info = domain_info(config);
  expect_named(message_of([&] { (void)make_search(config, info, 1); }), "'dds-kd'", "dds-kde");
  expect_named(message_of([&] { (void)default_config("lp", "cma-mee"); }), "'cma-mee'", "cma-me");
}

TEST(UnknownNames, OfDomainsAndTheirObjectivesAreErrors) {
  Config config = small_config();
  config.domain = "lq";
  expect_named(message_of([&] { (void)make_domain(config); }), "'lq'", "lp");
  config = small_config();
  config.problem.objective = "spher";
  expect_named(message_of([&] { (void)make_domain(config); }), "'spher'", "sphere");
  config = small_config("arm");
  config.problem.objective = "sphere";
  expect_named(message_of([&] { (void)make_domain(config); }), "'sphere'", "even");
  config = default_config("maze");
  config.problem.n = 67;
  expect_named(message_of([&] { (void)make_domain(config); }), "67", "66");
}

TEST(UnknownNames, OfWhateverHasNamesAreErrors) {
  for (const auto& parameter : parameters()) {
    if (parameter.choices.empty()) continue;
    Config config;
    const auto given = std::string(parameter.choices.front()) + "x";
    expect_named(message_of([&] { set_parameter(config, parameter, given); }), given,
                 parameter.choices.front());
  }
}

TEST(AlgorithmTable, EveryRowMakesASearchOnEveryDomainInEveryProfile) {
  for (const auto& algorithm : algorithms()) {
    EXPECT_FALSE(algorithm.meaning.empty());
    for (const auto& domain : domain_rows()) {
      for (const auto profile : {Profile::standard, Profile::published}) {
        auto config = default_config(domain.name, algorithm.name, profile);
        config.emitters.count = 2;
        config.emitters.batch = 6;
        config.archive.cvt.cells = 20;
        config.archive.cvt.samples = 60;
        config.density.flow.network.layers = config.density.discount.network.layers = {4};
        const auto problem = make_domain(config);
        const auto search = make_search(config, problem->info(), 1);
        PlainEvaluator evaluator(*problem);
        EXPECT_EQ(drive(*search, evaluator, 3), DriveEnd::finished)
            << algorithm.name << " on " << domain.name;
        EXPECT_EQ(search->evaluations(), 36);
      }
    }
  }
}

TEST(DomainTable, EveryObjectiveOfARowCanBeMadeAndStatesItsLeast) {
  for (const auto& row : domain_rows()) {
    EXPECT_FALSE(row.meaning.empty());
    for (const auto objective : row.objectives) {
      auto config = default_config(row.name);
      config.problem.objective = objective;
      const auto info = make_domain(config)->info();
      EXPECT_EQ(info.constant_objective, objective == "constant") << row.name << ", " << objective;
      ASSERT_TRUE(info.objective_floor()) << row.name << ", " << objective;
    }
  }
}

// Solutions in the natural range never fall below what a domain states as its least objective.
TEST(DomainTable, NoObjectiveFallsBelowTheLeast) {
  for (const auto& row : domain_rows()) {
    for (const auto objective : row.objectives) {
      if (objective == "constant") continue;
      auto config = default_config(row.name);
      config.problem.objective = objective;
      const auto domain = make_domain(config);
      const auto& info = domain->info();
      const double reach = info.solution_high.value_or(3.0);
      Batch solutions(300, info.solution_dim);
      for (Index i = 0; i < solutions.rows(); ++i) {
        RandomStream random({.seed = 1, .index = static_cast<std::uint32_t>(i)});
        const double scale = reach * static_cast<double>(i % 4) / 3.0;
        for (double& value : solutions.row(i)) {
          const double u = 2 * random.uniform() - 1;
          value = i % 2 == 0 ? scale * u : (u < 0 ? -scale : scale);  // and the corners
        }
      }
      for (double& value : solutions.row(7)) value = -4.468;  // on Rastrigin's worst ripple
      Evaluation result(solutions.rows(), info.feature_dim());
      domain->evaluate(solutions, result.features, result.objectives);
      for (const double value : result.objectives) {
        EXPECT_GE(value, *info.least_objective - 1e-9) << row.name << ", " << objective;
        EXPECT_LE(value, *info.greatest_objective + 1e-9) << row.name << ", " << objective;
      }
    }
  }
}

TEST(Thresholds, StartAtTheLeastObjectiveOfTheDomain) {
  auto config = default_config("maze", "cma-mae");
  config.problem.objective = "energy";
  config.emitters.count = 2;
  const auto search = make_search(config, domain_info(config), 1);
  const auto& thresholds = dynamic_cast<const AnnealedThresholds&>(search->density()).thresholds();
  EXPECT_EQ(thresholds[0], -0.3125);
  config.density.threshold_min = 0.0;  // above all of them
  expect_named(message_of([&] { (void)make_search(config, domain_info(config), 1); }),
               "threshold-min", "greatest objective");
}

TEST(Thresholds, OfAProblemThatDoesNotStateItsLeastMustBeGiven) {
  DomainInfo mine;
  mine.name = "mine";
  mine.solution_dim = 3;
  mine.feature_space = {{0.0, -1.0}, {2.0, 1.0}};
  mine.constant_objective = false;
  auto config = default_config("lp", "cma-mae");
  expect_named(message_of([&] { (void)make_search(config, mine, 1); }), "threshold-min", "'mine'");
  config.density.threshold_min = -5.0;
  EXPECT_NO_THROW((void)make_search(config, mine, 1));
  config.density.threshold_min.reset();
  mine.least_objective = -2.0;
  EXPECT_NO_THROW((void)make_search(config, mine, 1));
}

TEST(DiscountRange, IsThatOfTheObjectivesOrMustBeGiven) {
  const auto options_of = [](const Config& config, const DomainInfo& domain) {
    const auto search = make_search(config, domain, 1);
    return dynamic_cast<const DiscountModel&>(search->density()).options();
  };
  auto config = default_config("lp", "dms");
  EXPECT_EQ(options_of(config, domain_info(config)).range, 1.0) << "all objectives are 1";
  EXPECT_EQ(options_of(config, domain_info(config)).minimum, 0.0);
  EXPECT_EQ(options_of(config, domain_info(config)).learning_rate, 0.1);
  config.problem.objective = "sphere";
  EXPECT_EQ(options_of(config, domain_info(config)).range, 100.0);
  config.density.threshold_min = -20.0;
  EXPECT_EQ(options_of(config, domain_info(config)).range, 120.0);

  DomainInfo mine;
  mine.name = "mine";
  mine.solution_dim = 3;
  mine.feature_space = {{0.0, -1.0}, {2.0, 1.0}};
  mine.constant_objective = false;
  mine.least_objective = -2.0;
  config = default_config("lp", "dms");
  expect_named(message_of([&] { (void)make_search(config, mine, 1); }), "discount-range", "'mine'");
  config.density.discount_range = 7.0;
  EXPECT_EQ(options_of(config, mine).range, 7.0);
  EXPECT_EQ(options_of(config, mine).minimum, -2.0);
}

}  // namespace
}  // namespace rarefy
