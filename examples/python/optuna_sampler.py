"""An Optuna sampler that proposes what a search of rarefy asks for: many different trials, not one best.

The objective function tells the features of its trial: `trial.set_user_attr("features", [...])`. Its
value counts as well, as every cell of feature space keeps its best trial. Trials that fail, are pruned
or have no features count as failed.

What it cannot do: it has to know the parameters beforehand, and they have to be numbers (others are
drawn at random); it takes one objective, not several; it learns only when all candidates of a batch
are back, and what is not back when all are out is tried once more; processes that share a
storage have a search each; a study that is loaded again begins a new search, unless its
sampler was pickled.
"""

import argparse
import threading
from collections import deque

import numpy as np

import rarefy

try:
    import optuna
except ImportError:
    raise SystemExit("this example needs Optuna: pip install optuna") from None

RANGE = (-4, 4)  # of candidates, whatever that of the parameters: it suits the default steps of a search


class RarefySampler(optuna.samplers.BaseSampler):
    """Proposes the candidates of a search, one trial each."""

    def __init__(self, search_space, feature_box, algorithm=rarefy.DensityDescent, seed=1, **keywords):
        """`search_space` has a distribution for each parameter; `keywords` are the algorithm's."""
        self._space = dict(search_space)
        self.search = algorithm(
            len(self._space), feature_box, solution_range=RANGE, bounds="domain", nan_fails=True, seed=seed, **keywords
        )
        self._random = optuna.samplers.RandomSampler(seed=seed)
        self._lock = threading.Lock()
        self._given = {}  # iteration, row and parameters, by number of the trial
        self._begin_batch()

    def _begin_batch(self):
        self._candidates = self.search.ask()
        self._waiting = deque(range(len(self._candidates)))  # rows that are not back; the next one first
        self._features = np.full((len(self._candidates), self.search.feature_dim), np.nan)
        self._objectives = np.full(len(self._candidates), np.nan)

    def parameters(self, solution):
        """Those that a solution of the search stands for, such as an elite's."""
        pairs = zip(solution, self._space.items(), strict=True)
        return {name: scaled(number, distribution) for number, (name, distribution) in pairs}

    def infer_relative_search_space(self, study, trial):
        return self._space

    def sample_relative(self, study, trial, search_space):
        with self._lock:
            row = self._waiting[0]
            self._waiting.rotate(-1)
            parameters = self.parameters(self._candidates[row])
            self._given[trial.number] = self.search.iteration, row, parameters
        return parameters

    def sample_independent(self, study, trial, param_name, param_distribution):
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study, trial, state, values):
        with self._lock:
            iteration, row, parameters = self._given.pop(trial.number, (None, None, None))
            if iteration != self.search.iteration or row not in self._waiting:
                return  # not one of ours, or another trial with this candidate was faster
            count = self.search.feature_dim
            features = trial.user_attrs.get("features", [np.nan] * count)
            if np.shape(features) != (count,):
                raise ValueError(f"trial {trial.number}: got features {features}, expected {count} numbers")
            self._waiting.remove(row)
            # A trial with other parameters (enqueued with one of them, say) says nothing of the candidate.
            as_proposed = {name: trial.params.get(name) for name in parameters} == parameters
            if state == optuna.trial.TrialState.COMPLETE and as_proposed:
                self._features[row] = features
                maximize = study.direction == optuna.study.StudyDirection.MAXIMIZE
                self._objectives[row] = values[0] if maximize else -values[0]
            if not self._waiting:
                constant = self.search.problem.constant_objective
                self.search.tell(self._features, None if constant else self._objectives)
                self._begin_batch()

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.Lock())


def scaled(number, distribution):
    """A parameter's value, from a number of a candidate."""
    place = (float(number) - RANGE[0]) / (RANGE[1] - RANGE[0])
    low, high = distribution.low, distribution.high
    value = low * (high / low) ** place if distribution.log else low + place * (high - low)
    if distribution.step:
        value = low + distribution.step * round((value - low) / distribution.step)
    value = min(max(value, low), high)
    return round(value) if isinstance(distribution, optuna.distributions.IntDistribution) else value


SPACE = {
    "radius": optuna.distributions.FloatDistribution(1, 15),  # centimetres
    "height": optuna.distributions.FloatDistribution(1, 40),
    "wall": optuna.distributions.FloatDistribution(0.01, 0.5, log=True),
}


def can(trial):
    """The weight of a steel can in grams. Its features are how many litres it holds, and how slim it is."""
    radius, height, wall = (trial.suggest_float(name, to.low, to.high, log=to.log) for name, to in SPACE.items())
    if wall < radius / 200:
        raise optuna.TrialPruned("it would buckle")
    trial.set_user_attr("features", [np.pi * radius**2 * height / 1000, height / (2 * radius)])
    return 7.9 * 2 * np.pi * radius * (height + radius) * wall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=50, help="of 40 trials each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="optuna_sampler.png", help="the picture")
    options = parser.parse_args()

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = RarefySampler(
        SPACE,
        algorithm=rarefy.CmaMae,
        feature_box=[(0, 5), (0, 4)],
        feature_names=["litres", "height / width"],
        objective_range=(-20_000, 0),
        title="The lightest cans",
        emitters=4,
        batch=10,
        grid=20,
        seed=options.seed,
    )
    study = optuna.create_study(sampler=sampler, direction="minimize")
    study.optimize(can, n_trials=40 * options.iterations)
    archive = sampler.search.archive
    print(f"{len(study.trials):,} trials, of which {sampler.search.failed} were pruned")
    print(f"{len(archive)} different cans; the one nearest to 1 litre and 1.5 times as high as wide:")
    can_of_a_litre = archive.nearest([1, 1.5])
    parameters = sampler.parameters(can_of_a_litre.solution)
    words = ", ".join(f"{name} {value:.3g} cm" for name, value in parameters.items())
    print(f"{-can_of_a_litre.objective:.0f} g, {words}")
    rarefy.plot.heatmap(archive).figure.savefig(options.out)


if __name__ == "__main__":
    main()
