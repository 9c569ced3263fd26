"""How far a run is, by steps or by time, and what follows from it.

In:  steps and seconds done, the end of the run.
Out: progress from 0 to 1, the rate's share, whether something is due. Reads no clock.
"""

from limbeck.pretrain.config import TrainingConfig


def progress_at(config: TrainingConfig, *, n_steps: float, seconds: float) -> float:
    """Share of the run that is done; 1 or more: the end."""
    if config.steps is not None:
        return n_steps / config.steps
    assert config.minutes is not None  # the settings have one of the two
    return seconds / (60 * config.minutes)


def rate_share(progress: float, warmup: float) -> float:
    """Up in a line, then down to nothing in a line."""
    if progress < warmup:
        return progress / warmup
    return max(0.0, (1 - progress) / (1 - warmup)) if warmup < 1 else 1.0


def is_due(before: float, after: float, n_times: int) -> bool:
    """Tell whether one of `n_times` evenly spread moments lies in between; the last is the end."""
    return int(min(1.0, after) * n_times) > int(min(1.0, before) * n_times)
