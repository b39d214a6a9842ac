// Save, load, and what a load refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "density/flow_cases.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/density/flow.hpp"

namespace {

using flow_cases::normal_batch;
using flow_cases::reservoir;
using flow_cases::scores_of;
using flow_cases::small_flow;
using rarefy::Batch;
using rarefy::FeatureScaling;
using rarefy::FlowDensity;
using rarefy::FlowOptions;
using rarefy::StateReader;
using rarefy::StateWriter;

using Bytes = std::vector<std::byte>;

Bytes saved(const FlowDensity& flow) {
  StateWriter out;
  flow.save(out);
  return out.bytes();
}

void load(FlowDensity& flow, const Bytes& bytes) {
  StateReader in(bytes);
  flow.load(in);
  EXPECT_TRUE(in.at_end());
}

/// The fields of a saved flow, to be tampered with. What the buffer wrote stays as it is.
struct Fields {
  std::int64_t fits, rollbacks;
  double rate, loss;
  std::int64_t adam_steps;
  std::vector<float> network, first, second;
  Bytes buffer;

  explicit Fields(const FlowDensity& flow) {
    const auto bytes = saved(flow);
    StateReader in(bytes);
    fits = in.integer("flow.fits");
    rollbacks = in.integer("flow.rollbacks");
    rate = in.real("flow.rate");
    loss = in.real("flow.loss");
    adam_steps = in.integer("flow.adam_steps");
    network = first = second = std::vector<float>(flow.parameters().size());
    in.finite_floats("flow.network", network);
    in.finite_floats("flow.first_moments", first);
    in.finite_floats("flow.second_moments", second);
    buffer.assign(bytes.begin() + static_cast<std::ptrdiff_t>(written().size()), bytes.end());
    EXPECT_EQ(this->bytes(), bytes);
  }

  [[nodiscard]] Bytes bytes() const {
    Bytes all = written();
    all.insert(all.end(), buffer.begin(), buffer.end());
    return all;
  }

 private:
  [[nodiscard]] Bytes written() const {
    StateWriter out;
    out.integer("flow.fits", fits);
    out.integer("flow.rollbacks", rollbacks);
    out.real("flow.rate", rate);
    out.real("flow.loss", loss);
    out.integer("flow.adam_steps", adam_steps);
    out.floats("flow.network", network);
    out.floats("flow.first_moments", first);
    out.floats("flow.second_moments", second);
    return out.bytes();
  }
};

std::unique_ptr<FlowDensity> fresh(const FlowOptions& options) {
  return std::make_unique<FlowDensity>(options, reservoir(2, 100));
}

/// One that has come some way: its buffer is full and has been replaced in part.
std::unique_ptr<FlowDensity> halfway(const FlowOptions& options) {
  auto flow = fresh(options);
  for (std::uint64_t step = 0; step < 5; ++step) {
    flow->observe({normal_batch(40, 2, 161 + step, 0.5)});
  }
  return flow;
}

void go_on(FlowDensity& flow) {
  for (std::uint64_t step = 0; step < 3; ++step) {
    flow.observe({normal_batch(40, 2, 171 + step, 0.4)});
  }
}

template <typename Tamper>
void expect_corrupt(Tamper tamper, const std::string& message) {
  static const auto flow = halfway(small_flow());
  Fields fields(*flow);
  tamper(fields);
  const auto bytes = fields.bytes();
  const auto copy = fresh(small_flow());
  StateReader in(bytes);
  try {
    copy->load(in);
    ADD_FAILURE() << "no Error, expected: " << message;
  } catch (const rarefy::Error& error) {
    EXPECT_EQ(error.kind(), rarefy::ErrorKind::corrupt);
    EXPECT_THAT(error.what(), testing::HasSubstr(message));
  }
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST(FlowState, ALoadedOneScoresAndGoesOnLikeTheOneThatWasSaved) {
  const Batch queries = normal_batch(40, 2, 181);
  for (const auto scaling :
       {FeatureScaling::bounds, FeatureScaling::buffer, FeatureScaling::none}) {
    FlowOptions options = small_flow();
    options.scaling = scaling;
    const auto flow = halfway(options);
    const auto copy = fresh(options);
    copy->observe({normal_batch(70, 2, 182, 3.0)});  // must all be forgotten
    load(*copy, saved(*flow));
    EXPECT_EQ(saved(*copy), saved(*flow));
    EXPECT_EQ(copy->parameters(), flow->parameters());
    EXPECT_EQ(copy->loss(), flow->loss());
    EXPECT_EQ(scores_of(*copy, queries), scores_of(*flow, queries)) << rarefy::name_of(scaling);
    go_on(*flow);
    go_on(*copy);
    EXPECT_EQ(copy->parameters(), flow->parameters()) << rarefy::name_of(scaling);
    EXPECT_EQ(scores_of(*copy, queries), scores_of(*flow, queries)) << rarefy::name_of(scaling);
    EXPECT_EQ(saved(*copy), saved(*flow)) << rarefy::name_of(scaling);
  }
}

TEST(FlowState, OneThatHasSeenNothingIsLoadedAsSuch) {
  for (const auto scaling : {FeatureScaling::bounds, FeatureScaling::buffer}) {
    FlowOptions options = small_flow();
    options.scaling = scaling;
    const auto flow = fresh(options);
    const auto copy = halfway(options);
    load(*copy, saved(*flow));
    EXPECT_FALSE(copy->informed());
    EXPECT_EQ(scores_of(*copy, normal_batch(5, 2, 183)), std::vector<double>(5, 0.0));
    go_on(*flow);
    go_on(*copy);
    EXPECT_EQ(saved(*copy), saved(*flow)) << rarefy::name_of(scaling);
  }
}

// Were a field left out of the state, the test above would not see it if it did not matter.
TEST(FlowState, EveryFieldMattersToWhatComesLater) {
  const auto flow = halfway(small_flow());
  const auto after = [](const Fields& fields) {
    const auto copy = fresh(small_flow());
    load(*copy, fields.bytes());
    go_on(*copy);
    return copy->parameters();
  };
  const Fields right(*flow);
  const auto expected = after(right);
  Fields fields = right;
  fields.fits += 1;  // names the random numbers
  EXPECT_NE(after(fields), expected);
  fields = right;
  fields.rate *= 0.5;
  EXPECT_NE(after(fields), expected);
  fields = right;
  fields.adam_steps = 0;
  EXPECT_NE(after(fields), expected);
  for (const auto member : {&Fields::network, &Fields::first, &Fields::second}) {
    fields = right;
    (fields.*member)[100] *= 1.5F;
    EXPECT_NE(after(fields), expected);
    fields = right;
    (fields.*member).back() *= 1.5F;
    EXPECT_NE(after(fields), expected);
    // As if forgotten.
    fields = right;
    std::fill((fields.*member).begin(), (fields.*member).end(), 0.0F);
    EXPECT_NE(after(fields), expected);
  }
  EXPECT_EQ(after(right), expected);
}

// It learns once an iteration, however that is cut into parts.
TEST(FlowState, AnIterationInPartsIsLearnedAsOne) {
  const auto part = [](FlowDensity& flow, std::uint64_t seed) {
    const auto rows = normal_batch(10, 2, seed, 0.5);
    flow.observe({.features = rows, .rows_of_an_iteration = 30});
  };
  const auto flow = fresh(small_flow());
  part(*flow, 1);  // at once, so that it knows anything at all
  const auto first = flow->parameters();
  EXPECT_TRUE(flow->informed());
  part(*flow, 2);
  part(*flow, 3);
  EXPECT_EQ(flow->parameters(), first) << "20 rows of 30";
  const auto copy = fresh(small_flow());
  load(*copy, saved(*flow));
  part(*flow, 4);
  EXPECT_NE(flow->parameters(), first);
  part(*copy, 4);
  EXPECT_EQ(copy->parameters(), flow->parameters());
}

TEST(FlowState, RemembersTrouble) {
  const auto flow = halfway(small_flow());
  Fields fields(*flow);
  fields.rollbacks = 2;
  fields.rate = small_flow().training.rate / 4.0;
  const auto copy = fresh(small_flow());
  load(*copy, fields.bytes());
  EXPECT_EQ(copy->rollbacks(), 2);
  EXPECT_EQ(copy->rate(), small_flow().training.rate / 4.0);
  EXPECT_NE(copy->warning(), "");
}

TEST(FlowState, RefusesWhatIsNoNumber) {
  for (const float value : {kNan, kInfinity, -kInfinity}) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{77}}) {
      expect_corrupt([=](Fields& f) { f.network[place] = value; }, "'flow.network': value");
      expect_corrupt([=](Fields& f) { f.first[place] = value; }, "'flow.first_moments': value");
      expect_corrupt([=](Fields& f) { f.second[place] = value; }, "'flow.second_moments': value");
    }
    expect_corrupt([=](Fields& f) { f.rate = value; }, "'flow.rate'");
    expect_corrupt([=](Fields& f) { f.loss = value; }, "'flow.loss'");
  }
}

TEST(FlowState, RefusesNumbersThatCannotBe) {
  expect_corrupt([](Fields& f) { f.second[5] = -1e-30F; }, "second moment");
  expect_corrupt([](Fields& f) { f.second.back() = -1.0F; }, "second moment");
  expect_corrupt([](Fields& f) { f.rate *= 1.0001; }, "learning rate");
  expect_corrupt([](Fields& f) { f.rate = -1e-4; }, "learning rate");
  expect_corrupt([](Fields& f) { f.fits = -1; }, "'flow.fits'");
  expect_corrupt([](Fields& f) { f.fits = std::numeric_limits<std::int64_t>::max(); },
                 "'flow.fits'");
  expect_corrupt([](Fields& f) { f.rollbacks = -1; }, "'flow.rollbacks'");
  expect_corrupt([](Fields& f) { f.rollbacks = f.fits + 1; }, "'flow.rollbacks'");
  expect_corrupt([](Fields& f) { f.adam_steps = -1; }, "'flow.adam_steps'");
  expect_corrupt([](Fields& f) { f.adam_steps = std::numeric_limits<std::int64_t>::max(); },
                 "'flow.adam_steps'");
}

TEST(FlowState, RefusesOtherSizes) {
  for (const auto member : {&Fields::network, &Fields::first, &Fields::second}) {
    expect_corrupt([=](Fields& f) { (f.*member).pop_back(); }, "values, expected");
    expect_corrupt([=](Fields& f) { (f.*member).push_back(0.0F); }, "values, expected");
    expect_corrupt([=](Fields& f) { (f.*member).clear(); }, "values, expected");
  }
  expect_corrupt([](Fields& f) { f.buffer.clear(); }, "saved state");
  // Of another network altogether.
  const auto bytes = saved(*halfway(small_flow()));
  FlowOptions other = small_flow();
  other.network.layers = {21, 19};
  StateReader in(bytes);
  EXPECT_THROW(fresh(other)->load(in), rarefy::Error);
}

TEST(FlowState, CutAnywhereIsRefused) {
  FlowOptions options = small_flow();
  options.network.layers = {2};
  const Bytes all = saved(*halfway(options));
  const auto copy = fresh(options);
  for (std::size_t size = 0; size < all.size(); size += size < 600 ? 1 : 37) {
    // A copy of just that size, so that an address sanitizer sees a read beyond it.
    const Bytes cut(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
    StateReader in(cut);
    EXPECT_THROW(copy->load(in), rarefy::Error) << size;
  }
  load(*copy, all);  // and it is none the worse for it
  EXPECT_EQ(saved(*copy), all);
}
