"""The families of procedural problems, by name."""

from claw_envs.toolcall.procedural import (
    algebra,
    arithmetic,
    chances,
    counting,
    dates,
    geometry,
    graphs,
    lists,
    numbers,
    numerals,
    sequences,
    words,
)
from claw_envs.toolcall.procedural.problem import Family

FAMILIES: dict[str, Family] = {
    family.__name__: family
    for family in (
        arithmetic.product,
        arithmetic.expression,
        arithmetic.digits,
        arithmetic.fractions,
        numbers.gcd,
        numbers.powers,
        numbers.primes,
        numbers.divisors,
        numbers.remainders,
        numerals.bases,
        numerals.roman,
        words.letters,
        words.rewrite,
        words.order,
        lists.ranks,
        lists.sets,
        lists.table,
        dates.dates,
        dates.clock,
        counting.coins,
        counting.choices,
        chances.probability,
        graphs.lattice,
        graphs.maze,
        graphs.roads,
        algebra.linear,
        algebra.determinant,
        geometry.polygon,
        sequences.recurrence,
        sequences.collatz,
        sequences.machine,
    )
}
LEVELS = range(1, 6)
