"""Scripted experts for the pages of MiniWoB++: they do what a page wants by what the observation's text shows of it."""
