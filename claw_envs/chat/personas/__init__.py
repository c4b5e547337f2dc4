"""Who the simulated users are: for each persona its check (what it thinks of a reply) and what an LLM is told to play."""
