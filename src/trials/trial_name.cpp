#include "trials/trial_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "rarefy/core/fingerprint.hpp"

namespace rarefy {
namespace {

// Only what is at home in the name of a folder, and not too much of it.
std::string as_folder_name(std::string text) {
  constexpr std::size_t kLong = 100;
  constexpr std::string_view kHarmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.=";
  Fingerprint all;
  for (const char c : text) all.add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  bool harmful = false;
  for (char& c : text) {
    if (c == ' ' || c == ',') c = '_';
    if (kHarmless.find(c) != std::string_view::npos) continue;
    c = '_';
    harmful = true;
  }
  if (text.empty() || text.front() == '.') text.insert(0, "_");
  // Two names must not become one.
  if (harmful || text.size() > kLong) {
    text = fmt::format("{}-{:08x}", text.substr(0, kLong), all.value() & 0xffffffffU);
  }
  return text;
}

}  // namespace

std::string trial_name(const Config& config, std::span<const TrialNamePart> parts) {
  auto algorithm = config.algorithm;
  for (const auto& [name, value] : parts) algorithm += fmt::format("-{}-{}", name, value);
  return fmt::format("{}/{}/{}/seed-{}", name_of(config.profile),
                     as_folder_name(std::move(algorithm)), as_folder_name(config.domain),
                     config.seed);
}

}  // namespace rarefy
