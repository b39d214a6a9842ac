"""Small runs of every algorithm on every domain, in all the ways that save a state of their own."""

_SMALL = ["--seed", "7", "--batch", "6", "--emitters", "3", "--metrics-every", "4"]
_CVT = ["--cells", "40", "--cvt-samples", "400", "--cvt-iterations", "5"]
_FLOW = ["--flow-layers", "8,8", "--flow-steps", "2", "--flow-batch", "16",
         "--flow-integration-steps", "3"]


def _lp(*more):
    return ["lp", "--n", "8", "--grid", "12", *more]


_ALL = {
    "kde-lp": _lp("--buffer", "60"),
    "kde-lp-published": _lp("--buffer", "60", "--profile", "published"),
    "kde-panels": _lp("--buffer", "200", "--kde", "panels"),
    "kde-endless": _lp("--buffer", "unlimited", "--kde", "panels"),
    "kde-endless-direct": _lp("--buffer", "unlimited", "--kde", "direct"),
    "kde-line": _lp("--m", "1", "--buffer", "60"),
    "kde-cvt": ["lp", "--n", "8", "--archive", "cvt", *_CVT, "--buffer", "60"],
    "kde-m3": ["lp", "--n", "9", "--m", "3", *_CVT, "--buffer", "60"],
    "kde-epanechnikov": _lp("--buffer", "60", "--kernel", "epanechnikov"),
    "kde-eigen": _lp("--buffer", "60", "--factor", "eigen"),
    "kde-sep": _lp("--buffer", "60", "--strategy", "sep-cma-es"),
    "kde-lm": _lp("--buffer", "60", "--strategy", "lm-ma-es"),
    "kde-bounds": _lp("--buffer", "60", "--bounds", "-3,3"),
    "kde-sparsest": _lp("--buffer", "60", "--restart-at", "sparsest", "--patience", "2"),
    "kde-average": _lp("--buffer", "60", "--restart-at", "average", "--patience", "2"),
    "kde-arm": ["arm", "--n", "6", "--grid", "12", "--buffer", "60"],
    "kde-arm-published": ["arm", "--n", "6", "--grid", "12", "--buffer", "60", "--profile",
                          "published"],
    "kde-multi": ["multi-lp", "--n", "20", *_CVT, "--buffer", "60"],
    "kde-maze": ["maze", "--grid", "12", "--buffer", "60"],
    "kde-blocks": ["lp", "--n", "9", "--m", "3", *_CVT, "--buffer", "60", "--kde", "blocks"],
    "kde-spread": _lp("--buffer", "60", "--bandwidth", "spread"),
    "gmm-lp": _lp("--algorithm", "dds-gmm", "--buffer", "60", "--mixture-components", "5"),
    "cnf-lp": _lp("--algorithm", "dds-cnf", "--buffer", "60", *_FLOW),
    "cnf-lp-published": _lp("--algorithm", "dds-cnf", "--profile", "published", "--buffer", "60",
                            "--flow-layers", "8", "--flow-steps", "2"),
    "cnf-maze": ["maze", "--grid", "12", "--algorithm", "dds-cnf", "--buffer", "60", *_FLOW],
    "qd-lp": _lp("--algorithm", "dds-qd", "--objective", "sphere", "--buffer", "60"),
    "ns-lp": _lp("--algorithm", "ns", "--neighbours", "5"),
    "ns-multi": ["multi-lp", "--n", "20", *_CVT, "--algorithm", "ns", "--neighbours", "5"],
    "ns-maze": ["maze", "--grid", "12", "--algorithm", "ns", "--neighbours", "5"],
    "cma-mae-lp": _lp("--algorithm", "cma-mae", "--objective", "sphere"),
    "cma-mae-multi": ["multi-lp", "--n", "20", *_CVT, "--algorithm", "cma-mae"],
    "dms-lp": _lp("--algorithm", "dms", "--objective", "sphere", "--discount-layers", "8,8",
                  "--discount-initial", "50"),
    "dms-multi": ["multi-lp", "--n", "20", *_CVT, "--algorithm", "dms", "--discount-layers", "8"],
    "cma-me-lp": _lp("--algorithm", "cma-me", "--objective", "rastrigin"),
    "cma-me-arm": ["arm", "--n", "6", "--grid", "12", "--algorithm", "cma-me", "--objective",
                   "even"],
    "map-elites-lp": _lp("--algorithm", "map-elites"),
    "map-elites-maze": ["maze", "--grid", "12", "--algorithm", "map-elites", "--objective",
                        "energy"],
    "map-elites-line-arm": ["arm", "--n", "6", "--grid", "12", "--algorithm", "map-elites-line"],
}
# Some of every kind, for a quick look.
FEW = ("kde-panels", "cnf-lp", "ns-multi", "cma-mae-lp", "map-elites-line-arm")


def names(quick=False):
    return list(FEW if quick else _ALL)


def words(name, iterations, *more):
    """What follows `rarefy run`."""
    return [*_ALL[name], *_SMALL, "--iterations", str(iterations), *more]
