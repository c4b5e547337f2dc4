"""The program that runs inside the machine: starts the desktop, acts on it and looks at it.

It runs on the machine's own `/usr/bin/python3` with Debian's `python3-xlib`, `python3-gi` and `python3-pil`, and
imports nothing else of claw-envs. It is talked to over its standard input and output (`__main__`), or by OSWorld's HTTP
protocol (`http`); both offer what `machine.Machine` does.
"""
