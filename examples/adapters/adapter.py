"""An adapter in Python: RocketMQ's AVG, answered as JSON lines (docs/adapters.md)."""

import json
import sys


def average(a):
    """AllocateMessageQueueAveragely#allocate."""
    queues, members = a["mqAll"], a["cidAll"]
    if not a["cid"]:
        raise ValueError("currentCID is empty")
    if not queues:
        raise ValueError("mqAll is null or mqAll empty")
    if not members:
        raise ValueError("cidAll is null or cidAll empty")
    if a["cid"] not in members:
        return []
    index, (share, more) = members.index(a["cid"]), divmod(len(queues), len(members))
    start = index * share + min(index, more)
    return queues[start:start + share + (index < more)]


FUNCTIONS = {"allocate": average, "AVG": average}


def answer(function, a):
    """The answer to one call: a result, or an error."""
    try:
        return {"r": FUNCTIONS[function](a)}
    except Exception as error:
        return {"e": type(error).__name__, "m": str(error)}


for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "hello":
        reply = {"protocol": 1, "name": "example in Python", "functions": list(FUNCTIONS), "batch": True}
    else:
        reply = {"answers": [answer(asked["function"], a) for a in asked["calls"]]}
    print(json.dumps({"id": asked["id"], **reply}), flush=True)
