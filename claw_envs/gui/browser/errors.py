"""What goes wrong in a page, which is neither the user's mistake nor ours."""


class PageError(RuntimeError):
    """A script threw, or its page is gone. Whoever ran the script decides what that means."""


class UnansweredError(PageError):
    """A page did not answer in time, so that nothing is known of it."""


class HungError(TimeoutError):
    """A page did not answer in time: its script runs for ever, or its process is stuck."""


class GoneError(RuntimeError):
    """There is no tab left to act on."""
