"""A broker's store: the log with its queues (`store`), and the index file beside it (`index`).

Both say what of them is on the disk, and how a start finds them again. A crash ends the process; after a loss of power
what was not forced may be gone, each record, unit or entry by itself.
"""
