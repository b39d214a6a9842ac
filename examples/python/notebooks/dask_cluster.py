# %% [markdown]
# # Evaluations on a Dask cluster
#
# Any `concurrent.futures.Executor` evaluates, and [Dask](https://distributed.dask.org)'s client has one. Here it is a cluster of two workers on this
# machine; elsewhere it has as many as you have. The function travels to every worker once, then solutions go out in pieces.

# %%
import numpy as np
from dask.distributed import Client, LocalCluster

import rarefy

# %% from dask_cluster.py: throw, search_with

# %%
with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
    there = search_with(client.get_executor(), iterations=50, seed=1)
ax = rarefy.plot.heatmap(there)

# %% [markdown]
# Who evaluates what makes no difference to the result: without Dask, the search finds the same to the last bit.

# %%
here = search_with(None, iterations=50, seed=1)
np.array_equal(here.archive.solutions, there.archive.solutions)
