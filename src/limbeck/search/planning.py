"""The plan of a search: floors, candidates in order, what it will take. Made before any training.

In:  a prepared recipe with a floor.
Out: `SearchPlan`, or a refusal that names the mistake.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from transformers import PretrainedConfig

from limbeck.config import StudentModel
from limbeck.errors import ConfigError
from limbeck.runs.checks import teacher_body
from limbeck.runs.pipeline import Prepared
from limbeck.runs.plan import TeacherPlan, model_hash
from limbeck.search.candidates import Start
from limbeck.search.estimate import candidate_seconds, search_seconds
from limbeck.search.floor import Floor, floors_of
from limbeck.search.ladder import Base, auto_ladder, in_order
from limbeck.train.fits import check_student
from limbeck.train.hub_models import read_config
from limbeck.train.slicing import SLICEABLE

# of a plan made before any teacher has trained here
ASSUMED_OPERATIONS_PER_SECOND = 1.5e11
PIECES_PER_WORD = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """Everything that is decided before a search starts."""

    key: str  # names the search in its journal
    floors: Mapping[str, Floor]  # by task
    ladder: tuple[StudentModel, ...]
    bases: Mapping[str, Base]  # by `model` of the candidates
    starts: Mapping[str, Start]
    seconds: float  # about, for all rungs

    def depth_of(self, config: StudentModel) -> int:
        """Layers of a candidate."""
        return config.depth or self.bases[config.model].n_layers


def plan_search(
    prepared: Prepared, *, trials: int | None, budget_seconds: float | None
) -> SearchPlan:
    """Check floors and ladder, and put candidates in order."""
    recipe = prepared.job.recipe
    tasks = [task.name for task in prepared.job.tasks]
    floors = floors_of(recipe.student.floor, tasks)
    if not floors:
        raise ConfigError("[student] floor names no task", hint='floor = { default = "99%" }')
    listed = recipe.student.listed
    references = dict.fromkeys(
        [s.model for s in listed] or [recipe.student.base or recipe.teacher[-1].model]
    )
    starts = {ref: _start(prepared, ref) for ref in references}
    bodies = {ref: _body(prepared, ref) for ref in references}
    for student in listed:
        check_student(student, bodies[student.model])
    bases = {ref: _base(ref, body) for ref, body in bodies.items()}
    ladder: list[StudentModel] = list(listed)
    if not ladder:
        (base,) = bases.values()
        ladder = auto_ladder(base, recipe.student)
    names = [student.name for student in ladder]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two students are called {name!r}")
    chosen = in_order(ladder, trials or recipe.student.trials, seed=recipe.seed)
    corpora = prepared.job.corpora
    n_words = sum(len(r.words) + len(r.pair) for r in (*corpora.train, *corpora.unlabelled))
    n_pieces = int(PIECES_PER_WORD * n_words)
    one = min(
        candidate_seconds(
            s,
            bases[s.model],
            n_pieces=n_pieces,
            operations_per_second=ASSUMED_OPERATIONS_PER_SECOND,
            share=1.1,  # its first rung and its last
        )
        for s in chosen
    )
    if budget_seconds is not None and budget_seconds < one:
        raise ConfigError(
            f"a budget of {budget_seconds / 60:.0f} min is too small for one candidate, which "
            f"takes about {one / 60:.0f} min",
            hint=f"--budget {int(one / 60) + 1}m, or fewer epochs or less text",
        )
    digest = hashlib.blake2b(digest_size=6)
    about = [s.model_dump() for s in chosen]
    digest.update(json.dumps([prepared.plan.targets.key, about], sort_keys=True).encode())
    return SearchPlan(
        key=digest.hexdigest(),
        floors=floors,
        ladder=tuple(chosen),
        bases=bases,
        starts=starts,
        seconds=search_seconds(
            chosen,
            next(iter(bases.values())),
            n_pieces=n_pieces,
            operations_per_second=ASSUMED_OPERATIONS_PER_SECOND,
        ),
    )


def _start(prepared: Prepared, reference: str) -> Start:
    """Where candidates of this base get their weights."""
    config = StudentModel(name="base", model=reference)
    if reference.startswith("teacher:"):
        stage = _teacher(prepared, reference).stage
        return Start(reference=prepared.run / stage.folder_name, key=stage.key, config=config)
    found = prepared.models[reference]
    return Start(reference=found, key=model_hash(found), config=config)


def _teacher(prepared: Prepared, reference: str) -> TeacherPlan:
    name = reference.removeprefix("teacher:")
    for teacher in prepared.plan.teachers:
        if teacher.name == name:
            return teacher
    known = ", ".join(t.name for t in prepared.plan.teachers)
    raise ConfigError(f"base {reference!r}: no such teacher", hint=f"teachers: {known}")


def _body(prepared: Prepared, reference: str) -> PretrainedConfig:
    if reference.startswith("teacher:"):
        teacher = _teacher(prepared, reference)
        return read_config(teacher_body(teacher, prepared.models, prepared.run))
    return read_config(prepared.models[reference])


def _base(reference: str, config: PretrainedConfig) -> Base:
    """Sizes of an encoder, from its config alone."""
    return Base(
        model=reference,
        n_layers=int(config.num_hidden_layers),
        width=int(config.hidden_size),
        n_heads=int(config.num_attention_heads),
        can_slice=config.model_type in SLICEABLE,
        can_share=config.model_type == "bert",
    )
