"""What is promised of an allocation strategy as a whole: claims over the answers of any, ours, Java's or a user's.

A strategy is a function (group, me, queues, members) -> queues. A *case* says what each member sees; `observe` asks
the strategy for each member; each claim looks at the answers and says in one sentence what is wrong, or None. The
premise of the promises is that all members see equal, sorted lists of distinct elements (EQUAL_LISTS). The other kinds
of inputs break it on purpose, one way each: the hazards. SHIPPED is the table of what is expected of RocketMQ's
strategies.

Everything here is a pure function of plain values: an executor on a cluster can import it.
"""

