"""Who provides the machines of episodes: a list of the user's, containers of ours, or a provider of the user's."""
