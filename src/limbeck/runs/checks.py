"""Checks before work: what would stop a run minutes or hours in, and can be told at once.

In:  a plan, its models, the run folder.
Out: nothing, or a refusal. What finished stages no longer need is not asked for.
"""

from collections.abc import Mapping
from pathlib import Path

from limbeck.config import Recipe
from limbeck.runs.plan import RunPlan, TeacherPlan
from limbeck.runs.stages import is_done
from limbeck.train.devices import pick_device
from limbeck.train.fits import check_student
from limbeck.train.hub_models import read_config


def check_work(recipe: Recipe, plan: RunPlan, models: Mapping[str, str], run: Path) -> None:
    """Refuse what cannot be done: a device that is not here, a model that is nowhere, a student
    that its start is too small for."""
    pick_device(recipe.device)
    teachers = {f"teacher:{teacher.name}": teacher for teacher in plan.teachers}
    for teacher in plan.teachers:
        if not is_done(teacher.stage, run):
            read_config(models[teacher.config.model])
    for student in plan.students:
        if is_done(student.stage, run) and is_done(student.twin, run):
            continue
        reference = student.config.model
        if reference in teachers:
            body = teacher_body(teachers[reference], models, run)
        else:
            body = models[reference]
        check_student(student.config, read_config(body))


def teacher_body(teacher: TeacherPlan, models: Mapping[str, str], run: Path) -> str:
    """Where the config of a teacher's encoder is: with the teacher, once there is one."""
    if is_done(teacher.stage, run):
        return str(run / teacher.stage.folder_name / "backbone")
    return models[teacher.config.model]
