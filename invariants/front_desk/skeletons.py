"""Files to begin with: a change of RocketMQ, and an allocation strategy of one's own."""

from __future__ import annotations

from pathlib import Path

from invariants.verdict import BadInputError

CHANGE = '''"""A change: a heartbeat looks a topic up and puts it in one step, as Map#compute does. Make it yours.

    rocketproof compare {file} --base shipped               what is fixed, broken, unchanged?
    rocketproof campaign --variant {file} --minutes 2       did anything get worse, in simulated worlds?
    rocketproof machine subscription --variant {file}       is there a short program that shows it?

It lies on 4.9.3 with all repairs but those that would cover it; --base shipped lays it on 4.9.3 as it is.
docs/variants.md has more: functions of modules, constants, fields, planted bugs, repairs.
"""

from impl.broker.consumer_group_info import ConsumerGroupInfo  # ConsumerGroupInfo.java; impl/ has the same names
from impl.variants.change import field, new, patch
from impl.variants.variant import Variant


@patch(ConsumerGroupInfo)
class Changed:
    """What stands here is written into the class: the same name takes the place of what is there."""

    puts = field(0)  # a new field of each object

    async def add_subscriptions(self, sub_list, threads):  # the first loop of updateSubscription
        updated = False
        for sub in sub_list:
            await threads.interleave("updateSubscription: before compute")  # another thread may run here, only here
            updated |= self.compute(sub)
        return updated

    @new  # a new method says so, so that a name that is misspelt is not taken for one
    def compute(self, sub):
        old = self.subscription_table.get(sub.topic)
        if old is None or sub.sub_version > old.sub_version:
            self.subscription_table.put(sub.topic, sub)
            self.puts += 1
        return old is None


VARIANT = Variant(
    "{name}",
    "change",  # nothing may get worse; "bug" is planted to be noticed, "repair" makes its hazards=("B-29",) go away
    "A topic is looked up and put in one step.",
    replacements=Changed,  # several classes: (*First, *Second)
)
'''

STRATEGY = '''"""An allocation strategy: queue k goes to the member at place k modulo their number. Make it yours.

    rocketproof check allocation --python {file}:{name}

That asks for all small groups, smallest first, and shows the smallest one that goes wrong. docs/decisions.md has more.
"""


class {name}:
    """Made without arguments."""

    def allocate(self, consumer_group, current_cid, mq_all, cid_all):
        """The queues of one member; every member asks for itself, with its own lists.

        consumer_group -- a text. current_cid -- the client id of the member. mq_all -- all queues of the topic, sorted,
        each with topic, broker_name and queue_id. cid_all -- the client ids of all members, sorted.
        """
        if current_cid not in cid_all:
            return []  # a broker has not heard of this member yet
        place = cid_all.index(current_cid)
        return [queue for k, queue in enumerate(mq_all) if k % len(cid_all) == place]
'''


def write_change(path: Path) -> str:
    """Write a change that runs; returns the command that compares it with 4.9.3.

    Raises BadInputError where it cannot be written.
    """
    write(path, CHANGE.format(file=path, name=path.stem.replace("_", "-")))
    return f"rocketproof compare {path} --base shipped"


def write_strategy(path: Path) -> str:
    """Write a strategy that runs; returns the command that judges it. Raises BadInputError as `write_change`."""
    name = "".join(word.capitalize() for word in path.stem.split("_"))
    if not name.isidentifier():
        raise BadInputError(f"{path}: its name is no name of Python; call it my_strategy.py")
    write(path, STRATEGY.format(file=path, name=name),
          ", or let a program in any language answer `check allocation --exec` (docs/adapters.md)")
    return f"rocketproof check allocation --python {path}:{name}"


def write(path: Path, text: str, otherwise: str = "") -> None:
    """Write a Python file that is not there yet; otherwise -- what to do instead in another language."""
    if path.suffix != ".py":
        raise BadInputError(f"{path}: no Python file; call it {path.with_suffix('.py')}{otherwise}")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}; give a file that can be written and is not there yet") from None
