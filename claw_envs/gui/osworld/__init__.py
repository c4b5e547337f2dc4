"""OSWorld's task format and its machines: loader, set-up, evaluators, and a client of its in-VM HTTP protocol."""
