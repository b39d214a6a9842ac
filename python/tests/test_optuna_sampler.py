"""The sampler of the Optuna example: what it proposes, and what it makes of what comes back."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rarefy

optuna = pytest.importorskip("optuna")

FOLDER = Path(__file__).parents[2] / "examples" / "python"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    import optuna_sampler

    return optuna_sampler


SPACE = {
    "x": optuna.distributions.FloatDistribution(-1, 1),
    "rate": optuna.distributions.FloatDistribution(1e-4, 1, log=True),
    "count": optuna.distributions.IntDistribution(2, 10, step=2),
}


def sampler_of(example: Any, **keywords: Any) -> Any:
    options = {"emitters": 2, "batch": 6, "grid": 10, "seed": 1}
    return example.RarefySampler(SPACE, [(-1, 1), (-4, 0)], **(options | keywords))


def features_of(trial: Any) -> list[float]:
    x = trial.suggest_float("x", -1, 1)
    rate = trial.suggest_float("rate", 1e-4, 1, log=True)
    trial.suggest_int("count", 2, 10, step=2)
    return [x, float(np.log10(rate))]


def objective(trial: Any) -> float:
    trial.set_user_attr("features", features_of(trial))
    return float(trial.number)


def test_it_covers_more_than_random_trials(example: Any) -> None:
    box, grid, trials = [(0, 5), (0, 4)], 20, 600
    sampler = example.RarefySampler(example.SPACE, box, emitters=4, batch=10, grid=grid, seed=1)
    study = optuna.create_study(sampler=sampler)
    study.optimize(example.can, n_trials=trials)
    assert sampler.search.iteration == 15
    others = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    others.optimize(example.can, n_trials=trials)
    features = [trial.user_attrs["features"] for trial in others.get_trials(states=[optuna.trial.TrialState.COMPLETE])]
    drawn = rarefy.EliteArchive(rarefy.Grid(box, [grid, grid]), 1)
    drawn.add(np.zeros((len(features), 1)), features)
    # On seeds 1 to 3, 400, 1,000 and 2,000 trials covered 1.23 to 1.59 times as many cells as random ones.
    assert len(sampler.search.archive) > 1.15 * len(drawn.view())


def test_values_lie_in_their_distributions(example: Any) -> None:
    study = optuna.create_study(sampler=sampler_of(example, sigma0=1.5))
    study.optimize(objective, n_trials=60)
    for trial in study.trials:
        assert set(trial.params) == set(SPACE)
        assert trial.params["count"] in (2, 4, 6, 8, 10) and 1e-4 <= trial.params["rate"] <= 1
    assert len({trial.params["count"] for trial in study.trials}) == 5
    for number, low, high in ((-4, -1, 2), (4, 1, 10)):
        assert example.scaled(number, SPACE["x"]) == low and example.scaled(number, SPACE["count"]) == high


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_objectives_are_those_of_the_study(example: Any, direction: str) -> None:
    sampler = sampler_of(example, objective_range=(-100, 100))
    study = optuna.create_study(sampler=sampler, direction=direction)
    study.optimize(objective, n_trials=12)
    wanted = 11 if direction == "maximize" else 0
    assert sampler.search.archive.best().objective == wanted


def test_trials_that_fail_are_pruned_or_lack_features_count_as_failed(example: Any) -> None:
    def sometimes(trial: Any) -> float:
        features = features_of(trial)
        if trial.number == 0:
            raise RuntimeError("it broke")
        if trial.number == 1:
            raise optuna.TrialPruned
        if trial.number != 2:
            trial.set_user_attr("features", features)
        return 0.0

    sampler = sampler_of(example)
    optuna.create_study(sampler=sampler).optimize(sometimes, n_trials=12, catch=RuntimeError)
    assert (sampler.search.iteration, sampler.search.failed) == (1, 3)


def test_features_of_another_shape_are_refused(example: Any) -> None:
    def one_too_many(trial: Any) -> float:
        trial.set_user_attr("features", [*features_of(trial), 0.0])
        return 0.0

    with pytest.raises(ValueError, match="trial 0: got features .*, expected 2 numbers"):
        optuna.create_study(sampler=sampler_of(example)).optimize(one_too_many, n_trials=1)


def test_an_elite_is_a_trial(example: Any) -> None:
    sampler = sampler_of(example)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=12)
    elite = sampler.search.archive[0]
    (trial,) = [trial for trial in study.trials if trial.user_attrs["features"] == elite.features.tolist()]
    assert sampler.parameters(elite.solution) == trial.params


def test_enqueued_trials_say_nothing_of_a_candidate(example: Any) -> None:
    for given, failed in (({"x": 0.5, "rate": 0.1, "count": 4}, 0), ({"x": 0.5}, 1)):
        sampler = sampler_of(example)
        study = optuna.create_study(sampler=sampler)
        study.enqueue_trial(given)
        study.optimize(objective, n_trials=13 - failed)
        assert (sampler.search.iteration, sampler.search.failed) == (1, failed)


def test_a_trial_that_never_ends_does_not_hold_up_the_search(example: Any) -> None:
    sampler = sampler_of(example)
    study = optuna.create_study(sampler=sampler)
    study.ask()  # nobody tells
    study.optimize(objective, n_trials=12)
    assert sampler.search.iteration == 1


def test_several_threads(example: Any) -> None:
    sampler = sampler_of(example)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=100, n_jobs=4)
    assert 5 <= sampler.search.iteration <= 8 and sampler.search.failed == 0


def test_a_pickled_sampler_goes_on(example: Any) -> None:
    coverages = []
    for again in (False, True):
        sampler = sampler_of(example)
        study = optuna.create_study(sampler=sampler)
        study.optimize(objective, n_trials=30)
        if again:
            study.sampler = sampler = pickle.loads(pickle.dumps(sampler))
        study.optimize(objective, n_trials=30)
        coverages.append(sampler.search.archive.features.tolist())
    assert coverages[0] == coverages[1]


def test_the_script(example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setattr("sys.argv", ["optuna_sampler.py", "--iterations", "10", "--out", str(tmp_path / "cans.png")])
    example.main()
    out = capsys.readouterr().out
    assert "400 trials" in out and int(out.split("different cans")[0].split()[-1]) > 100
    assert (tmp_path / "cans.png").stat().st_size > 10_000
