"""Who the simulated users are: each persona's check (what it thinks of a reply) and the role that an LLM is to play."""
