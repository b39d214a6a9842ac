// Another mathematical library, to be loaded before the system's: what it returns is off by one
// unit in the last place. Whatever a run makes of it shows in its bytes.
#include <dlfcn.h>

#include <bit>
#include <cstdint>

namespace {

double off(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t exponent = bits >> 52 & 0x7FF;
  return exponent == 0 || exponent == 0x7FF ? x : std::bit_cast<double>(bits + (1U << 20));
}
float off(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t exponent = bits >> 23 & 0xFF;
  return exponent == 0 || exponent == 0xFF ? x : std::bit_cast<float>(bits + 16);
}

// The system's own function of that name.
template <typename Function>
Function* systems(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

template <typename Real>
Real of(const char* name, Real x) {
  return off(systems<Real(Real)>(name)(x));
}
template <typename Real>
Real of(const char* name, Real x, Real y) {
  return off(systems<Real(Real, Real)>(name)(x, y));
}

}  // namespace

extern "C" {
double exp(double x) noexcept { return of("exp", x); }
double exp2(double x) noexcept { return of("exp2", x); }
double expm1(double x) noexcept { return of("expm1", x); }
double log(double x) noexcept { return of("log", x); }
double log2(double x) noexcept { return of("log2", x); }
double log10(double x) noexcept { return of("log10", x); }
double log1p(double x) noexcept { return of("log1p", x); }
double pow(double x, double y) noexcept { return of("pow", x, y); }
double cbrt(double x) noexcept { return of("cbrt", x); }
double hypot(double x, double y) noexcept { return of("hypot", x, y); }
double sin(double x) noexcept { return of("sin", x); }
double cos(double x) noexcept { return of("cos", x); }
double tan(double x) noexcept { return of("tan", x); }
double atan2(double y, double x) noexcept { return of("atan2", y, x); }
double tanh(double x) noexcept { return of("tanh", x); }
double lgamma(double x) noexcept { return of("lgamma", x); }
double tgamma(double x) noexcept { return of("tgamma", x); }
double erf(double x) noexcept { return of("erf", x); }
void sincos(double x, double* sine, double* cosine) noexcept {
  *sine = of("sin", x);
  *cosine = of("cos", x);
}
float expf(float x) noexcept { return of("expf", x); }
float exp2f(float x) noexcept { return of("exp2f", x); }
float logf(float x) noexcept { return of("logf", x); }
float powf(float x, float y) noexcept { return of("powf", x, y); }
float sinf(float x) noexcept { return of("sinf", x); }
float cosf(float x) noexcept { return of("cosf", x); }
float tanhf(float x) noexcept { return of("tanhf", x); }
}
