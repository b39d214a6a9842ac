# %% [markdown]
# # Ten lines on the arm
#
# A planar arm has 20 joints that bend as far as they like, and links of length 1. Which places can its hand reach, and how
# does it get there? The places are the *features*; the angles of the joints are the *solution*. The search is told nothing but
# where the hand ended up.

# %%
import rarefy

arm = rarefy.Domain("arm", n=20)
search = rarefy.DensityDescent(arm, seed=1, metrics_every=10)
result = search.run(arm, iterations=300)
search

# %% [markdown]
# Every coloured cell has a solution. Nothing outside the circle can be reached, so about 80 % of the cells are all there are.
#
# The archive is a set of arrays, a table, and a place to look things up:

# %%
search.archive.to_pandas().iloc[:5, :8].round(2)

# %%
there = search.archive.nearest([5, -12])
there.features

# %% [markdown]
# Some of the arms that were found:

# %%
import numpy as np

ax = rarefy.plot.heatmap(search, cmap="Greys", colorbar=False, title="Six of the arms")
for place in [(5, -12), (-15, 3), (0, 10), (12, 12), (-7, -7), (2, 1)]:
    directions = np.cumsum(search.archive.nearest(place).solution)
    x, y = np.cumsum(np.cos(directions)), np.cumsum(np.sin(directions))
    ax.plot([0, *x], [0, *y], linewidth=2, marker="o", markersize=3)

# %% [markdown]
# How the coverage grew:

# %%
ax = rarefy.plot.curves(result)
