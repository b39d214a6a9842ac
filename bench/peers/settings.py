"""What the comparisons with pyribs have in common: sizes, and the parameters of each algorithm on each domain."""

EMITTERS = 15
BATCH = 36
SOLUTION_DIM = 100
GRID = 100
BUFFER = 10_000
FULL_BUFFER = -(-BUFFER // (EMITTERS * BATCH))  # iterations until it is

DOMAINS = ("lp", "arm", "multi-lp")
# By algorithm and domain; names as in `rarefy run --help`.
PARAMETERS = {
    "dds-kde": {"lp": {"sigma0": 1.5, "bandwidth": 25.6},
                "arm": {"sigma0": 0.5, "bandwidth": 10.0},
                "multi-lp": {"sigma0": 1.5, "bandwidth": 5.12}},
    "ns": {"lp": {"sigma0": 0.5, "novelty-threshold": 21.504, "neighbours": 100},
           "arm": {"sigma0": 0.5, "novelty-threshold": 8.4, "neighbours": 100},
           "multi-lp": {"sigma0": 0.5, "novelty-threshold": 2.1504, "neighbours": 100}},
    "cma-mae": {"lp": {"sigma0": 0.5, "alpha": 0.01, "threshold-min": 0.0},
                "arm": {"sigma0": 0.2, "alpha": 0.01, "threshold-min": 0.0},
                "multi-lp": {"sigma0": 0.5, "alpha": 0.01, "threshold-min": 0.0}},
    "cma-me": {"lp": {"sigma0": 0.5}, "arm": {"sigma0": 0.5}, "multi-lp": {"sigma0": 0.5}},
    "map-elites-line": {"lp": {"iso-sigma": 0.5, "line-sigma": 0.2},
                        "arm": {"iso-sigma": 0.1, "line-sigma": 0.2},
                        "multi-lp": {"iso-sigma": 0.5, "line-sigma": 0.2}},
}
# What pyribs' emitters do here, where the default profile has other defaults. The published
# profile does it by itself, but for where density descent restarts, which is its own.
LIKE_PYRIBS = {
    "dds-kde": {"mirrored": "false", "restart-when": "basic", "restart-at": "elite"},
    "ns": {},
    "cma-mae": {},
    "cma-me": {"selection": "mu", "restart-when": "basic"},
    "map-elites-line": {},
}
