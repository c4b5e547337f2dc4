"""The two kinds of error that are not bugs. Anything else propagates with its traceback."""


class UserError(ValueError):
    """The user's mistake. Its message is one line that names the fix; the CLI exits with code 2."""


class InfrastructureError(RuntimeError):
    """Ours, not the agent's: a lost sandbox, a dead endpoint, a broken verifier.

    An environment that raises it ends the episode as `Status.ABORTED`: the episode is retried, counted, and never
    scored or trained on.
    """
