"""Peers: what a user would pick instead, each a script of its own that imports nothing of limbeck.

A peer runs in a process of its own, perhaps in an environment of its own (peers ask for versions
of libraries that exclude each other). It is told by a JSON file what to do and speaks in lines:
it prints {"ready": ...} once it is loaded, and for each line "go" it reads it does all texts once
and prints {"done": true}; for "say" it prints what it found.
"""
