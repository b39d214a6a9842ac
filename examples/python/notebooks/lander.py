# %% [markdown]
# # A problem of one's own: landings on the moon
#
# All that a search needs is a function from solutions (a matrix, one row each) to features (a row for each solution), and the
# box in which you want the features to lie. This one is a simulator in a few lines of numpy. A solution has 12 numbers, thrust and
# tilt of six phases of flight. The features are where the lander comes down, and how fast.

# %%
import numpy as np

import rarefy

# %% from lander.py: land

# %% [markdown]
# Solutions are plain real numbers. A search begins at 0 with steps of about 1.5, so the simulator scales them to something
# sensible by itself.

# %%
search = rarefy.DensityDescent(
    solution_dim=12,
    feature_box=[(-400, 400), (0, 60)],
    feature_names=["landing place (m)", "impact speed (m/s)"],
    title="Landings on the moon",
    seed=1,
)
search.run(land, iterations=300)
ax = rarefy.plot.heatmap(search)

# %% [markdown]
# Nearly every place at nearly every speed. What is hard is to touch down gently. Here are the softest landings by place, as a
# table. (Features outside the box belong to the cell that is nearest, so the archive has some of those as well.)

# %%
landings = search.archive.to_pandas()
landings = landings[landings["landing place (m)"].abs() <= 400].copy()
landings["place"] = 100 * (landings["landing place (m)"] / 100).round().astype(int)
landings.groupby("place")["impact speed (m/s)"].min().round(2).to_frame("least speed (m/s)").T

# %% [markdown]
# The search can go on from where it is. It counts iterations in all:

# %%
before = search.coverage
search.run(land, iterations=600)
print(f"coverage after 300 iterations: {before:.1%}, after 600: {search.coverage:.1%}")

# %% [markdown]
# The density that is descended, as the search sees it now. Candidates that end up where it is low come
# first:

# %%
ax = rarefy.plot.density(search)
