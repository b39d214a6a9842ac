"""A problem of one's own: landings on the moon, all over the place and at every speed.

The simulator below is all that the search knows of the problem. It takes a batch of solutions as a
matrix, one row each, and returns a row of features for each of them. The run is kept in a folder:
call the script again after Ctrl-C, and it goes on where it was.
"""

import argparse
from pathlib import Path

import numpy as np

import rarefy


def land(controls):
    """Where landers come down, and how fast. Controls are thrust and tilt of six phases of 5 seconds."""
    step, phase, gravity, most_thrust = 0.1, 5.0, 1.62, 5.0
    count = len(controls)
    x, height, vx, vy = np.zeros(count), np.full(count, 150.0), np.zeros(count), np.zeros(count)
    for time in np.arange(0, 600, step):
        flying = height > 0
        if not flying.any():
            break
        now = 2 * int(time / phase)
        thrust, tilt = 0.0, 0.0  # after the last phase it falls
        if now < controls.shape[1]:
            thrust = most_thrust * np.clip(0.5 + controls[:, now], 0, 1)
            tilt = controls[:, now + 1]
        vx += flying * step * thrust * np.sin(tilt)
        vy += flying * step * (thrust * np.cos(tilt) - gravity)
        x += flying * step * vx
        height += flying * step * vy
    return np.stack([x, np.hypot(vx, vy)], axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="lander", help="the folder of the run")
    options = parser.parse_args()

    if rarefy.holds_run(options.out):
        result = rarefy.resume(options.out, land, options.iterations)
    else:
        search = rarefy.DensityDescent(
            solution_dim=12,
            feature_box=[(-400, 400), (0, 60)],
            feature_names=["landing place (m)", "impact speed (m/s)"],
            name="lander",
            title="Landings on the moon",
            seed=options.seed,
        )
        result = search.run(land, options.iterations, folder=options.out)

    archive = result.archive
    softest = archive[archive.features[:, 1].argmin()]
    print(f"{len(archive):,} different landings, {100 * archive.coverage:.1f} % of the cells")
    print(f"the softest: {softest.features[1]:.2f} m/s at {softest.features[0]:.0f} m")
    picture = Path(options.out, "heatmap.png")
    rarefy.plot.heatmap(result).figure.savefig(picture)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main()
