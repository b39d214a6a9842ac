# %% [markdown]
# # Quality diversity: different, and good at it
#
# An arm should reach every place, each with joints that bend as evenly as they can. Every cell of the archive keeps the best
# solution found for it. The function returns features and objectives; greater is better, and `objective_range` says
# what there can be.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rarefy

# %% from objective.py: JOINTS, reach, compare

# %% [markdown]
# Density descent looks for new places only, and takes the objective as it comes. The others look for better solutions, too.
# The QD score adds up the objectives of all cells.

# %%
algorithms = [rarefy.DensityDescent, rarefy.CmaMae, rarefy.CmaMe, rarefy.MapElites]
searches = compare(algorithms, iterations=500, seed=1)
table = pd.DataFrame({name: search.metrics() for name, search in searches.items()}).T
table[["evaluations", "coverage", "qd_score", "mean_objective"]].round(3)

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 3.9), layout="constrained")
for ax, name in zip(axes, ["DensityDescent", "CmaMae"]):
    rarefy.plot.heatmap(searches[name], ax, vmin=0, vmax=1, title=name)

# %% [markdown]
# The same five places, reached by an elite of either. An arm that bends evenly is an arc of a circle:

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained", sharex=True, sharey=True)
for ax, name in zip(axes, ["DensityDescent", "CmaMae"]):
    for place in [(6, 5), (-4, 6), (-7, -2), (1, -5), (4, 0)]:
        directions = np.cumsum(searches[name].archive.nearest(place).solution)
        x, y = np.cumsum(np.cos(directions)), np.cumsum(np.sin(directions))
        ax.plot([0, *x], [0, *y], marker="o", markersize=3)
    ax.set(title=name, aspect="equal")

# %% [markdown]
# In a notebook, an archive shows itself without any plotting library:

# %%
searches["CmaMae"].archive
