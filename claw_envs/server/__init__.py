"""The environment server, which hosts whole environments for clients elsewhere, and the client that looks like one."""
