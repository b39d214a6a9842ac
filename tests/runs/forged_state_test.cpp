// States that could be read, but not counted on from.
#include <cmath>
#include <cstring>
#include <limits>

#include "rarefy/core/error.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/runs/summary.hpp"
#include "rarefy/storage/checkpoint.hpp"
#include "runs/least_state.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"

namespace {

using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::RunFolder;

// Where the value of a field of one number begins.
std::size_t value_of(const std::vector<std::byte>& state, const std::string& name) {
  const auto* const begin = reinterpret_cast<const char*>(state.data());
  const auto field = static_cast<char>(name.size()) + name;
  const auto* const at = std::search(begin, begin + state.size(), field.begin(), field.end());
  EXPECT_NE(at, begin + state.size()) << name;
  return static_cast<std::size_t>(at - begin) + field.size() + 1 + sizeof(std::uint64_t);
}

template <typename Value>
void put(std::vector<std::byte>& state, const std::string& name, Value value) {
  std::memcpy(state.data() + value_of(state, name), &value, sizeof value);
}

struct ForgedState : testing::Test {
  TemporaryFolder place;
  rarefy::Config config = small_config();
  std::filesystem::path folder = place.path() / "run";

  void begin() const {
    const auto run = rarefy::Run::start(config, RunFolder::create(folder, false), 1);
    run->go();
  }
  template <typename Value>
  void forge(const std::string& name, Value value) const {
    auto state = rarefy::read_checkpoint(folder / "checkpoint.bin");
    put(state, name, value);
    rarefy::write_checkpoint(folder / "checkpoint.bin", state);
  }
  std::string refusal() const {
    try {
      (void)rarefy::Run::resume(RunFolder::open(folder), 1);
      return "none";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::corrupt);
      return error.what();
    }
  }
};

TEST_F(ForgedState, SecondsMustBePossible) {
  begin();
  for (const double seconds : {-1.0, 1e13, 1e300}) {
    forge("state.seconds", seconds);
    EXPECT_NE(refusal().find("seconds: got"), std::string::npos) << refusal();
  }
  forge("state.seconds", 1.0);
  for (const double seconds : {-1.0, 1e13, std::numeric_limits<double>::infinity()}) {
    forge("state.processor_seconds", seconds);
    EXPECT_NE(refusal().find("processor seconds: got"), std::string::npos) << refusal();
  }
  forge("state.processor_seconds", std::nan(""));  // not known
  EXPECT_EQ(refusal(), "none");
  // So little time that the rate is beyond any integer.
  forge("state.seconds", 1e-300);
  const auto run = rarefy::Run::resume(RunFolder::open(folder), 1);
  EXPECT_NE(summary_of(*run).find("1,000,000,000,000,000,000 solutions/s"), std::string::npos)
      << summary_of(*run);
}

TEST(ForgedSearch, EvaluationsMustBeCountable) {
  auto config = small_config();
  config.emitters.count = 5;
  config.emitters.batch = 1'000'000;
  config.problem.n = 2;
  const auto domain = rarefy::make_domain(config);
  const auto search = rarefy::make_search(config, domain->info(), 1);
  auto state = state_of(*search);
  put(state, "search.generations", std::int64_t{1} << 40);  // times 5,000,000
  try {
    rarefy::StateReader in(state);
    search->load(in);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'search.generations': got 1099511627776"),
              std::string::npos)
        << error.what();
  }
}

TEST(ForgedSearch, CandidatesMustBeThereForAllEmittersThatWait) {
  const auto config = small_config();
  const auto search = rarefy::make_search(config, rarefy::make_domain(config)->info(), 1);
  auto state = state_of(*search);
  put(state, "search.asked", std::int64_t{1});
  try {
    rarefy::StateReader in(state);
    search->load(in);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "saved state: values of candidates under way: got 0, expected 48");
  }
}

// The least size must never be more than a state really has.
TEST(LeastState, IsNoMoreThanAnyStateHas) {
  for (const auto& algorithm : rarefy::algorithms()) {
    for (const auto profile : {rarefy::Profile::standard, rarefy::Profile::published}) {
      for (const auto strategy :
           {rarefy::Strategy::cma_es, rarefy::Strategy::sep_cma_es, rarefy::Strategy::lm_ma_es}) {
        for (const auto* domain_name : {"lp", "multi-lp"}) {
          auto config = rarefy::default_config(domain_name, algorithm.name, profile);
          config.problem.n = 30;
          config.emitters.count = 2;
          config.emitters.batch = 8;
          config.density.buffer = 500;
          config.archive.intervals = 30;
          config.archive.cvt.cells = 50;
          config.archive.cvt.samples = 200;
          config.density.flow.network.layers = config.density.discount.network.layers = {20, 30};
          if (profile == rarefy::Profile::standard) config.emitters.strategy = strategy;
          SCOPED_TRACE(std::string(algorithm.name) + " on " + domain_name);
          const auto domain = rarefy::make_domain(config);
          const auto search = rarefy::make_search(config, domain->info(), 1);
          const auto cells = search->archive().tessellation().cells();
          const auto size = static_cast<double>(state_of(*search).size());
          const double least = rarefy::least_state_bytes(config, domain->info(), cells);
          EXPECT_LE(least, size);
          EXPECT_GE(least, 0.05 * size) << "near enough to be of use";
        }
      }
    }
  }
}

}  // namespace
