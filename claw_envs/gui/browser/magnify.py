"""Pages that were made for a few hundred pixels, shown as large as the screen allows."""

from math import gcd


def magnification(size: tuple[int, int], least: tuple[int, int]) -> float:
    """By how much a page is magnified that fills a screen and keeps at least `least` pixels of its own.

    The page's own pixels are whole numbers, and at least 1 of the screen's; 1.0 where nothing larger fits.

    >>> magnification((1280, 720), (332, 214))
    3.3333333333333335
    >>> magnification((332, 214), (332, 214))
    1.0
    """
    step = gcd(*size)
    for parts in range(1, step):
        if all(length // step * parts >= wanted for length, wanted in zip(size, least, strict=True)):
            return step / parts
    return 1.0
