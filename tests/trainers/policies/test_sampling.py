"""Drawing tokens: the distribution sampled from is the one that is reported."""

import random

import torch

from trainers.policies.base import Sampling
from trainers.policies.sampling import draw, nucleus

LOGITS = torch.tensor([2.0, 1.0, 0.5, -1.0, -torch.inf])


def test_frequencies_follow_the_reported_probabilities() -> None:
    count, generator = 40_000, random.Random(0)
    sampling = Sampling(temperature=0.7, top_p=0.95)
    rows = LOGITS.expand(count, -1)
    tokens, logprobs = draw(rows, [sampling] * count, [generator.random() for _ in range(count)])
    expected = nucleus((LOGITS / 0.7).log_softmax(-1), 0.95)
    for token, logprob in zip(tokens[:100], logprobs[:100], strict=True):
        assert abs(logprob - float(expected[token])) < 1e-6
    seen = torch.bincount(torch.tensor(tokens), minlength=len(LOGITS)) / count
    assert torch.allclose(seen, expected.exp(), atol=0.01)


def test_rows_keep_their_own_settings() -> None:
    samplings = [Sampling(temperature=0), Sampling(), Sampling(temperature=2.0), Sampling(top_p=0.01)]
    tokens, logprobs = draw(LOGITS.expand(4, -1), samplings, [0.0, 0.999999, 0.0, 0.999999])
    assert tokens == [0, 3, 0, 0]
    assert logprobs[0] == 0.0
    assert abs(logprobs[1] - float(LOGITS.log_softmax(-1)[3])) < 1e-6
    assert abs(logprobs[2] - float((LOGITS / 2).log_softmax(-1)[0])) < 1e-6
    assert abs(logprobs[3]) < 1e-6


def test_nucleus_is_the_smallest_set_that_reaches_the_mass() -> None:
    logprobs = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    assert torch.allclose(nucleus(logprobs, 0.5).exp(), torch.tensor([1.0, 0, 0, 0]))
    assert torch.allclose(nucleus(logprobs, 0.7).exp(), torch.tensor([0.625, 0.375, 0, 0]))
    assert torch.allclose(nucleus(logprobs, 0.9999).exp(), logprobs.exp())
