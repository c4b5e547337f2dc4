"""The two kinds of error that are not bugs. Anything else propagates with its traceback."""


class UserError(ValueError):
    """The user's mistake. Its message is one line that names the fix; the CLI exits with code 2."""


class InfrastructureError(RuntimeError):
    """Ours, not the agent's: a lost sandbox, a dead endpoint, a broken verifier.

    An environment that raises it ends the episode as `Status.ABORTED`: the episode is retried, counted, and never
    scored or trained on.
    """


class ContextFull(InfrastructureError):  # noqa: N818 - a limit that is reached, not a fault
    """The conversation no longer fits the model's context; asking again gives the same answer.

    Where it is the agent's model, the episode ends as `Status.TRUNCATED` and is scored as it stands. For whoever asks
    another model (a judge, a simulated user) it is an infrastructure error like any other.
    """
