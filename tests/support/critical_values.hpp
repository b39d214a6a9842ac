// Critical values of the statistical tests besides that of Pearson (chi_square.hpp). Each has a
// false-alarm rate of one in a million for a seed drawn at random; as the seeds are fixed, so is
// the outcome.
#pragma once

/// A standard normal number leaves [-kNormalLimit, kNormalLimit] with probability 1e-6.
constexpr double kNormalLimit = 4.892;

/// sqrt(n) times the Kolmogorov-Smirnov distance exceeds this with probability 1e-6:
/// 2 exp(-2 x^2) = 1e-6.
constexpr double kKolmogorovLimit = 2.6936;
