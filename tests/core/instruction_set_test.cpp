#include "rarefy/core/instruction_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <string>

#include "rarefy/core/error.hpp"
#include "support/every_instruction_set.hpp"

using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::InstructionSet;
using testing::HasSubstr;

TEST(InstructionSet, IsFoundByTheNameItHas) {
  for (const auto set : available_instruction_sets()) {
    EXPECT_NE(rarefy::name_of(set), "unknown");
    EXPECT_EQ(rarefy::instruction_set_named(rarefy::name_of(set)), set);
  }
  EXPECT_EQ(rarefy::name_of(InstructionSet::baseline), "baseline");
#if defined(__x86_64__)
  // Also where this processor lacks them: a run folder from elsewhere may name them.
  EXPECT_EQ(rarefy::instruction_set_named("avx2"), InstructionSet::avx2);
  EXPECT_EQ(rarefy::instruction_set_named("avx512"), InstructionSet::avx512);
  EXPECT_EQ(rarefy::name_of(InstructionSet::avx2), "avx2");
  EXPECT_EQ(rarefy::name_of(InstructionSet::avx512), "avx512");
#endif
}

TEST(InstructionSet, NamedAutoIsTheBest) {
  EXPECT_EQ(rarefy::instruction_set_named("auto"), rarefy::best_instruction_set());
}

TEST(InstructionSet, NamedAutoIsTheBestEvenWhileAnotherIsPinned) {
  const PinnedInstructionSet pinned(InstructionSet::baseline);
  EXPECT_EQ(rarefy::instruction_set_named("auto"), rarefy::best_instruction_set());
}

TEST(InstructionSet, RefusesUnknownNamesAndListsTheKnown) {
  for (const char* name : {"", "AVX2", "avx", "avx2 ", "sse4", "unknown", "Auto"}) {
    try {
      (void)rarefy::instruction_set_named(name);
      ADD_FAILURE() << "'" << name << "' was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::parameter);
      EXPECT_THAT(error.what(), HasSubstr("'" + std::string(name) + "'"));
      EXPECT_THAT(error.what(), HasSubstr("auto, baseline"));
    }
  }
}

TEST(InstructionSet, IsPinnedDownAndBack) {
  const auto best = rarefy::best_instruction_set();
  EXPECT_EQ(rarefy::instruction_set(), best);
  for (const auto set : available_instruction_sets()) {
    rarefy::pin_instruction_set(set);
    EXPECT_EQ(rarefy::instruction_set(), set);
    EXPECT_EQ(rarefy::best_instruction_set(), best);
  }
  rarefy::pin_instruction_set(InstructionSet::baseline);
  EXPECT_EQ(rarefy::instruction_set(), InstructionSet::baseline);
  rarefy::pin_instruction_set(best);
  EXPECT_EQ(rarefy::instruction_set(), best);
}

#if defined(__x86_64__)
TEST(InstructionSet, PinnedIsTheNewestThatKernelsMayUse) {
  const auto all = hwy::SupportedTargets();
  for (const auto set : available_instruction_sets()) {
    const PinnedInstructionSet pinned(set);
    const auto left = hwy::SupportedTargets();
    EXPECT_EQ((left & HWY_AVX2) != 0, set >= InstructionSet::avx2);
    EXPECT_EQ((left & HWY_AVX3) != 0, set >= InstructionSet::avx512);
    EXPECT_NE(left & HWY_SSE4, 0);
    // Newer targets have lower bits.
    if (set < InstructionSet::avx512) {
      EXPECT_EQ(left & (HWY_AVX3 - 1), 0);
    }
  }
  EXPECT_EQ(hwy::SupportedTargets(), all);
}
#endif

TEST(InstructionSet, RefusesToPinWhatTheProcessorLacks) {
  const auto before = rarefy::instruction_set();
  // One past the best: a set that this processor lacks, or that no processor has.
  const auto missing =
      static_cast<InstructionSet>(static_cast<int>(rarefy::best_instruction_set()) + 1);
  try {
    rarefy::pin_instruction_set(missing);
    ADD_FAILURE() << "pinned";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::parameter);
    EXPECT_THAT(
        error.what(),
        HasSubstr("best is " + std::string(rarefy::name_of(rarefy::best_instruction_set()))));
  }
  EXPECT_EQ(rarefy::instruction_set(), before);
}
