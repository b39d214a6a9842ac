"""Gaits of gymnasium's HalfCheetah (MuJoCo): how often each foot is on the ground, and how far it gets.

A solution is a linear policy: from 17 observations to 6 torques. Features are the shares of time in
which the back and the front foot touch the ground, the objective is the return: speed forwards, less
what the torques cost. Other processes evaluate. `pip install rarefy[mujoco]` brings what it needs.
"""

import argparse

import numpy as np

import rarefy

try:
    import gymnasium
    import mujoco
except ImportError:
    raise SystemExit("this example needs gymnasium and MuJoCo: pip install rarefy[mujoco]") from None

OBSERVATIONS = 17
TORQUES = 6
STEPS = 200  # 10 seconds

made = {}


def cheetah():
    """One for each process. It always begins in the same way."""
    if "cheetah" not in made:
        mujoco.set_mju_user_warning(lambda text: None)  # gymnasium's model has an old attribute
        made["cheetah"] = gymnasium.make("HalfCheetah-v5", max_episode_steps=STEPS, reset_noise_scale=0.0)
        mujoco.set_mju_user_warning(None)
    return made["cheetah"]


def steps(solution):
    """Which feet touch the ground, and the reward, for every step of one policy."""
    environment = cheetah()
    model, data = environment.unwrapped.model, environment.unwrapped.data
    feet = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name) for name in ("bfoot", "ffoot")]
    policy = solution.reshape(TORQUES, OBSERVATIONS)
    observation, _ = environment.reset()
    over = False
    while not over:
        observation, reward, _, over, _ = environment.step(np.tanh(policy @ observation))
        # In this model, there is nothing but the ground to touch.
        yield [foot in data.contact.geom for foot in feet], reward


def gait(solution):
    contacts, rewards = zip(*steps(solution), strict=True)
    return np.mean(contacts, axis=0), sum(rewards)


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
    parser.add_argument("--iterations", type=int, default=80, help="of 100 gaits each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, help="processes; by default one for each core")
    parser.add_argument("--out", default="half_cheetah.png", help="the picture")
    options = parser.parse_args()

    search = make_search(options.seed)
    search.run(gait, options.iterations, rowwise=True, executor="processes", workers=options.workers)
    archive = search.archive
    back, front = archive.best().features
    print(f"{len(archive)} different gaits out of {search.evaluations:,}, QD score {archive.qd_score:,.0f}")
    print(f"the best return is {archive.best().objective:.0f}, with the back foot down for {back:.0%} of the time")
    print(f"and the front foot for {front:.0%}")
    rarefy.plot.heatmap(search).figure.savefig(options.out)


if __name__ == "__main__":  # the processes import this file
    main()
