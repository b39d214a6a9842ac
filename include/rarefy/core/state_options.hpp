// The options that make a part of a search what it is, in a saved state.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "rarefy/core/state.hpp"

namespace rarefy {

/// Given a writer, it writes options down; given a reader, it compares them with those that were
/// written, and throws an Error (data) that has both where they are not the same. So a part says
/// once what matters, in its identify(), and a state that was made with other options is refused:
/// it could be read without complaint, and would go on to something that neither search would
/// have come to.
class StateOptions {
 public:
  explicit StateOptions(StateWriter& out) : out_(&out) {}
  explicit StateOptions(StateReader& in) : in_(&in) {}

  void integer(std::string_view name, std::int64_t value) {
    out_ != nullptr ? out_->integer(name, value) : in_->expect_integer(name, value);
  }
  void integers(std::string_view name, std::span<const std::int64_t> values) {
    out_ != nullptr ? out_->integers(name, values) : in_->expect_integers(name, values);
  }
  void real(std::string_view name, double value) {
    out_ != nullptr ? out_->real(name, value) : in_->expect_real(name, value);
  }
  void reals(std::string_view name, std::span<const double> values) {
    out_ != nullptr ? out_->reals(name, values) : in_->expect_reals(name, values);
  }
  void text(std::string_view name, std::string_view value) {
    out_ != nullptr ? out_->text(name, value) : in_->expect_text(name, value);
  }
  void flag(std::string_view name, bool value) { text(name, value ? "yes" : "no"); }
  /// A seed or a fingerprint.
  void word(std::string_view name, std::uint64_t value) {
    integer(name, static_cast<std::int64_t>(value));
  }

 private:
  StateWriter* out_ = nullptr;
  StateReader* in_ = nullptr;
};

}  // namespace rarefy
