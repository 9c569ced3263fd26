"""A waiter hears all answers once and in order, or one refusal."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbeck.data.records import Record
from limbeck.serve.decoding import Answer
from limbeck.serve.line import Timing
from limbeck.serve.refusals import engine_failed
from limbeck.serve.waiter import Waiter

TIMING = Timing(waited_seconds=0.0, engine_seconds=0.5)


def answers(begin: int, end: int) -> list[Answer]:
    return [
        Answer(record=Record(words=(str(i),)), labels={}, probabilities=None, vector=None)
        for i in range(begin, end)
    ]


def numbers(given: list[Answer]) -> list[int]:
    return [int(answer.record.words[0]) for answer in given]


@given(st.lists(st.integers(1, 5), max_size=8), st.randoms(use_true_random=False))
def test_portions_in_any_order_come_out_in_order(sizes: list[int], order: random.Random) -> None:
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    parts = [(end - n, end) for n, end in zip(sizes, ends, strict=True)]
    order.shuffle(parts)

    async def story() -> tuple[list[int], list[int], float]:
        whole, streamed = Waiter(sum(sizes)), Waiter(sum(sizes))
        for begin, end in parts:
            for waiter in (whole, streamed):
                loop = asyncio.get_running_loop()
                loop.call_soon(waiter.deliver, begin, answers(begin, end), TIMING)
        found = [i async for portion in streamed.portions() for i in numbers(portion)]
        return numbers(await whole.whole()), found, whole.engine_seconds

    whole, streamed, seconds = asyncio.run(story())
    assert whole == streamed == list(range(sum(sizes)))
    assert seconds == pytest.approx(0.5 * len(sizes))


def test_a_refusal_is_heard_after_what_was_ready() -> None:
    async def story() -> list[int]:
        waiter = Waiter(4)
        waiter.deliver(0, answers(0, 2), TIMING)
        waiter.fail(engine_failed("toy"))
        portions = waiter.portions()
        found = numbers(await anext(portions))
        with pytest.raises(Exception, match="failed"):
            await anext(portions)
        with pytest.raises(Exception, match="failed"):
            await waiter.whole()
        return found

    assert asyncio.run(story()) == [0, 1]
