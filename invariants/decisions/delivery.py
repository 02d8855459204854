"""What is promised of delayed and transactional messages."""

from __future__ import annotations

from typing import Annotated

from impl.decisions import retry_level, transaction_check
from invariants.claim import assume, decision
from invariants.domains import Int32, Integers

Offset = Annotated[int, Integers(0, 2**60, (0, 1, 2, 3))]
Moment = Annotated[int, Integers(0, 2**60, (0, 1, 2, 5_999, 6_000, 6_001))]
Skew = Annotated[int, Integers(-(2**40), 2**40, (-3_600_001, -1, 0, 1, 3_600_001))]
Times = Annotated[int, Integers(1, 2**31 - 2, (1, 2, 14, 15, 16))]
Hours = Annotated[int, Integers(0, 2**20, (0, 1, 72))]
Age = Annotated[int, Integers(-(2**40), 2**40, (-2, -1, 0, 1, 5_999, 6_000, 6_001))]
Timeout = Annotated[int, Integers(0, 2**40, (0, 1, 6_000))]
Seconds = Annotated[int, Integers(0, 2**40, (0, 1, 6, 100))]

# Delayed messages -----------------------------------------------------------------------------------------------------


@decision(of=retry_level.correct_delay_offset, promises="delayed_message_is_delivered")
def loaded_offset_lies_in_its_queue(offset: Offset, first: Offset, messages: Offset) -> bool:
    """The offset that a level goes on with after a load lies in its queue, and stays where it was if it did."""
    corrected = retry_level.correct_delay_offset(offset, first, first + messages)
    if first <= offset <= first + messages:
        return corrected == offset
    return corrected == (first if offset < first else first + messages)


@decision(of=retry_level.reset_delay_offset, promises="delayed_message_is_delivered")
def reset_offset_passes_no_message(offset: Offset, first: Offset, messages: Offset) -> bool:
    """A level that finds no message at its offset goes to one of its queue, and passes none that is there."""
    reset = retry_level.reset_delay_offset(offset, first, first + messages)
    return first <= reset <= first + messages and (reset <= offset or reset == first)


@decision(of=retry_level.reset_delay_offset, promises="delayed_message_is_delivered")
def reset_offset_goes_back_no_further_than_the_end(offset: Offset, first: Offset, messages: Offset) -> bool:
    """A level that is not before its queue stays where it is, or goes back to the end and so repeats no message."""
    assume(first <= offset)
    reset = retry_level.reset_delay_offset(offset, first, first + messages)
    return reset == offset or (reset < offset and reset == first + messages)


@decision(of=retry_level.offset_after_delivery, promises="delayed_message_is_delivered")
def noted_offset_passes_no_waiting_message(first: Offset, delivered: Offset) -> bool:
    """What is noted after a delivery passes no message behind the one that was delivered."""
    assume(first <= delivered)
    return retry_level.offset_after_delivery(first) <= delivered + 1


@decision(of=retry_level.offset_after_delivery, promises="delivery_is_noted", shipped="violated: V19")
def delivery_is_noted_behind_its_message(first: Offset, delivered: Offset) -> bool:
    """After each delivery of a look, whose first unit is `first`, a restart goes on behind that message."""
    assume(first <= delivered)
    return retry_level.offset_after_delivery(first) == delivered + 1


@decision(of=retry_level.offset_after_delivery, promises="delivery_is_noted")
def first_delivery_is_noted_behind_its_message(first: Offset) -> bool:
    """After the first delivery of a look a restart goes on behind that message."""
    return retry_level.offset_after_delivery(first) == first + 1


# Transactional messages -----------------------------------------------------------------------------------------------


@decision(of=(transaction_check.need_discard, transaction_check.next_check_times),
          promises="half_message_is_given_up_in_time")
def producer_is_asked_so_often_and_no_more(times: Times, most: Times) -> bool:
    """A message that is not given up was asked for less often than is allowed, and its copy says once more."""
    if transaction_check.need_discard(times, most):
        return times >= most
    return transaction_check.next_check_times(times) == times + 1 <= most


@decision(of=(transaction_check.need_discard, transaction_check.next_check_times),
          promises="half_message_is_given_up_in_time")
def producer_is_asked_at_least_once(most: Int32) -> bool:
    """A message that nobody was asked for is not given up for its checks, and its copy says that this is the first."""
    return (not transaction_check.need_discard(None, most)) and transaction_check.next_check_times(None) == 1


@decision(of=transaction_check.need_skip, promises="half_message_is_given_up_in_time",
          few={"now": (0, 1, 7_200_000), "age": (-1, 0, 1, 3_600_000, 3_600_001, 7_200_000, 7_200_001),
               "hours": (0, 1, 2)})
def message_is_given_up_when_files_of_its_age_go(now: Moment, age: Age, hours: Hours) -> bool:
    """A message is given up for its age exactly if it is older than the time for which files are kept.

    age -- by the clock of its producer.
    """
    return transaction_check.need_skip(now, now - age, hours) == (age > hours * 3_600_000)


@decision(of=transaction_check.need_skip, promises="half_message_is_given_up_in_time", shipped="violated: T1")
def message_of_any_clock_is_kept_as_long_as_files(now: Moment, stored: Moment, skew: Skew, hours: Hours) -> bool:
    """A message that was stored within the time for which files are kept is not given up for its age.

    skew -- how far the clock of its producer is ahead.
    """
    assume(now - stored <= hours * 3_600_000)
    return not transaction_check.need_skip(now, stored + skew, hours)


@decision(of=transaction_check.need_skip, promises="half_message_is_given_up_in_time")
def message_of_a_fast_clock_is_kept_as_long_as_files(now: Moment, stored: Moment, skew: Skew, hours: Hours) -> bool:
    """The same, of a producer whose clock is not behind."""
    assume(now - stored <= hours * 3_600_000)
    assume(skew >= 0)
    return not transaction_check.need_skip(now, stored + skew, hours)


@decision(of=(transaction_check.is_immune, transaction_check.is_need_check, transaction_check.check_immunity_time_ms),
          promises="producer_has_time_to_answer", shipped="violated: T1")
def nobody_is_asked_within_the_timeout(age: Age, start: Moment, timeout: Timeout) -> bool:
    """A producer is not asked for a message that is younger than the timeout; age -- by the producer's clock."""
    immunity = transaction_check.check_immunity_time_ms(None, timeout)
    assume(age < timeout)
    return (transaction_check.is_immune(age, immunity, own_immunity=False)
            or not transaction_check.is_need_check(age, immunity, None, start, timeout))


@decision(of=(transaction_check.is_immune, transaction_check.is_need_check, transaction_check.check_immunity_time_ms),
          promises="producer_has_time_to_answer")
def nobody_with_a_right_clock_is_asked_within_the_timeout(age: Age, start: Moment, timeout: Timeout) -> bool:
    """The same, of a producer whose clock is not ahead."""
    immunity = transaction_check.check_immunity_time_ms(None, timeout)
    assume(0 <= age < timeout)
    return (transaction_check.is_immune(age, immunity, own_immunity=False)
            or not transaction_check.is_need_check(age, immunity, None, start, timeout))


@decision(of=(transaction_check.is_immune, transaction_check.is_need_check), promises="half_message_is_checked")
def old_message_is_asked_for(age: Age, immunity: Timeout, start: Moment, timeout: Timeout, own: bool) -> bool:
    """Without op messages left to read, the producer of a message that is older than its immunity is asked."""
    assume(age > immunity)
    return (not transaction_check.is_immune(age, immunity, own_immunity=own)
            and transaction_check.is_need_check(age, immunity, None, start, timeout))


@decision(of=transaction_check.is_immune, promises="producer_has_time_to_answer", few={"immunity": (-1, 0, 1, 2)})
def message_is_immune_while_it_is_young(age: Age, immunity: Age, own: bool) -> bool:
    """A message is immune exactly as long as it is younger than its immunity time.

    A message from the future, by the clock of its producer, is immune only if it has an immunity time of its own.
    """
    immune = transaction_check.is_immune(age, immunity, own_immunity=own)
    if age < 0 and not own:
        return not immune
    return immune == (age < immunity)


@decision(of=transaction_check.is_need_check, promises="half_message_is_checked",
          few={"age": (-2, -1, 0, 1, 2), "immunity": (-1, 0, 1), "start": (0, 1, 5), "timeout": (0, 1, 6)})
def producer_is_asked_when_immunity_ends(age: Age, immunity: Age, start: Moment, timeout: Timeout) -> bool:
    """When no op message is left to read, the producer of a message is asked exactly if it is older than its immunity.

    A message from the future is asked for whatever its immunity.
    """
    asked = transaction_check.is_need_check(age, immunity, None, start, timeout)
    return asked if age < 0 else asked == (age > immunity)


@decision(of=transaction_check.is_need_check, promises="half_message_is_checked",
          few={"age": (-2, -1, 0, 1, 2), "immunity": (-1, 0, 1), "start": (0, 1, 3), "after": (-1, 0, 1, 2),
               "timeout": (0, 1)})
def producer_is_asked_when_op_messages_are_late(
    age: Age, immunity: Age, start: Moment, after: Skew, timeout: Timeout,
) -> bool:
    """While op messages are read, a producer is asked exactly if the last one was made too late in the round.

    Too late is more than the timeout after the round began. A message from the future is asked for in any case.
    after -- how long after the start of the round the last op message that was read was made.
    """
    asked = transaction_check.is_need_check(age, immunity, start + after, start, timeout)
    return asked if age < 0 else asked == (after > timeout)


@decision(of=transaction_check.check_immunity_time_ms, promises="producer_has_time_to_answer")
def unreadable_immunity_is_the_timeout(timeout: Timeout) -> bool:
    """A message whose number of seconds cannot be read is immune for the timeout, and so is one that says nothing."""
    no_number, nothing = (transaction_check.check_immunity_time_ms(seconds, timeout) for seconds in (-1, None))
    return no_number == timeout == nothing


@decision(of=transaction_check.check_immunity_time_ms, promises="producer_has_time_to_answer")
def own_immunity_is_what_the_message_says(seconds: Seconds, timeout: Timeout) -> bool:
    """A message that says for how many seconds it is immune is immune so long."""
    return transaction_check.check_immunity_time_ms(seconds, timeout) == 1000 * seconds


@decision(of=transaction_check.calculate_op_offset, promises="op_message_is_not_forgotten")
def op_progress_passes_done_messages_only(old: Offset, first: Offset, second: Offset) -> bool:
    """The progress in the op queue passes a message only if it is done."""
    new = transaction_check.calculate_op_offset((first, second), old)
    old_is_done = old == first or old == second  # noqa: PLR1714  symbols have no hash
    next_is_done = old + 1 == first or old + 1 == second
    return new == old or (old_is_done and (new == old + 1 or (new == old + 2 and next_is_done)))


@decision(of=transaction_check.calculate_op_offset, promises="op_message_is_read_once")
def op_progress_stops_at_a_waiting_message_only(old: Offset, first: Offset, second: Offset) -> bool:
    """The progress in the op queue does not stop at a message that is done.

    No message that is done lies before the old progress, for reading begins there, and each is read once.
    """
    assume(old <= first, old <= second, first != second)
    new = transaction_check.calculate_op_offset((first, second), old)
    return new not in (first, second)


@decision(of=transaction_check.is_done_before, promises="op_message_is_not_forgotten")
def op_message_of_a_waiting_half_message_is_kept(half: Offset, progress: Offset) -> bool:
    """An op message counts as done at once only if the check has passed its half message."""
    return transaction_check.is_done_before(half, progress) == (half < progress)


@decision(of=transaction_check.wrong_prepare_message, promises="request_ends_its_own_message")
def only_the_message_that_is_named_is_ended(
    group: bool, queue: Offset, asked_queue: Offset, log: Offset, asked_log: Offset,
) -> bool:
    """A request ends a message only if its group, its queue offset and its place in the log are those it names."""
    remark = transaction_check.wrong_prepare_message(
        group_is_right=group, queue_offset=queue, asked_queue_offset=asked_queue, log_offset=log,
        asked_log_offset=asked_log)
    return (remark is None) == (group and queue == asked_queue and log == asked_log)
