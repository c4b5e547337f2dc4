"""Number theory: answers are what sieves, factorisation and plain search give."""

import re
from collections import Counter

import pytest

from tests.claw_envs.toolcall.procedural.reckoning import LEVELS, agree, answer_of, numbers, problems


def sieve(bound: int) -> list[int]:
    prime = [False, False] + [True] * (bound - 1)
    for n in range(2, bound + 1):
        for multiple in range(2 * n, bound + 1, n):
            prime[multiple] = False
    return [n for n in range(bound + 1) if prime[n]]


PRIMES = sieve(30_000)


def factors(n: int) -> Counter[int]:
    found: Counter[int] = Counter()
    for prime in PRIMES:
        while n % prime == 0:
            n //= prime
            found[prime] += 1
        if prime * prime > n:
            break
    return found + Counter({n: 1} if n > 1 else {})


def rebuilt(powers: Counter[int]) -> int:
    value = 1
    for prime, times in powers.items():
        value *= prime**times
    return value


def gcd(question: str, level: int) -> int:
    given = numbers(question)
    if level == 4:
        given = list(range(given[0], given[1] + 1))
    powers = factors(given[0])
    for value in given[1:]:
        powers = powers | factors(value) if "greatest" not in question else powers & factors(value)
    return rebuilt(powers)


def powers(question: str, level: int) -> int:
    given = numbers(question)
    base, exponent, modulus = given[0], given[1], given[-1]
    if level == 5:
        exponent **= given[2]
    value = 1
    for bit in bin(exponent)[2:]:
        value = value * value % modulus
        if bit == "1":
            value = value * base % modulus
    return value


def primes(question: str, level: int) -> int:
    given = numbers(question)
    if level == 4:
        return max(prime for prime in PRIMES if given[0] % prime == 0)
    if level == 5:
        return PRIMES[given[1] - 1]
    found = [prime for prime in PRIMES if given[0] <= prime <= given[1]]
    return sum(found) if "sum" in question else len(found)


def count_of_divisors(n: int) -> int:
    value = 1
    for times in factors(n).values():
        value *= times + 1
    return value


def divisors(question: str, level: int) -> int:
    given = numbers(question)[-1]
    if level == 4:
        value = given = numbers(question)[1]
        for prime in factors(given):
            value = value // prime * (prime - 1)
        return value
    if level == 5:
        return sum(count_of_divisors(n) for n in range(1, given + 1))
    if "How many" in question:
        return count_of_divisors(given)
    value = 1
    for prime, times in factors(given).items():
        value *= (prime ** (times + 1) - 1) // (prime - 1)
    return value


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("reckon", [gcd, powers, primes, divisors], ids=lambda reckon: reckon.__name__)
def test_answers(reckon, level):
    agree(reckon.__name__, level, reckon, count=8 if (reckon, level) == (divisors, 5) else 50)


def test_remainders_and_inverses():
    def reckon(question: str, level: int) -> int:
        given = numbers(question)
        if level == 1:
            return given[0] - given[0] // given[1] * given[1]
        high, factor, modulus = given[1], given[2], given[-1]
        return next(n for n in range(1, high + 1) if n * factor % modulus == 1)

    agree("remainders", 1, reckon)
    agree("remainders", 2, reckon)


@pytest.mark.parametrize("level", [3, 4, 5])
def test_least_number_with_given_remainders(level):
    for task in problems("remainders", level):
        pairs = [(int(a), int(b)) for a, b in re.findall(r"remainder (\d+) when divided by (\d+)", task.instruction)]
        period = 1
        for _, modulus in pairs:
            period *= modulus
        answer = answer_of(task)
        assert len(pairs) == len({modulus for _, modulus in pairs}) == level - 1
        assert 1 <= answer <= period
        assert all(answer % modulus == rest for rest, modulus in pairs)
