"""Built-in task sets. Data only: one folder a family."""
