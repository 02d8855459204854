"""The commands of `rocketproof`: each file has those of one subject, and is a place where parts are put together.

A command imports its engine when it runs, so that --help is there at once.
"""
