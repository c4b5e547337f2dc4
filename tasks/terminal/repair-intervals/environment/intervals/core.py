"""Intervals are pairs (begin, end) with begin < end; the end does not belong to them."""


def merge(intervals):
    """Sorted, disjoint intervals that cover the same numbers; touching ones are joined."""
    merged = []
    for begin, end in intervals:
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((begin, end))
    return merged


def total(intervals):
    """How many numbers are covered."""
    return sum(end - begin for begin, end in intervals)


def subtract(intervals, holes):
    """What of `intervals` is left without `holes`, merged."""
    left = []
    for begin, end in merge(intervals):
        for low, high in merge(holes):
            if low > begin:
                left.append((begin, low))
            begin = high
        left.append((begin, end))
    return left
