"""What a group has consumed of one queue: pulled, cached, settled, committed, handed over, reset.

Of the queue itself (`queue`) only its end counts. Concurrent consumers hand it over to each other (`concurrent`); an
ordered one keeps it (`ordered`).
"""
