"""Gaits of gymnasium's HalfCheetah (MuJoCo): how often each foot is on the ground, and how far it gets.

A solution is a linear policy: from 17 observations to 6 torques. Features are the shares of time in
which the back and the front foot touch the ground, the objective is the return: distance, less what
the torques cost. Other processes evaluate. `pip install rarefy[mujoco]` brings what it needs.
"""

import argparse
from functools import cache

import numpy as np

import rarefy

try:
    import gymnasium
    import mujoco
except ImportError:
    raise SystemExit("this example needs gymnasium and MuJoCo: pip install rarefy[mujoco]")

STEPS = 200  # 10 seconds
OBSERVATIONS, TORQUES = 17, 6


@cache
def cheetah():
    """One for each process."""
    return gymnasium.make("HalfCheetah-v5", max_episode_steps=STEPS, reset_noise_scale=0.0)


def gait(solution):
    """Contacts of both feet and the return of one policy. The cheetah always begins in the same way."""
    environment = cheetah()
    model, data = environment.unwrapped.model, environment.unwrapped.data
    feet = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name) for name in ("bfoot", "ffoot")]
    policy = solution.reshape(TORQUES, OBSERVATIONS)
    observation, _ = environment.reset(seed=0)
    contacts, total, over = np.zeros(2), 0.0, False
    while not over:
        observation, reward, fell, late, _ = environment.step(np.tanh(policy @ observation))
        contacts += [foot in data.contact.geom for foot in feet]
        total += reward
        over = fell or late
    return contacts / STEPS, total


def make_search(seed=1):
    return rarefy.CmaMae(
        solution_dim=TORQUES * OBSERVATIONS,
        feature_box=[(0, 1), (0, 1)],
        feature_names=["back foot on the ground", "front foot on the ground"],
        objective_range=(-1000, None),
        title="Gaits of a half cheetah",
        emitters=5,
        batch=20,
        grid=25,
        sigma0=0.05,
        seed=seed,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=100, help="of 100 gaits each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, help="processes; by default one for each core")
    parser.add_argument("--out", default="half_cheetah.png", help="the picture")
    options = parser.parse_args()

    search = make_search(options.seed)
    search.run(gait, options.iterations, rowwise=True, executor="processes", workers=options.workers)
    best = search.archive.best()
    print(f"{len(search.archive)} different gaits out of {search.evaluations:,}, QD score {search.archive.qd_score:,.0f}")
    print(f"the best return is {best.objective:.0f}, with the back foot down for {best.features[0]:.0%} of the time "
          f"and the front foot for {best.features[1]:.0%}")  # fmt: skip
    rarefy.plot.heatmap(search).figure.savefig(options.out)


if __name__ == "__main__":  # the processes import this file
    main()
