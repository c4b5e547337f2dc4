"""The file that OpenRLHF's `--train.agent_func_path` names: each engine loads it and makes its one class."""

from trainers.openrlhf.executor import EpisodeExecutor


class AgentExecutor(EpisodeExecutor):
    """The name that OpenRLHF looks for."""
