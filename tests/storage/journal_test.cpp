#include "rarefy/storage/journal.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bit>
#include <csignal>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "rarefy/storage/checkpoint.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::Index;
using rarefy::Journal;
using rarefy::JournalOwner;
using rarefy::JournalRecord;

namespace {

struct Noted {
  std::int64_t iteration = 0;
  Index row = 0;
  std::uint64_t solution = 0;
  bool valid = true;
  double objective = 0;
  std::vector<double> features;

  bool operator==(const Noted&) const = default;
};

constexpr JournalOwner kOwner = {.run = 0x1234'5678'9abc'def0U, .feature_dim = 2};
constexpr std::size_t kHeader = 32;
constexpr std::size_t kRecord = 40 + 2 * sizeof(double);

Noted noted(std::int64_t iteration, Index row) {
  const auto value = static_cast<double>(iteration) + 0.001 * static_cast<double>(row);
  return {iteration,    row,    77U * static_cast<std::uint64_t>(row),
          row % 5 != 4, -value, {value, 1 / (1 + value)}};
}

class JournalFile : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const fs::path path_ = folder_.path() / "journal.bin";

  static void add(Journal& journal, const Noted& one) {
    journal.add({.iteration = one.iteration,
                 .row = one.row,
                 .solution = one.solution,
                 .valid = one.valid,
                 .objective = one.objective,
                 .features = one.features});
  }
  static rarefy::JournalVisitor into(std::vector<Noted>& out) {
    return [&out](const JournalRecord& record) {
      out.push_back({record.iteration,
                     record.row,
                     record.solution,
                     record.valid,
                     record.objective,
                     {record.features.begin(), record.features.end()}});
    };
  }
  [[nodiscard]] std::vector<Noted> read(JournalOwner owner = kOwner) const {
    std::vector<Noted> found;
    rarefy::read_journal(path_, owner, into(found));
    return found;
  }
  /// Opens it to go on, and closes it again.
  [[nodiscard]] std::vector<Noted> taken_up(std::int64_t from = 0) const {
    std::vector<Noted> found;
    const Journal journal(path_, kOwner, from, into(found));
    EXPECT_EQ(journal.size(), static_cast<std::int64_t>(found.size()));
    return found;
  }
  std::vector<Noted> write(std::int64_t iterations, Index rows) {
    Journal journal(path_, kOwner, 0, [](const JournalRecord&) {});
    std::vector<Noted> all;
    for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
      for (Index row = 0; row < rows; ++row) {
        all.push_back(noted(iteration, row));
        add(journal, all.back());
      }
      journal.write();
    }
    EXPECT_EQ(journal.size(), iterations * rows);
    return all;
  }
  [[nodiscard]] std::vector<std::byte> bytes() const { return rarefy::read_file(path_); }
  void put(std::span<const std::byte> bytes) const { rarefy::write_file_atomically(path_, bytes); }
};

std::vector<Noted> first(const std::vector<Noted>& all, std::size_t count) {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

TEST_F(JournalFile, ComesBack) {
  const auto all = write(3, 7);
  EXPECT_EQ(fs::file_size(path_), kHeader + 21 * kRecord);
  EXPECT_EQ(read(), all);
  EXPECT_EQ(taken_up(), all);
  EXPECT_EQ(read(), all) << "taking it up changes nothing";
}

TEST_F(JournalFile, NumbersComeBackToTheLastBit) {
  const double nan = std::bit_cast<double>(0x7ff8'0000'0000'1234U);
  Journal journal(path_, kOwner, 0, [](const JournalRecord&) {});
  const std::vector<double> odd = {nan, -0.0};
  journal.add({.iteration = std::numeric_limits<std::int64_t>::max(),
               .row = 4'294'967'295,
               .objective = std::numeric_limits<double>::denorm_min(),
               .features = odd});
  journal.write();
  const auto found = read();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].iteration, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(found[0].row, 4'294'967'295);
  EXPECT_EQ(std::memcmp(found[0].features.data(), odd.data(), 2 * sizeof(double)), 0);
  EXPECT_EQ(found[0].objective, std::numeric_limits<double>::denorm_min());
}

TEST_F(JournalFile, NothingIsThereBeforeItIsWritten) {
  Journal journal(path_, kOwner, 0, [](const JournalRecord&) {});
  add(journal, noted(0, 0));
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(journal.size(), 1);
  journal.write();
  EXPECT_EQ(read().size(), 1U);
  journal.write();
  journal.sync();
  EXPECT_EQ(read().size(), 1U) << "once";
}

TEST_F(JournalFile, AJournalThatIsNotThereIsEmpty) {
  EXPECT_TRUE(read().empty());
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(JournalFile, ATornTailIsCutWhereverItIsTorn) {
  const auto all = write(2, 3);
  const auto whole = bytes();
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    put(std::span(whole).first(length));
    const std::size_t records = length < kHeader ? 0 : (length - kHeader) / kRecord;
    ASSERT_EQ(read(), first(all, records)) << length;
    // What is added comes behind the last whole record.
    {
      Journal journal(path_, kOwner, 0, [](const JournalRecord&) {});
      ASSERT_EQ(journal.size(), static_cast<std::int64_t>(records)) << length;
      add(journal, noted(9, 9));
      journal.write();
    }
    auto expected = first(all, records);
    expected.push_back(noted(9, 9));
    ASSERT_EQ(read(), expected) << length;
  }
}

TEST_F(JournalFile, ATailOfZerosOrOfAnythingIsNotTrusted) {
  const auto all = write(1, 4);
  for (const auto filling : {std::byte{0}, std::byte{0xff}, std::byte{'R'}}) {
    for (const std::size_t length :
         {std::size_t{1}, kRecord, 3 * kRecord + 5, std::size_t{200'000}}) {
      auto longer = bytes();
      longer.resize(kHeader + 4 * kRecord);
      longer.insert(longer.end(), length, filling);
      put(longer);
      EXPECT_EQ(read(), all);
    }
  }
}

TEST_F(JournalFile, AChangedBitEndsWhatIsTrusted) {
  const auto all = write(1, 3);
  const auto whole = bytes();
  for (std::size_t at = 0; at < 8 * whole.size(); ++at) {
    auto changed = whole;
    changed[at / 8] ^= static_cast<std::byte>(1U << (at % 8));
    put(changed);
    const std::size_t good = at / 8 < kHeader ? 0 : (at / 8 - kHeader) / kRecord;
    ASSERT_EQ(read(), first(all, good)) << "bit " << at;
  }
}

TEST_F(JournalFile, ARecordCountsInItsOwnPlaceAlone) {
  write(1, 3);
  const auto whole = bytes();
  auto swapped = whole;
  std::swap_ranges(swapped.begin() + kHeader, swapped.begin() + kHeader + kRecord,
                   swapped.begin() + kHeader + kRecord);
  put(swapped);
  EXPECT_TRUE(read().empty());
  auto without_first = whole;
  without_first.erase(without_first.begin() + kHeader, without_first.begin() + kHeader + kRecord);
  put(without_first);
  EXPECT_TRUE(read().empty());
}

TEST_F(JournalFile, AnothersIsNotUsed) {
  const auto all = write(1, 3);
  EXPECT_TRUE(read({.run = kOwner.run + 1, .feature_dim = 2}).empty());
  EXPECT_TRUE(read({.run = kOwner.run, .feature_dim = 3}).empty());
  EXPECT_EQ(read(), all);
  std::vector<Noted> found;
  const JournalOwner other = {.run = 5, .feature_dim = 2};
  const Journal journal(path_, other, 0, into(found));
  EXPECT_TRUE(found.empty());
  EXPECT_TRUE(read().empty()) << "it is another's now";
}

TEST_F(JournalFile, OfALaterVersionIsRefusedAndLeftAlone) {
  write(1, 3);
  auto later = bytes();
  later[8] = std::byte{2};
  const auto sum = rarefy::checksum(std::span(later).first(24));
  std::memcpy(later.data() + 24, &sum, sizeof sum);
  put(later);
  for (const bool writes : {false, true}) {
    try {
      (void)(writes ? taken_up() : read());
      ADD_FAILURE() << "no Error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_NE(std::string(error.what()).find("a journal of version 2, expected version 1"),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(bytes(), later);
}

TEST_F(JournalFile, WhatIsNoJournalIsReplaced) {
  for (const std::string_view content :
       {"", "R", "RAREFYJL", "something else of that name, longer"}) {
    rarefy::write_file_atomically(path_, content);
    EXPECT_TRUE(read().empty());
    EXPECT_TRUE(taken_up().empty());
    EXPECT_EQ(fs::file_size(path_), kHeader);
  }
}

TEST_F(JournalFile, ALargeFileWithoutContentCostsNothing) {
  const auto all = write(1, 2);
  fs::resize_file(path_, std::uintmax_t{1} << 40);  // with a hole
  EXPECT_EQ(read(), all);
  EXPECT_EQ(taken_up(), all);
  EXPECT_EQ(fs::file_size(path_), kHeader + 2 * kRecord);
}

TEST_F(JournalFile, EarlierIterationsAreDropped) {
  Journal journal(path_, kOwner, 0, [](const JournalRecord&) {});
  for (std::int64_t iteration = 0; iteration < 4; ++iteration) {
    for (Index row = 0; row < 3; ++row) add(journal, noted(iteration, row));
  }
  journal.drop_before(0);
  EXPECT_EQ(journal.size(), 12);
  journal.drop_before(3);
  EXPECT_EQ(read(), (std::vector<Noted>{noted(3, 0), noted(3, 1), noted(3, 2)}));
  add(journal, noted(4, 0));
  journal.write();
  EXPECT_EQ(read().size(), 4U);
  journal.drop_before(5);
  EXPECT_EQ(journal.size(), 0);
  EXPECT_EQ(fs::file_size(path_), kHeader);
  add(journal, noted(5, 1));
  journal.write();
  EXPECT_EQ(read(), std::vector<Noted>{noted(5, 1)});
  journal.remove();
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(JournalFile, OnlyWhatIsNeededIsKept) {
  Journal journal(path_, kOwner, 0, [](const JournalRecord&) {});
  for (std::int64_t iteration = 0; iteration < 3; ++iteration) {
    for (Index row = 0; row < 2; ++row) add(journal, noted(iteration, row));
  }
  journal.keep_only([](const JournalRecord& record) { return record.row == 1; });
  EXPECT_EQ(read(), (std::vector<Noted>{noted(0, 1), noted(1, 1), noted(2, 1)}));
  add(journal, noted(3, 0));
  journal.write();
  EXPECT_EQ(read().size(), 4U) << "it goes on behind them";
  journal.keep_only([](const JournalRecord&) { return false; });
  EXPECT_EQ(journal.size(), 0);
}

TEST_F(JournalFile, TakenUpItLeavesOutWhatIsSaved) {
  write(3, 2);
  EXPECT_EQ(taken_up(2), (std::vector<Noted>{noted(2, 0), noted(2, 1)}));
  EXPECT_EQ(read().size(), 2U);
}

TEST_F(JournalFile, ManyRecords) {
  const auto all = write(50, 400);
  EXPECT_EQ(read(), all);
}

TEST_F(JournalFile, LinksAreNeverWrittenThrough) {
  const auto thesis = folder_.path() / "thesis.tex";
  for (const bool hard : {false, true}) {
    rarefy::write_file_atomically(thesis, "years of work");
    fs::remove(path_);
    if (hard) {
      fs::create_hard_link(thesis, path_);
    } else {
      fs::create_symlink(thesis, path_);
    }
    write(1, 2);
    EXPECT_EQ(fs::file_size(thesis), 13U);
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path_)));
    EXPECT_EQ(read().size(), 2U);
  }
  // Nor is a journal elsewhere, which a link leads to, taken for ours.
  fs::rename(path_, thesis);
  fs::create_symlink(thesis, path_);
  EXPECT_TRUE(read().empty());
}

TEST_F(JournalFile, AFolderInItsPlaceIsAnError) {
  fs::create_directory(path_);
  EXPECT_TRUE(read().empty());
  EXPECT_THROW((void)taken_up(), Error);
  EXPECT_TRUE(fs::is_directory(path_));
}

TEST_F(JournalFile, AWriteThatFailsLeavesWhatWasThere) {
  Journal journal(path_, kOwner, 0, [](const JournalRecord&) {});
  add(journal, noted(0, 0));
  journal.write();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit little = {.rlim_cur = kHeader + 2 * kRecord + 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  for (Index row = 1; row < 5; ++row) add(journal, noted(0, row));
  try {
    journal.write();
    ADD_FAILURE() << "no Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(std::string(error.what()), path_.string() + ": cannot write: File too large");
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)std::signal(SIGXFSZ, handler);
  EXPECT_EQ(fs::file_size(path_), kHeader + kRecord);
  EXPECT_EQ(read(), std::vector<Noted>{noted(0, 0)});
  add(journal, noted(0, 7));
  journal.write();
  EXPECT_EQ(read(), (std::vector<Noted>{noted(0, 0), noted(0, 7)}));
}

TEST_F(JournalFile, ARecordOfAnotherShapeIsRefused) {
  Journal journal(path_, kOwner, 0, [](const JournalRecord&) {});
  const std::vector<double> three(3);
  EXPECT_THROW(journal.add({.features = three}), Error);
  EXPECT_THROW(journal.add({.row = -1, .features = std::span(three).first(2)}), Error);
  EXPECT_THROW(journal.add({.row = Index{1} << 32U, .features = std::span(three).first(2)}), Error);
  EXPECT_EQ(journal.size(), 0);
}
