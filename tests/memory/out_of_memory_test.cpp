// Memory may run out at any allocation: that ends in an exception, never in an abort or with a
// thread left behind, and what is on disk stays whole.
#include <fstream>
#include <iterator>

#include "memory/failing_memory.hpp"
#include "rarefy/pictures/heatmap.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/storage/checkpoint.hpp"
#include "rarefy/storage/npz.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

namespace fs = std::filesystem;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::Run;
using rarefy::RunFolder;

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

void nothing(const MemoryOutcome& /*outcome*/, long /*first*/) {}

TEST(OutOfMemory, ATeamThatCannotStartSendsItsThreadsHome) {
  const long before = threads_of_this_process();
  const long tried = sweep(
      Counted::all, 1000, [] { const rarefy::Workers workers(8); },
      [&](const MemoryOutcome& /*outcome*/, long first) {
        // A thread that was joined may take a moment to leave the list.
        for (int i = 0; i < 1000 && threads_of_this_process() > before; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        ASSERT_EQ(threads_of_this_process(), before) << "without allocation " << first;
      });
  EXPECT_GT(tried, 16);
}

rarefy::Config tiny_config(const std::string& algorithm) {
  auto config = rarefy::default_config("lp", algorithm);
  config.problem.n = 6;
  config.emitters.count = 3;
  config.emitters.batch = 8;
  config.density.buffer = 100;
  config.archive.intervals = 20;
  config.restarts.stagnation.patience = 2;
  config.density.flow.network.layers = {8, 8};
  config.density.flow.training = {.steps = 2, .batch = 16};
  config.density.flow.integration.steps = 3;
  config.emitters.cma_es.factor = rarefy::Factor::eigen;
  config.emitters.cma_es.decompose_every = 1;
  config.iterations = 6;
  config.output.metrics_every = 2;
  return config;
}

struct EveryAlgorithmOutOfMemory : testing::TestWithParam<std::string> {
  rarefy::Config config = tiny_config(GetParam());
  std::shared_ptr<const rarefy::Domain> domain = rarefy::make_domain(config);
  std::shared_ptr<rarefy::Workers> workers = std::make_shared<rarefy::Workers>(2);

  std::unique_ptr<rarefy::Search> make() const {
    return rarefy::make_search(config, domain->info(), workers);
  }
  void go_on(rarefy::Search& search) const {
    rarefy::ThreadsEvaluator evaluator(*domain, *workers);
    rarefy::drive(search, evaluator, config.iterations);
  }
};

TEST_P(EveryAlgorithmOutOfMemory, MakesASearchOrDoesNot) {
  sweep(
      Counted::all, 60, [&] { (void)make(); }, nothing);
}

TEST_P(EveryAlgorithmOutOfMemory, GoesOnToTheSameBitsOrHasNoState) {
  const auto undisturbed = make();
  go_on(*undisturbed);
  const auto expected = state_of(*undisturbed);
  std::unique_ptr<rarefy::Search> search = make();
  sweep(
      Counted::all, 60, [&] { go_on(*search); },
      [&](const MemoryOutcome& outcome, long first) {
        SCOPED_TRACE("without allocation " + std::to_string(first));
        try {
          const auto state = state_of(*search);
          const auto other = make();
          rarefy::StateReader in(state);
          other->load(in);
          go_on(*other);
          EXPECT_TRUE(state_of(*other) == expected);
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::state) << error.what();
          EXPECT_TRUE(outcome.failed);
        }
        search = make();
      });
}

TEST_P(EveryAlgorithmOutOfMemory, SavesAndLoadsOrDoesNot) {
  const auto search = make();
  go_on(*search);
  const auto state = state_of(*search);
  sweep(
      Counted::all, 60, [&] { (void)state_of(*search); }, nothing);
  EXPECT_TRUE(state_of(*search) == state) << "saving changes nothing";
  const auto other = make();
  const auto load = [&] {
    rarefy::StateReader in(state);
    other->load(in);
  };
  sweep(Counted::all, 60, load, nothing);
  load();
  EXPECT_TRUE(state_of(*other) == state) << "after a failed load another one may succeed";
}

INSTANTIATE_TEST_SUITE_P(All, EveryAlgorithmOutOfMemory,
                         testing::Values("dds-kde", "dds-cnf", "dds-qd", "ns", "cma-mae", "dms",
                                         "cma-me", "map-elites", "map-elites-line"),
                         [](const auto& each) {
                           auto name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

struct FilesOutOfMemory : testing::Test {
  TemporaryFolder place;
  std::vector<double> values = std::vector<double>(5000, 1.5);
  std::vector<rarefy::NamedArray> arrays = {{"first", values, {50, 100}},
                                            {"second", std::span(values).first(10), {10}}};
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(place.path()), fs::directory_iterator()));
  }
};

TEST_F(FilesOutOfMemory, AnArchiveIsWrittenWholeOrNotAtAll) {
  const auto file = place.path() / "arrays.npz";
  rarefy::write_npz(file, arrays);
  const auto expected = bytes_of(file);
  sweep(
      Counted::all, 1000, [&] { rarefy::write_npz(file, arrays); },
      [&](const MemoryOutcome& /*outcome*/, long first) {
        EXPECT_TRUE(bytes_of(file) == expected) << "without allocation " << first;
        EXPECT_EQ(files(), 1U) << "without allocation " << first;
      });
}

TEST_F(FilesOutOfMemory, AnArchiveIsReadWholeOrNotAtAllAndTheReasonIsNamed) {
  const auto file = place.path() / "arrays.npz";
  rarefy::write_npz(file, arrays);
  sweep(
      Counted::all, 1000,
      [&] {
        try {
          const auto read = rarefy::read_npz(file);
          if (read.size() != 2) throw std::runtime_error("an array is missing");
        } catch (const Error& error) {
          // The library may take it for a damaged file, but something must be said of it.
          const std::string_view text = error.what();
          if (text.find("No error") != text.npos) throw std::runtime_error(error.what());
        }
      },
      nothing);
}

TEST_F(FilesOutOfMemory, ACheckpointIsWrittenWholeOrNotAtAll) {
  const auto file = place.path() / "checkpoint.bin";
  const auto payload = std::as_bytes(std::span(values));
  rarefy::write_checkpoint(file, payload);
  const auto expected = bytes_of(file);
  sweep(
      Counted::all, 1000,
      [&] {
        rarefy::write_checkpoint(file, payload);
        (void)rarefy::read_checkpoint(file);
      },
      [&](const MemoryOutcome& /*outcome*/, long first) {
        EXPECT_TRUE(bytes_of(file) == expected) << "without allocation " << first;
        EXPECT_EQ(files(), 1U) << "without allocation " << first;
      });
}

TEST(OutOfMemory, APictureIsDrawnOrNot) {
  rarefy::pictures::Heatmap map;
  map.columns = map.rows = 10;
  map.values.assign(100, 1.0);
  map.values[3] = 2.0;
  map.title = "a picture";
  (void)rarefy::pictures::render_png(map);  // the fonts are found
  sweep(
      Counted::ours, 100, [&] { (void)rarefy::pictures::render_png(map); }, nothing);
}

struct RunOutOfMemory : testing::Test {
  TemporaryFolder place;
  rarefy::Config config = tiny_config("dds-kde");
  std::string expected;
  int number = 0;

  void SetUp() override {
    const auto run = Run::start(config, RunFolder::create(place.path() / "whole", false), 1);
    run->go();
    expected = bytes_of(run->folder().archive());
  }
  fs::path next() { return place.path() / std::to_string(++number); }
  void expect_to_go_on(const fs::path& folder) const {
    const auto run = Run::resume(RunFolder::open(folder), 1);
    run->go();
    EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);
  }
};

TEST_F(RunOutOfMemory, BeginsOrLeavesNothing) {
  fs::path folder = next();
  sweep(
      Counted::ours, 4, [&] { (void)Run::start(config, RunFolder::create(folder, false), 2); },
      [&](const MemoryOutcome& outcome, long first) {
        SCOPED_TRACE("without allocation " + std::to_string(first));
        if (fs::exists(folder / "config.toml")) {
          expect_to_go_on(folder);
        } else {
          EXPECT_TRUE(outcome.failed);
        }
        folder = next();
      });
}

TEST_F(RunOutOfMemory, GoesOnFromWhatItLeaves) {
  fs::path folder = next();
  std::unique_ptr<rarefy::Run> run = Run::start(config, RunFolder::create(folder, false), 2);
  sweep(
      Counted::ours, 4, [&] { run->go(); },
      [&](const MemoryOutcome& /*outcome*/, long first) {
        SCOPED_TRACE("without allocation " + std::to_string(first));
        run.reset();
        expect_to_go_on(folder);
        fs::remove_all(folder);
        folder = next();
        run = Run::start(config, RunFolder::create(folder, false), 2);
      });
}

TEST_F(RunOutOfMemory, IsTakenUpOrLeftAsItIs) {
  const auto folder = place.path() / "whole";
  const auto before = bytes_of(folder / "checkpoint.bin");
  sweep(
      Counted::large, 1000,
      [&] {
        const auto run = Run::resume(RunFolder::open(folder), 2);
        run->write_results();
      },
      [&](const MemoryOutcome& /*outcome*/, long first) {
        SCOPED_TRACE("without allocation " + std::to_string(first));
        EXPECT_TRUE(bytes_of(folder / "checkpoint.bin") == before);
      });
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == expected);
}

TEST_F(RunOutOfMemory, SaysSoWhenItCannotBeTakenUp) {
  const auto folder = place.path() / "whole";
  std::string text;
  text.reserve(1000);
  bool told = false;
  for (long first = 1; !told; ++first) {
    // The first failures may come before the checkpoint is read.
    ASSERT_LT(first, 100);
    auto again = RunFolder::peek(folder);
    (void)without_memory(first, false, Counted::large, [&] {
      try {
        (void)Run::resume(std::move(again), 1);
      } catch (const Error& error) {
        text = error.what();
        told = error.kind() == ErrorKind::io;
      }
    });
  }
  EXPECT_NE(text.find("checkpoint.bin: not enough memory to take up the run"), std::string::npos)
      << text;
}

TEST_F(RunOutOfMemory, SaysSoWhenItWasUnderWay) {
  class Hungry : public rarefy::Observer {
   public:
    rarefy::Next iteration_done(const rarefy::Search& search) override {
      if (search.iteration() == 3) throw std::bad_alloc();
      return rarefy::Next::go_on;
    }
  };
  const auto folder = next();
  {
    const auto run = Run::start(config, RunFolder::create(folder, false), 1);
    Hungry hungry;
    rarefy::Observer* const observers[] = {&hungry};
    try {
      run->go(observers);
      ADD_FAILURE() << "it went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      const std::string text = error.what();
      EXPECT_NE(text.find("memory ran out"), std::string::npos) << text;
      EXPECT_NE(text.find("after 3 iterations"), std::string::npos) << text;
    }
  }
  expect_to_go_on(folder);
}

}  // namespace
#endif
