"""Threads: how many this process may use, by affinity and by its container's quota.

In:  what the user asked for, or nothing.
Out: a number that does not oversubscribe the machine.
"""

import os
from pathlib import Path

from limbeck.errors import ConfigError


def allowed_threads() -> int:
    """Whole processors that affinity and cgroup leave to this process, at least one."""
    try:
        n_cpus = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        n_cpus = os.cpu_count() or 1
    quota = cgroup_cpus(Path("/sys/fs/cgroup"))
    return max(1, min(n_cpus, int(quota) if quota is not None else n_cpus))


def cgroup_cpus(root: Path) -> float | None:
    """CPU quota of the container in processors, or None where there is none."""
    try:
        quota, _, period = (root / "cpu.max").read_text(encoding="utf-8").partition(" ")
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass  # not version 2
    try:
        used = int((root / "cpu" / "cpu.cfs_quota_us").read_text(encoding="utf-8"))
        period_us = int((root / "cpu" / "cpu.cfs_period_us").read_text(encoding="utf-8"))
        return None if used <= 0 else used / period_us
    except (OSError, ValueError):
        return None


def pick_threads(asked: int | None) -> int:
    """What the user asked for, if the machine has it."""
    allowed = allowed_threads()
    if asked is None:
        return allowed
    if asked < 1:
        raise ConfigError(f"--threads {asked}: at least 1")
    if asked > allowed:
        raise ConfigError(
            f"--threads {asked}: this process may use {allowed}",
            hint="more threads than processors only slow each other down",
        )
    return asked
