"""The JSON of fastjson 1.2.76, as RocketMQ 4.9.3 uses it: what it writes, reads and refuses.

Odd texts are odd in fastjson's own way, because servers decode what anybody sends: a closing brace alone is an empty
object, an empty list is null, a field that is spelt differently is found all the same. Left out is what no RocketMQ of
this version writes: references ($ref), texts of dates where a number is expected, and type names (@type) but for the
refusal of one that is not expected.
"""
