"""A kill in the middle of training, without a signal."""

from limbeck.progress import NoProgress


class Killed(BaseException):
    """Stands for a signal."""


class KillAfter(NoProgress):
    """Raises in the middle of training."""

    def __init__(self, n_steps: int) -> None:
        self.n_left = n_steps

    def advance(self, n_done: int, note: str = "") -> None:
        self.n_left -= n_done
        if self.n_left == 0:
            raise Killed
