// Parameters of the densities that are descended, but for networks.
#include "experiment/parameter_groups/parameter_groups.hpp"

namespace rarefy {

using std::vector;

vector<ParameterBuilder> density_parameters() {
  const auto in = [](auto... members) { return at(&Config::density, members...); };
  const auto kde = [&](auto member) { return in(&DensityOptions::kde, member); };
  const auto novelty = [&](auto member) { return in(&DensityOptions::novelty, member); };
  return {
      integer_or("unlimited", "buffer", in(&DensityOptions::buffer),
                 "features kept for the estimate; unlimited: all")
          .range(0, kMany)
          .when(density_is({&kKernelDensity, &kQualityDensity, &kFlowDensity, &kMixtureDensity})),
      choice(
          "outside", in(&DensityOptions::outside),
          "features outside the box: as-is; clamp, as if on its border; last, clamped and ranked "
          "after all inside")
          .when(has_density()),
      choice("kernel", kde(&KdeOptions::kernel), "shape of the kernel")
          .when(density_is({&kKernelDensity, &kQualityDensity})),
      parsed(
          "bandwidth", kde(&KdeOptions::bandwidth), Bandwidth::parse, &Bandwidth::text,
          "width of the kernel: auto or scott, by the box; spread or likelihood, by the buffer; "
          "local, auto times a factor for each feature by the density around it; a number, or one "
          "followed by 'width'")
          .or_number()
          .when(density_is({&kKernelDensity, &kQualityDensity})),
      number("detail", kde(&KdeOptions::detail),
             "weight in scores of gaps narrower than the kernel (up to 2 features); 0: none")
          .range(0, 1e6)
          .when(density_is({&kKernelDensity, &kQualityDensity})),
      flag("log-scores", kde(&KdeOptions::log_scores),
           "rank by logarithms of the density; false: by the density itself, which is 0 far out")
          .when(density_is({&kKernelDensity})),
      choice(
          "kde", kde(&KdeOptions::method),
          "direct: a term for each buffered feature; panels: tables (up to 2 features); blocks: "
          "terms of blocks near enough to matter; sampled: terms of features chosen by what they "
          "are worth; auto: the fastest")
          .when(density_is({&kKernelDensity, &kQualityDensity})),
      number("quality-weight", in(&DensityOptions::quality, &QualityOptions::weight),
             "density, in nats, that an objective better by one deviation makes up for (dds-qd)")
          .range(0, 1e6)
          .when(density_is({&kQualityDensity})),
      integer("neighbours", novelty(&NoveltyOptions::neighbours),
              "nearest neighbours whose mean distance is a candidate's novelty (ns)")
          .range(1, 1e6)
          .when(density_is({&kNovelty})),
      parsed("novelty-threshold", novelty(&NoveltyOptions::threshold), FeatureLength::parse,
             &FeatureLength::text,
             "novelty from which a candidate is kept: a number, or a number followed by 'width' "
             "(ns)")
          .or_number()
          .when(density_is({&kNovelty})),
      flag("count-batch", novelty(&NoveltyOptions::count_batch),
           "whether members of the same batch count as neighbours (ns)")
          .when(density_is({&kNovelty})),
      number("alpha", in(&DensityOptions::alpha),
             "rate at which a threshold follows what it accepts (cma-mae, dms)")
          .range(0, 1)
          .when(density_is({&kThresholds, &kDiscountModel})),
      number_or("auto", "threshold-min", in(&DensityOptions::threshold_min),
                "threshold where nothing was accepted; auto: the least objective of the domain "
                "(cma-mae, dms)")
          .range(-kAny, kAny)
          .when(density_is({&kThresholds, &kDiscountModel})),
  };
}

vector<ParameterBuilder> mixture_parameters() {
  const auto in = [](auto member) {
    return at(&Config::density, &DensityOptions::mixture, member);
  };
  const auto mixture = density_is({&kMixtureDensity});
  return {
      integer("mixture-components", in(&MixtureOptions::components),
              "Gaussians that the density is made of (dds-gmm)")
          .range(1, 1e4)
          .when(mixture),
      integer("mixture-batch", in(&MixtureOptions::batch),
              "buffered features that they learn from in an iteration (dds-gmm)")
          .range(1, 1e6)
          .when(mixture),
      number("mixture-rate", in(&MixtureOptions::rate),
             "what an iteration counts for against all before, in the long run (dds-gmm)")
          .above(0, 0.99)
          .when(mixture),
      number("mixture-smoothing", in(&MixtureOptions::smoothing),
             "least deviation of a Gaussian, in widths of the box (dds-gmm)")
          .above(0, 10)
          .when(mixture),
      number("mixture-background", in(&MixtureOptions::background),
             "weight of a further Gaussian as broad as the box (dds-gmm)")
          .above(0, 0.99)
          .when(mixture),
  };
}

}  // namespace rarefy
