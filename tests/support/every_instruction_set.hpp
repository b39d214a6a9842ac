// Runs a test with each instruction set that this processor has, and leaves things as they were.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rarefy/core/instruction_set.hpp"
#include "support/sanitized.hpp"

inline std::vector<rarefy::InstructionSet> available_instruction_sets() {
  std::vector<rarefy::InstructionSet> sets;
  for (int i = 0; i <= static_cast<int>(rarefy::best_instruction_set()); ++i) {
    sets.push_back(static_cast<rarefy::InstructionSet>(i));
  }
  return sets;
}

/// For parts that are made of kernels: all of them, but under the sanitizers, where time is short,
/// the best alone. The kernels' own tests run on each.
inline std::vector<rarefy::InstructionSet> instruction_sets_for_parts() {
  auto sets = available_instruction_sets();
  if (kSanitized) sets.erase(sets.begin(), sets.end() - 1);
  return sets;
}

/// Pins a set for as long as it lives.
class PinnedInstructionSet {
 public:
  explicit PinnedInstructionSet(rarefy::InstructionSet set) : before_(rarefy::instruction_set()) {
    rarefy::pin_instruction_set(set);
  }
  ~PinnedInstructionSet() { rarefy::pin_instruction_set(before_); }
  PinnedInstructionSet(const PinnedInstructionSet&) = delete;
  PinnedInstructionSet& operator=(const PinnedInstructionSet&) = delete;

 private:
  rarefy::InstructionSet before_;
};

/// A fixture for TEST_P: the test's body runs with its instruction set pinned.
class WithInstructionSet : public testing::TestWithParam<rarefy::InstructionSet> {
 private:
  PinnedInstructionSet pinned_{GetParam()};
};

inline std::string instruction_set_of_test(
    const testing::TestParamInfo<rarefy::InstructionSet>& info) {
  return std::string(rarefy::name_of(info.param));
}
