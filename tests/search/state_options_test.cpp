// A state that was made with other options is refused, and the message names the option and both
// values.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rarefy/compat/published.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/density/endless_buffer.hpp"
#include "rarefy/emitters/lm_ma_es.hpp"
#include "rarefy/emitters/separable_cma_es.hpp"
#include "rarefy/tessellations/cvt.hpp"
#include "support/every_algorithm.hpp"

namespace rarefy {
namespace {

template <typename Part>
std::vector<std::byte> options_of(const Part& part) {
  StateWriter out;
  StateOptions options(out);
  part.identify(options);
  return out.bytes();
}

// What `part` says to the options of another; empty when they are its own.
template <typename Part>
std::string objection(const Part& part, const std::vector<std::byte>& bytes) {
  StateReader in(bytes);
  StateOptions options(in);
  try {
    part.identify(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
    return error.what();
  }
  EXPECT_TRUE(in.at_end());
  return "";
}

template <typename Part, typename Other>
void expect_told_apart(const std::string& field, const Part& one, const Other& other) {
  EXPECT_EQ(objection(one, options_of(one)), "") << field;
  EXPECT_EQ(objection(other, options_of(other)), "") << field;
  for (const auto& message :
       {objection(one, options_of(other)), objection(other, options_of(one))}) {
    EXPECT_NE(message.find("'" + field + "'"), std::string::npos) << field << ": " << message;
  }
}

const FeatureSpace kBox = {{0, 0}, {1, 2}};
const FeatureSpace kWider = {{0, 0}, {1, 3}};
const FeatureSpace kShifted = {{-1, 0}, {1, 2}};

std::unique_ptr<Reservoir> buffer(Index capacity = 50, std::uint64_t seed = 1) {
  return std::make_unique<Reservoir>(
      ReservoirOptions{.feature_dim = 2, .capacity = capacity, .seed = seed});
}

TEST(StateOptions, NameBothValues) {
  const auto message = objection(StagnationTrigger({.patience = 30}),
                                 options_of(StagnationTrigger({.patience = 25})));
  EXPECT_NE(message.find("got 25, expected 30"), std::string::npos) << message;
}

TEST(StateOptions, OfAnArchive) {
  const auto archive = [](const FeatureSpace& space, std::vector<Index> cells, Index n) {
    return Archive(std::make_shared<Grid>(space, std::move(cells)), n);
  };
  const auto base = archive(kBox, {4, 6}, 3);
  expect_told_apart("feature_space.upper", base, archive(kWider, {4, 6}, 3));
  expect_told_apart("feature_space.lower", base, archive(kShifted, {4, 6}, 3));
  expect_told_apart("archive.cells", base, archive(kBox, {4, 7}, 3));
  expect_told_apart("archive.tessellation_fingerprint", base, archive(kBox, {6, 4}, 3));
  expect_told_apart("archive.solution_dim", base, archive(kBox, {4, 6}, 4));
  const auto centroids = [](double last) {
    Batch places(24, 2);
    for (Index i = 0; i < 24; ++i) places(i, 0) = places(i, 1) = static_cast<double>(i) / 25;
    places(23, 1) = last;
    return Archive(std::make_shared<Cvt>(kBox, std::move(places)), 3);
  };
  expect_told_apart("archive.tessellation", base, centroids(1));
  expect_told_apart("archive.tessellation_fingerprint", centroids(1), centroids(1.01));
}

TEST(StateOptions, OfKernelDensities) {
  const auto h = Bandwidth::absolute(0.1);
  const auto kde = [](KdeOptions options, Index capacity = 50, std::uint64_t seed = 1) {
    return KernelDensity(std::move(options), buffer(capacity, seed));
  };
  const auto base = [&] { return kde({.space = kBox, .bandwidth = h}); };
  expect_told_apart("feature_space.upper", base(), kde({.space = kWider, .bandwidth = h}));
  expect_told_apart("feature_space.lower", base(), kde({.space = kShifted, .bandwidth = h}));
  expect_told_apart("kde.kernel", base(),
                    kde({.space = kBox, .kernel = Kernel::triangular, .bandwidth = h}));
  expect_told_apart("kde.bandwidths", base(),
                    kde({.space = kBox, .bandwidth = Bandwidth::absolute(0.2)}));
  expect_told_apart("kde.method", base(),
                    kde({.space = kBox, .bandwidth = h, .method = KdeMethod::panels}));
  expect_told_apart("kde.detail", base(), kde({.space = kBox, .bandwidth = h, .detail = 0.1}));
  expect_told_apart("kde.method", base(),
                    kde({.space = kBox, .bandwidth = h, .method = KdeMethod::blocks}));
  EXPECT_FALSE(options_of(kde({.space = kBox})) ==
               options_of(kde({.space = kBox, .bandwidth = Bandwidth::spread()})));
  EXPECT_NE(options_of(kde({.space = kBox})),
            options_of(kde({.space = kBox, .bandwidth = Bandwidth::local()})));
  expect_told_apart("kde.buffer", base(), kde({.space = kBox, .bandwidth = h}, 51));
  expect_told_apart("reservoir.seed", base(), kde({.space = kBox, .bandwidth = h}, 50, 2));
  const KdeOptions panels = {.space = kBox, .bandwidth = h, .method = KdeMethod::panels};
  expect_told_apart("kde.buffer", kde(panels, EndlessBuffer::kSample),
                    KernelDensity(panels, std::make_unique<EndlessBuffer>(2, 1)));
  const auto published = [&](double bandwidth) {
    return compat::PublishedDensity(std::make_unique<KernelDensity>(
        KdeOptions{.space = kBox, .bandwidth = Bandwidth::absolute(bandwidth)}, buffer()));
  };
  expect_told_apart("kde.bandwidths", published(0.1), published(0.2));
  EXPECT_FALSE(options_of(published(0.1)) == options_of(base()));
}

TEST(StateOptions, OfQualityDensities) {
  const auto quality = [](double weight, double h = 0.1, std::uint64_t seed = 1) {
    return QualityDensity(
        {.weight = weight, .seed = seed},
        std::make_unique<KernelDensity>(
            KdeOptions{.space = kBox, .bandwidth = Bandwidth::absolute(h)}, buffer(50, 1)));
  };
  expect_told_apart("quality.weight", quality(1), quality(2));
  expect_told_apart("kde.bandwidths", quality(1), quality(1, 0.2));
  expect_told_apart("reservoir.seed", quality(1), quality(1, 0.1, 2));
}

TEST(StateOptions, OfBuffers) {
  expect_told_apart("reservoir.capacity", *buffer(50), *buffer(60));
  expect_told_apart("reservoir.seed", *buffer(50, 1), *buffer(50, 2));
  expect_told_apart("reservoir.feature_dim", *buffer(),
                    Reservoir({.feature_dim = 3, .capacity = 50, .seed = 1}));
  expect_told_apart("reservoir.seed", EndlessBuffer(2, 1), EndlessBuffer(2, 2));
  using compat::PublishedBuffer;
  const PublishedBuffer base({.feature_dim = 2, .capacity = 50, .seed = 1});
  expect_told_apart("published_buffer.feature_dim", base,
                    PublishedBuffer({.feature_dim = 1, .capacity = 50, .seed = 1}));
  expect_told_apart("published_buffer.capacity", base,
                    PublishedBuffer({.feature_dim = 2, .capacity = 51, .seed = 1}));
  expect_told_apart("published_buffer.seed", base,
                    PublishedBuffer({.feature_dim = 2, .capacity = 50, .seed = 2}));
}

TEST(StateOptions, OfFlows) {
  FlowOptions base;
  base.space = kBox;
  base.network.layers = {4, 4};
  const auto apart = [&](const std::string& field, auto&& change, const FlowOptions& from) {
    FlowOptions other = from;
    change(other);
    expect_told_apart(field, FlowDensity(from, buffer()), FlowDensity(other, buffer()));
  };
  apart(
      "feature_space.upper", [](auto& o) { o.space = kWider; }, base);
  apart(
      "flow.scaling", [](auto& o) { o.scaling = FeatureScaling::buffer; }, base);
  apart(
      "flow.layers",
      [](auto& o) {
        o.network.layers = {4, 5};
      },
      base);
  apart(
      "flow.layers",
      [](auto& o) {
        o.network.layers = {4, 4, 4};
      },
      base);
  apart(
      "flow.activation", [](auto& o) { o.network.activation = Activation::silu; }, base);
  apart(
      "flow.frequencies", [](auto& o) { o.network.frequencies = 2; }, base);
  apart(
      "flow.training_steps", [](auto& o) { o.training.steps = 19; }, base);
  apart(
      "flow.training_batch", [](auto& o) { o.training.batch = 128; }, base);
  apart(
      "flow.learning_rate", [](auto& o) { o.training.rate = 2e-3; }, base);
  apart(
      "flow.smoothing", [](auto& o) { o.training.smoothing = 0.1; }, base);
  apart(
      "flow.integrator", [](auto& o) { o.integration.integrator = Integrator::dopri5; }, base);
  apart(
      "flow.integration_steps", [](auto& o) { o.integration.steps = 9; }, base);
  apart(
      "flow.seed", [](auto& o) { o.seed = 2; }, base);
  FlowOptions adaptive = base;
  adaptive.integration.integrator = Integrator::dopri5;
  apart(
      "flow.relative_error", [](auto& o) { o.integration.relative_error = 0.1; }, adaptive);
  apart(
      "flow.absolute_error", [](auto& o) { o.integration.absolute_error = 0.1; }, adaptive);
  expect_told_apart("flow.buffer", FlowDensity(base, buffer()), FlowDensity(base, buffer(60)));
  EXPECT_FALSE(options_of(FlowDensity(base, buffer())) ==
               options_of(compat::PublishedFlow(base, buffer())));
}

TEST(StateOptions, OfOtherDensities) {
  const NoveltyOptions novelty = {.space = kBox, .neighbours = 5, .threshold = 0.1};
  const auto apart = [&](const std::string& field, auto&& change) {
    NoveltyOptions other = novelty;
    change(other);
    expect_told_apart(field, NoveltyDensity(novelty), NoveltyDensity(other));
  };
  apart("feature_space.lower", [](auto& o) { o.space = kShifted; });
  apart("novelty.neighbours", [](auto& o) { o.neighbours = 6; });
  apart("novelty.threshold", [](auto& o) { o.threshold = 0.2; });
  apart("novelty.count_batch", [](auto& o) { o.count_batch = true; });
  EXPECT_FALSE(options_of(NoveltyDensity(novelty)) ==
               options_of(compat::PublishedNovelty(novelty)));

  const auto grid = std::make_shared<Grid>(kBox, std::vector<Index>{4, 6});
  const auto turned = std::make_shared<Grid>(kBox, std::vector<Index>{6, 4});
  const AnnealedThresholds base({.learning_rate = 0.1, .minimum = 0}, grid);
  expect_told_apart("annealed.learning_rate", base,
                    AnnealedThresholds({.learning_rate = 0.2, .minimum = 0}, grid));
  expect_told_apart("annealed.minimum", base,
                    AnnealedThresholds({.learning_rate = 0.1, .minimum = -1}, grid));
  expect_told_apart("annealed.tessellation_fingerprint", base,
                    AnnealedThresholds({.learning_rate = 0.1, .minimum = 0}, turned));
  expect_told_apart("improvement.tessellation_fingerprint", Improvement(grid), Improvement(turned));
}

TEST(StateOptions, OfDiscountModels) {
  const auto grid = std::make_shared<Grid>(kBox, std::vector<Index>{4, 6});
  const auto turned = std::make_shared<Grid>(kBox, std::vector<Index>{6, 4});
  DiscountModelOptions base;
  base.network.layers = {4, 4};
  const auto apart = [&](const std::string& field, auto&& change) {
    DiscountModelOptions other = base;
    change(other);
    expect_told_apart(field, DiscountModel(base, grid), DiscountModel(other, grid));
  };
  apart("discount.learning_rate", [](auto& o) { o.learning_rate = 0.2; });
  apart("discount.minimum", [](auto& o) { o.minimum = -1; });
  apart("discount.range", [](auto& o) { o.range = 2; });
  apart("discount.layers", [](auto& o) { o.network.layers = {4, 5}; });
  apart("discount.activation", [](auto& o) { o.network.activation = Activation::silu; });
  apart("discount.epochs", [](auto& o) { o.training.epochs = 6; });
  apart("discount.enough", [](auto& o) { o.training.enough = 0.1; });
  apart("discount.batch", [](auto& o) { o.training.batch = 64; });
  apart("discount.training_rate", [](auto& o) { o.training.rate = 2e-3; });
  apart("discount.empty", [](auto& o) { o.training.empty = 50; });
  apart("discount.initial", [](auto& o) { o.training.initial = 500; });
  apart("discount.seed", [](auto& o) { o.seed = 2; });
  expect_told_apart("discount.tessellation_fingerprint", DiscountModel(base, grid),
                    DiscountModel(base, turned));
}

TEST(StateOptions, OfEvolutionStrategies) {
  const CmaEsOptions base = {.dimension = 3, .batch = 6, .sigma0 = 0.5};
  const auto apart = [](const std::string& field, const CmaEsOptions& from, auto&& change) {
    CmaEsOptions other = from;
    change(other);
    expect_told_apart(field, CmaEs(from), CmaEs(other));
  };
  apart("es.dimension", base, [](auto& o) { o.dimension = 4; });
  apart("es.batch", base, [](auto& o) { o.batch = 8; });
  apart("es.sigma0", base, [](auto& o) { o.sigma0 = 0.4; });
  apart("es.mirrored", base, [](auto& o) { o.mirrored = true; });
  apart("cma.factor", base, [](auto& o) { o.factor = Factor::eigen; });
  apart("cma.decompose_every", base, [](auto& o) { o.decompose_every = 7; });
  apart("bounds.lower", base, [](auto& o) { o.bounds = {.lower = {0}, .upper = {1}}; });
  auto bounded = base;
  bounded.bounds = {.lower = {0}, .upper = {1}};
  apart("bounds.lower", bounded, [](auto& o) { o.bounds.lower = {-1}; });
  apart("bounds.upper", bounded, [](auto& o) { o.bounds.upper = {2}; });
  apart("bounds.resamples", bounded, [](auto& o) { o.bounds.resamples = 3; });
  apart("bounds.repair", bounded, [](auto& o) { o.bounds.repair = Repair::clip; });
  EXPECT_FALSE(options_of(CmaEs(base)) == options_of(compat::PublishedCmaEs(base)));

  const LinearStrategyOptions linear = {.dimension = 3, .batch = 6, .sigma0 = 0.5};
  const auto linear_apart = [&](const std::string& field, auto&& change) {
    LinearStrategyOptions other = linear;
    change(other);
    expect_told_apart(field, SeparableCmaEs(linear), SeparableCmaEs(other));
    expect_told_apart(field, LmMaEs(linear), LmMaEs(other));
  };
  linear_apart("es.dimension", [](auto& o) { o.dimension = 4; });
  linear_apart("es.batch", [](auto& o) { o.batch = 8; });
  linear_apart("es.sigma0", [](auto& o) { o.sigma0 = 0.4; });
  linear_apart("es.mirrored", [](auto& o) { o.mirrored = true; });
  linear_apart("bounds.lower", [](auto& o) { o.bounds = {.lower = {0}, .upper = {1}}; });
  expect_told_apart("es.strategy", SeparableCmaEs(linear), LmMaEs(linear));
  expect_told_apart("es.strategy", SeparableCmaEs(linear), CmaEs(base));
}

TEST(StateOptions, OfEmitters) {
  struct Changed {
    std::uint64_t seed = 1;
    std::uint32_t index = 0;
    StopTests stop = {};
    Selection selection = Selection::mu;
    double sigma0 = 0.5;
  };
  const auto emitter = [](const Changed& c) {
    return EvolutionStrategyEmitter(
        std::make_unique<CmaEs>(CmaEsOptions{.dimension = 3, .batch = 6, .sigma0 = c.sigma0}),
        c.seed, c.index, c.stop, c.selection);
  };
  const auto base = emitter({});
  expect_told_apart("emitter.seed", base, emitter({.seed = 2}));
  expect_told_apart("emitter.index", base, emitter({.index = 2}));
  expect_told_apart("emitter.stop_condition", base, emitter({.stop = {.condition = 1e9}}));
  expect_told_apart("emitter.stop_step_size", base, emitter({.stop = {.step_size = 1e-9}}));
  expect_told_apart("emitter.stop_largest", base, emitter({.stop = {.largest = 1e9}}));
  expect_told_apart("emitter.stop_flat", base, emitter({.stop = {.flat = 1e-9}}));
  expect_told_apart("emitter.selection", base, emitter({.selection = Selection::filter}));
  expect_told_apart("es.sigma0", base, emitter({.sigma0 = 0.4}));

  const IsoLineOptions options = {.dimension = 3, .batch = 6, .sigma_iso = 0.5, .sigma_line = 0.2};
  const auto apart = [&](const std::string& field, auto&& change) {
    IsoLineOptions other = options;
    change(other);
    expect_told_apart(field, IsoLineEmitter(options, 1, 0), IsoLineEmitter(other, 1, 0));
  };
  apart("iso_line.dimension", [](auto& o) { o.dimension = 4; });
  apart("iso_line.batch", [](auto& o) { o.batch = 8; });
  apart("iso_line.sigma_iso", [](auto& o) { o.sigma_iso = 0.4; });
  apart("iso_line.sigma_line", [](auto& o) { o.sigma_line = 0.0; });
  apart("bounds.lower", [](auto& o) { o.bounds = {.lower = {0}, .upper = {1}}; });
  expect_told_apart("emitter.seed", IsoLineEmitter(options, 1, 0), IsoLineEmitter(options, 2, 0));
  expect_told_apart("emitter.index", IsoLineEmitter(options, 1, 0), IsoLineEmitter(options, 1, 1));
}

TEST(StateOptions, OfRestarts) {
  expect_told_apart("trigger", BasicTrigger(), NoImprovementTrigger());
  const StagnationTrigger stagnation({.patience = 25, .patience_rate = 0.2});
  expect_told_apart("trigger", stagnation, BasicTrigger());
  expect_told_apart("stagnation.patience", stagnation,
                    StagnationTrigger({.patience = 26, .patience_rate = 0.2}));
  expect_told_apart("stagnation.patience_rate", stagnation,
                    StagnationTrigger({.patience = 25, .patience_rate = 0.3}));
  expect_told_apart("restart_at.origin", RestartAtOrigin({0, 0}), RestartAtOrigin({0, 1}));
  expect_told_apart("restart_at.average_of", RestartAtAverage(3), RestartAtAverage(4));
  expect_told_apart("restart_at.compared", RestartAtSparsest(3), RestartAtSparsest(4));
  expect_told_apart("restart_at.compared", RestartAtRarest(3), RestartAtRarest(4));
  expect_told_apart("restart_at", RestartAtRarest(3), RestartAtSparsest(3));
  expect_told_apart("restart_at", RestartAtElite(), RestartAtOrigin({0}));
  expect_told_apart("common_shape.rate", CommonShape(0.5, 4), CommonShape(0.25, 4));
  const AdaptiveRestartOptions options = {.emitters = 2, .average_of = 18};
  const auto apart = [&](const std::string& field, auto&& change) {
    AdaptiveRestartOptions other = options;
    change(other);
    expect_told_apart(field, AdaptiveRestart(options), AdaptiveRestart(other));
  };
  apart("restart_at.emitters", [](auto& o) { o.emitters = 3; });
  apart("restart_at.average_of", [](auto& o) { o.average_of = 3; });
  apart("restart_at.compared", [](auto& o) { o.compared = 3; });
  apart("restart_at.decay", [](auto& o) { o.decay = 0.7; });
  apart("restart_at.least", [](auto& o) { o.least = 0.1; });
}

// The same at the level of a search, which asks all of its parts before anything has changed.
class StateOptionsOfSearches : public ::testing::Test {
 protected:
  using Change = void (*)(SearchParts&, SearchOptions&);

  static std::unique_ptr<Search> make(Change change) {
    auto parts = every::parts("dds-kde");
    SearchOptions options = {.seed = 1, .threads = 1};
    change(parts, options);
    return std::make_unique<Search>(std::move(parts), std::move(options));
  }
  static void step(Search& search) {
    Batch features;
    std::vector<double> objectives;
    every::evaluate(search.ask(), features, objectives);
    search.tell(features, objectives);
  }
  static std::vector<std::byte> state_of(const Search& search) {
    StateWriter out;
    search.save(out);
    return out.bytes();
  }
  static void expect_refused(const std::string& field, Change change) {
    const auto original = make([](SearchParts&, SearchOptions&) {});
    for (int i = 0; i < 5; ++i) step(*original);
    const auto saved = state_of(*original);
    const auto other = make(change);
    for (int i = 0; i < 3; ++i) step(*other);
    const auto before = state_of(*other);
    StateReader in(saved);
    try {
      other->load(in);
      ADD_FAILURE() << field << ": nothing was refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_NE(std::string(error.what()).find("'" + field + "'"), std::string::npos)
          << field << ": " << error.what();
    }
    EXPECT_TRUE(state_of(*other) == before) << field << ": something has changed";
    step(*other);
  }
};

TEST_F(StateOptionsOfSearches, AreThoseOfTheSearchAndOfAllItsParts) {
  expect_refused("search.seed", [](SearchParts&, SearchOptions& o) { o.seed = 2; });
  expect_refused("search.score_before_observing",
                 [](SearchParts&, SearchOptions& o) { o.score_before_observing = false; });
  expect_refused("search.nan_means_failed",
                 [](SearchParts&, SearchOptions& o) { o.nan_means_failed = true; });
  expect_refused("search.outside",
                 [](SearchParts&, SearchOptions& o) { o.outside = Outside::clamp; });
  expect_refused("search.initial_solutions", [](SearchParts&, SearchOptions& o) {
    o.initial_solutions = Batch(1, every::kDimension);
  });
  expect_refused("search.first_rows", [](SearchParts& p, SearchOptions&) {
    p.emitters.pop_back();
    p.triggers.pop_back();
  });
  expect_refused("search.density", [](SearchParts& p, SearchOptions&) {
    p.density = every::density("ns", nullptr);  // which has no cells
  });
  // A box of twice the size.
  expect_refused("feature_space.lower", [](SearchParts& p, SearchOptions&) {
    p.archive = std::make_unique<Archive>(
        std::make_shared<Grid>(FeatureSpace{{-2, -2}, {2, 2}}, std::vector<Index>{10, 10}),
        every::kDimension);
  });
  expect_refused("kde.kernel", [](SearchParts& p, SearchOptions&) {
    p.density = std::make_unique<KernelDensity>(
        KdeOptions{.space = every::space(), .kernel = Kernel::epanechnikov},
        std::make_unique<Reservoir>(
            ReservoirOptions{.feature_dim = 2, .capacity = 100, .seed = 1}));
  });
  expect_refused("es.sigma0", [](SearchParts& p, SearchOptions&) {
    p.emitters[2] = std::make_unique<EvolutionStrategyEmitter>(
        std::make_unique<CmaEs>(
            CmaEsOptions{.dimension = every::kDimension, .batch = every::kRows, .sigma0 = 0.4}),
        1, 2);
  });
  expect_refused("stagnation.patience", [](SearchParts& p, SearchOptions&) {
    p.triggers[1] =
        std::make_unique<StagnationTrigger>(StagnationOptions{.patience = 7, .patience_rate = 0.1});
  });
  expect_refused("restart_at", [](SearchParts& p, SearchOptions&) {
    p.restart_point = std::make_unique<RestartAtRarest>(8);
  });
}

}  // namespace
}  // namespace rarefy
