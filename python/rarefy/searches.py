"""The algorithms, each as a search that is asked and told."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from . import _core
from ._arrays import Doubles, as_box, as_flags, as_pair, as_rows, as_values, as_whole
from ._keywords import make_config
from .archive import Archive
from .own_parts import OwnDensity, OwnEmitter, check_parts
from .parts import Domain

if TYPE_CHECKING:
    from .running import Evaluate, RunResult

Box = Sequence[tuple[float, float]]


class Search:
    """What all searches have in common. Make one of its subclasses, or :func:`rarefy.load` one."""

    _native: _core._Search
    _own: tuple[OwnDensity | None, list[OwnEmitter]]
    _algorithm: ClassVar[str] = ""

    def __init__(
        self,
        solution_dim: int | _core.Problem | Domain,
        feature_box: Box | None = None,
        *,
        name: str = "problem",
        title: str = "",
        feature_names: Sequence[str] = (),
        solution_range: tuple[float, float] | None = None,
        objective_range: tuple[float, float | None] | None = None,
        initial_solutions: Any = None,
        centroids: Any = None,
        threads: int = 0,
        team: _core.Team | None = None,
        own_emitters: Sequence[OwnEmitter] = (),
        _own_density: OwnDensity | None = None,
        **parameters: Any,
    ) -> None:
        """
        :param solution_dim: how many numbers a solution has; or a whole :class:`rarefy.Problem` or
            :class:`rarefy.Domain`, instead of all that describes one
        :param feature_box: a pair (low, high) for each feature
        :param name: of the problem, for run folders; a plain word
        :param title: of the problem, for pictures
        :param feature_names: for pictures, one for each feature
        :param solution_range: the natural range of a solution's values; ``bounds="domain"`` keeps
            solutions in it
        :param objective_range: the least and the greatest objective (``None``: unknown), where
            objectives differ; without it they are all the same
        :param initial_solutions: solutions to evaluate first, and to start from: an array, or a
            file (.npy, archive.npz) or folder of a run
        :param centroids: of the archive's Voronoi cells: an array
        :param threads: to use; 0: one for each core, or those of the domain that was given. Results
            do not depend on it.
        :param team: threads to share with other searches, instead
        :param own_emitters: emitters written in Python, instead of the algorithm's: see
            :class:`rarefy.OwnEmitter`
        :param parameters: those of the command, with underscores for hyphens (``rarefy list``
            tells what there is): ``seed``, ``emitters``, ``batch``, ``sigma0``, ``grid``, ...
        """
        own = [
            "solution_dim", "feature_box", "name", "title", "feature_names", "solution_range",
            "objective_range", "initial_solutions", "centroids", "threads", "team", "own_emitters",
        ]  # fmt: skip
        if isinstance(solution_dim, (_core.Problem, Domain)):
            problem = solution_dim if isinstance(solution_dim, _core.Problem) else solution_dim.problem
            if feature_box is not None:
                raise TypeError("feature_box: the problem that was given has one")
        else:
            problem = describe(
                solution_dim, feature_box, name, title, feature_names, solution_range, objective_range
            )

        def start(profile: str) -> _core.Config:
            if isinstance(solution_dim, Domain):
                return solution_dim.config(self._name_of_algorithm(), profile)
            # What the published profile has for a problem that it knows nothing of is that of lp.
            config = _core.Config("lp", self._name_of_algorithm(), profile)
            config.set_problem(problem)
            return config

        config = make_config(start, type(self).__name__, own, parameters)
        initial = None
        if isinstance(initial_solutions, (str, os.PathLike)):
            config.set("initial-solutions", os.fspath(initial_solutions))
        elif initial_solutions is not None:
            initial = as_rows(initial_solutions, "initial_solutions", columns=problem.solution_dim)
        if centroids is not None:
            centroids = as_rows(centroids, "centroids", columns=len(problem.feature_box))
        if team is None:
            if isinstance(solution_dim, Domain) and threads == 0:
                team = solution_dim.team
            else:
                team = _core.Team(threads)
        elif not isinstance(team, _core.Team):
            raise TypeError(f"team: got {team!r}, expected a rarefy.Team")
        if _own_density is not None or own_emitters:
            if initial is not None or centroids is not None:
                raise ValueError("initial_solutions, centroids: not with parts of your own")
            check_parts(_own_density, own_emitters)
            self._own = (_own_density, list(own_emitters))
            self._take(_core._Search.make_of_parts(config, problem, team, *self._own))
            return
        self._take(_core._Search.make(config, problem, team, centroids, initial))

    def _name_of_algorithm(self) -> str:
        return self._algorithm

    def _take(self, search: _core._Search) -> None:
        self._native = search
        self._archive: tuple[int, Archive] | None = None
        self._asked = -1  # the iteration of the last ask()

    # ---- the loop ----------------------------------------------------------------------------

    def ask(self) -> Doubles:
        """Candidates, one row each: a read-only array that nobody writes over.

        Asking again before telling gives the same ones.
        """
        candidates = self._native.ask()
        self._asked = self._native.iteration
        return candidates

    def tell(self, features: Any, objectives: Any = None, valid: Any = None) -> None:
        """What the candidates turned out to be.

        :param features: a row for each candidate
        :param objectives: one for each candidate; left out where they are all the same
        :param valid: false for candidates that could not be evaluated; the rest of their rows is
            not looked at. (With ``nan_fails=True``, a NaN says the same.)

        NaN, infinite or missing values of any other row are refused with a ValueError that names the
        row; nothing has changed then, and the batch can be told again.
        """
        rows = as_rows(features, "features", columns=self.feature_dim, rows=self.candidates)
        self._native.tell(
            rows,
            None if objectives is None else as_values(objectives, "objectives", self.candidates),
            None if valid is None else as_flags(valid, "valid", self.candidates),
        )

    def ask_emitter(self, emitter: int) -> Doubles:
        """Candidates of one emitter, a row each, while those of others are still evaluated.

        Asking again before telling gives the same ones. With :meth:`tell_emitter`, for loops in which no
        emitter waits for another; ``run(..., asynchronous=True)`` has one.
        """
        return self._native.ask_emitter(as_whole(emitter, "emitter"))

    def tell_emitter(self, emitter: int, features: Any, objectives: Any = None, valid: Any = None) -> None:
        """What the candidates of one emitter turned out to be: as :meth:`tell` for its rows alone."""
        emitter = as_whole(emitter, "emitter")
        count = self._native.rows_of(emitter)
        rows = as_rows(features, "features", columns=self.feature_dim, rows=count)
        self._native.tell_emitter(
            emitter,
            rows,
            None if objectives is None else as_values(objectives, "objectives", count),
            None if valid is None else as_flags(valid, "valid", count),
        )

    def run(self, evaluate: Evaluate, iterations: int, **options: Any) -> RunResult:
        """Asks, evaluates and tells until so many iterations are done in all.

        :param evaluate: from solutions to features, or to (features, objectives)
        :param iterations: how many it shall have done at the end, those of before included
        :param options: those of :func:`rarefy.running.run`: ``rowwise``, ``executor``, ``workers``,
            ``timeout``, ``retries``, ``asynchronous``, ``order``, ``folder``, ``overwrite``, ``progress``,
            ``callback``
        """
        from .running import run

        return run(self, evaluate, iterations, **options)

    # ---- what there is -----------------------------------------------------------------------

    @property
    def problem(self) -> _core.Problem:
        """What it searches for: dimensions, box, names, ranges."""
        return self._native.problem

    @property
    def config(self) -> _core.Config:
        """Every parameter, for looking: ``search.config.get("iso-sigma")``, by the command's name, or all
        of them as text, ``search.config.to_toml()``."""
        return self._native.config

    @property
    def solution_dim(self) -> int:
        """How many values a solution has."""
        return self._native.problem.solution_dim

    @property
    def feature_dim(self) -> int:
        """How many features there are."""
        return self._native.problem.feature_dim

    @property
    def emitters(self) -> int:
        """How many emitters there are."""
        return self._native.emitters

    @property
    def candidates(self) -> int:
        """How many there are in an iteration: those of all emitters."""
        return self._native.candidates

    @property
    def iteration(self) -> int:
        """Batches told so far; as many as their rows make up, where emitters are told one by one."""
        return self._native.iteration

    @property
    def evaluations(self) -> int:
        """Candidates told so far, those that failed included."""
        return self._native.evaluations

    @property
    def failed(self) -> int:
        """Candidates that could not be evaluated."""
        return self._native.failed

    @property
    def archive(self) -> Archive:
        """What was found so far. It stays as it is when the search goes on."""
        evaluations = self._native.evaluations
        if self._archive is None or self._archive[0] != evaluations:
            self._archive = (evaluations, Archive._of(self._native.snapshot(), self.problem))
        return self._archive[1]

    @property
    def coverage(self) -> float:
        """The part of all cells that are occupied, from 0 to 1."""
        return float(self._native.metrics()["coverage"])

    def metrics(self) -> dict[str, Any]:
        """Coverage, cross-entropy, QD score and others, as they are now: a row of
        :attr:`RunResult.metrics <rarefy.RunResult.metrics>`."""
        return self._native.metrics()

    def scores(self) -> Doubles:
        """Of the last batch told; lower is sparser."""
        return self._native.scores()

    def log_density(self, features: Any) -> Doubles:
        """Natural logarithms of the density that is descended, at rows of features.

        A TypeError where the algorithm does not estimate one.
        """
        values = self._native.log_density(as_rows(features, "features", columns=self.feature_dim))
        if values is None:
            raise TypeError(f"{type(self).__name__} does not estimate a density")
        return values

    # ---- to keep -----------------------------------------------------------------------------

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the whole search; :func:`rarefy.load` goes on to the same bits."""
        from .folders import write_search

        if self._native.own_parts:
            raise TypeError("save: a search with parts written in Python is not for files of rarefy; pickle it")
        write_search(file, self)

    def __getstate__(self) -> dict[str, Any]:
        asked = self._asked == self._native.iteration
        if self._native.own_parts:
            return {
                "own": self._own,
                "config": self._native.config.to_toml(),
                "state": self._native.save_state(),
                "asked": asked,
            }
        return {"state": self._native.save(), "asked": asked}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "own" in state:
            self._own = copy.deepcopy(state["own"])
            config = _core.Config.from_toml(state["config"])
            self._take(
                _core._Search.make_of_parts(config, config.problem, _core.Team(0), *self._own)
            )
            self._native.load_state(state["state"])
        else:
            self._take(_core._Search.load(state["state"], _core.Team(0)))
        if state.get("asked"):  # the same candidates, so that their results can be told
            self.ask()

    def __deepcopy__(self, memo: dict[int, Any]) -> Search:
        other = object.__new__(type(self))
        other.__setstate__(self.__getstate__())
        return other

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.solution_dim} values, {self.feature_dim} features, "
            f"{self.iteration} iterations, coverage {100 * self.coverage:.2f} %>"
        )

    def _repr_html_(self) -> str:
        from ._html import search_as_html

        return search_as_html(self)


class DensityDescent(Search):
    """Density descent: candidates where feature space is least crowded come first.

    :param density: ``"kde"`` estimates it with kernels, ``"flow"`` with a continuous normalizing flow,
        ``"mixture"`` with a mixture of Gaussians; or an object of your own, see :class:`rarefy.OwnDensity`

    All else is as for :class:`rarefy.Search`.
    """

    def __init__(
        self,
        solution_dim: int | _core.Problem | Domain,
        feature_box: Box | None = None,
        *,
        density: str | OwnDensity = "kde",
        **keywords: Any,
    ) -> None:
        algorithms = {"kde": "dds-kde", "flow": "dds-cnf", "mixture": "dds-gmm"}
        own = None
        if not isinstance(density, str):
            own, density = density, "kde"
        if density not in algorithms:
            raise ValueError(f"density: got {density!r}, expected 'kde', 'flow', 'mixture' or a density of your own")
        self._density = algorithms[density]
        super().__init__(solution_dim, feature_box, _own_density=own, **keywords)

    def _name_of_algorithm(self) -> str:
        return self._density


class QualityDescent(Search):
    """Density descent that weighs the objective against density: candidates where feature space is less crowded come
    first, and of those that are equally crowded the better ones. With equal objectives it is
    :class:`rarefy.DensityDescent`.

    Its own parameter: ``quality_weight``. All else is as for :class:`rarefy.Search`.
    """

    _algorithm = "dds-qd"


class NoveltySearch(Search):
    """Novelty search: candidates far from what was found before come first.

    Its own parameters: ``neighbours``, ``novelty_threshold``, ``count_batch``. All else is as for
    :class:`rarefy.Search`.
    """

    _algorithm = "ns"


class CmaMae(Search):
    """CMA-MAE, MAP-annealing: candidates that beat their cell's threshold by most come first, and
    thresholds rise where they are met.

    Its own parameters: ``alpha``, ``threshold_min``. All else is as for :class:`rarefy.Search`.
    """

    _algorithm = "cma-mae"


class DiscountModelSearch(Search):
    """Discount model search: candidates that beat the threshold of their place by most come first. The
    thresholds are a function of the features, which a network learns from candidates and empty cells.

    Its own parameters: ``alpha``, ``threshold_min``, ``discount_range``, ``discount_layers``,
    ``discount_activation``, ``discount_epochs``, ``discount_enough``, ``discount_batch``, ``discount_rate``,
    ``discount_empty``, ``discount_initial``. All else is as for :class:`rarefy.Search`.
    """

    _algorithm = "dms"


class CmaMe(Search):
    """CMA-ME: new cells come first, then improvements. Arguments are those of :class:`rarefy.Search`."""

    _algorithm = "cma-me"


class MapElites(Search):
    """MAP-Elites: elites are varied, and candidates are not ranked.

    :param line: vary them along lines to each other as well as by noise

    Its own parameters: ``iso_sigma``, ``line_sigma``. All else is as for :class:`rarefy.Search`.
    """

    def __init__(
        self,
        solution_dim: int | _core.Problem | Domain,
        feature_box: Box | None = None,
        *,
        line: bool = True,
        **keywords: Any,
    ) -> None:
        self._line = line
        super().__init__(solution_dim, feature_box, **keywords)

    def _name_of_algorithm(self) -> str:
        return "map-elites-line" if self._line else "map-elites"


def describe(
    solution_dim: Any,
    feature_box: Any,
    name: str,
    title: str,
    feature_names: Sequence[str],
    solution_range: tuple[float, float] | None,
    objective_range: tuple[float, float | None] | None,
) -> _core.Problem:
    low, high = as_pair(solution_range, "solution_range")
    if isinstance(feature_names, str):
        raise ValueError(f"feature_names: got {feature_names!r}, expected a list of names")
    least, greatest = as_pair(objective_range, "objective_range")
    return _core.Problem(
        as_whole(solution_dim, "solution_dim"),
        as_box(feature_box),
        name=name,
        title=title,
        feature_names=list(feature_names),
        solution_low=low,
        solution_high=high,
        constant_objective=objective_range is None,
        least_objective=least,
        greatest_objective=greatest,
    )


_CLASSES: dict[str, type[Search]] = {
    "dds-kde": DensityDescent,
    "dds-cnf": DensityDescent,
    "dds-gmm": DensityDescent,
    "dds-qd": QualityDescent,
    "ns": NoveltySearch,
    "cma-mae": CmaMae,
    "dms": DiscountModelSearch,
    "cma-me": CmaMe,
    "map-elites-line": MapElites,
    "map-elites": MapElites,
}


def search_of(core: _core._Search) -> Search:
    """The search as an object of its class."""
    search = object.__new__(_CLASSES[str(core.config.get("algorithm"))])
    search._take(core)
    return search
