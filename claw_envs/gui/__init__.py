"""`claw/gui-v0`: agents that use a computer: a browser, a desktop, or OSWorld's machines."""
