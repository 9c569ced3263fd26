"""`limbeck pretrain`: from raw text to an encoder, from the command line.

In:  a recipe and where things are.
Out: the plan; or where the encoder is and how it does on held-out text.
"""

import json
import sys
from pathlib import Path

from limbeck.cli.bars import make_progress
from limbeck.cli.jobs import quiet_libraries
from limbeck.cli.study import free_memory


def pretrain_recipe(
    recipe: Path,
    *,
    out: Path | None,
    data: Path | None,
    models: Path | None,
    is_dry: bool,
    as_json: bool,
) -> int:
    """Pretrain, or show what would be done."""
    quiet_libraries()
    from limbeck.pretrain.pipeline import execute
    from limbeck.pretrain.plan import Prepared, prepare
    from limbeck.pretrain.probe import Probe
    from limbeck.runs.stages import is_done

    def show_plan(prepared: Prepared) -> None:
        stages = [(s.name, s.folder_name, is_done(s, prepared.run)) for s in prepared.stages]
        training = prepared.recipe.training
        if as_json:
            about = {
                "run": str(prepared.run),
                "stages": [{"name": n, "folder": f, "is_done": d} for n, f, d in stages],
                "n_parameters": prepared.n_parameters,
                "memory_bytes": prepared.memory.total,
                "steps": training.steps,
                "minutes": training.minutes,
            }
            sys.stdout.write(json.dumps(about) + "\n")
            return
        for name, folder, done in stages:
            sys.stdout.write(f"{'done' if done else 'to do':6} {name:10} {folder}\n")
        end = f"{training.steps} steps" if training.steps else f"{training.minutes:g} minutes"
        sys.stdout.write(
            f"{prepared.n_parameters / 1e6:.1f} million parameters, {end}, about "
            f"{prepared.memory.total / 1e9:.1f} GB of memory\n"
        )

    prepared = prepare(recipe, root=data, models=models, run=out, free_bytes=free_memory())
    if is_dry:
        show_plan(prepared)
        return 0
    found = execute(prepared, make_progress(), command=f"limbeck pretrain {recipe.name}")
    about = {"model": str(found.folder), "curves": str(found.curves), **found.about}
    if as_json:
        sys.stdout.write(json.dumps(about) + "\n")
        return 0
    sys.stdout.write(
        f"{about['n_parameters'] / 1e6:.1f} million parameters, {about['n_steps']} steps, "
        f"{about['n_pieces']} pieces in {about['seconds']:.0f} s ({about['epochs']} epochs)\n"
        f"{Probe(**about['probe']).line()}\n"
        f"model: {found.folder}\ncurves: {found.curves}\n"
    )
    return 0
