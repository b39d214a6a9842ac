"""Ten lines on the planar arm: which places can its hand reach, and how?

The arm has joints that bend as far as they like, and links of length 1. Its features are where the
hand is. Nothing outside a circle can be reached, so about 80 % of the cells are all there are.
"""

import argparse

import rarefy

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--iterations", type=int, default=300)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--out", default="arm.png", help="the picture")
options = parser.parse_args()

arm = rarefy.Domain("arm", n=20)
search = rarefy.DensityDescent(arm, seed=options.seed)
search.run(arm, iterations=options.iterations)
print(search)
there = search.archive.nearest([5, -12])
print("the hand is at", there.features.round(2), "with joints bent by", there.solution.round(2))
rarefy.plot.heatmap(search).figure.savefig(options.out)
