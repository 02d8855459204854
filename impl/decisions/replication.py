"""What a master sends to a slave and takes for replicated, and what a slave accepts. Offsets are those of the log."""

from __future__ import annotations

from impl.decisions.java_arithmetic import remainder, wrap64

HA_SLAVE_FALLBEHIND_MAX_BYTES = 256 * 1024 * 1024  # MessageStoreConfig
NO_REQUEST_OFFSET = -1  # HAConnection#slaveRequestOffset before the slave's first report


def is_slave_ok(
    connections: int, master_put_where: int, push2_slave_max_offset: int,
    fall_behind_max_bytes: int = HA_SLAVE_FALLBEHIND_MAX_BYTES,
) -> bool:
    """HAService#isSlaveOK: whether a put waits for a slave; otherwise it is answered SLAVE_NOT_AVAILABLE.

    master_put_where -- the end of the record. push2_slave_max_offset -- the greatest offset that any slave has reported
    since the master started.
    """
    return connections > 0 and wrap64(master_put_where - push2_slave_max_offset) < fall_behind_max_bytes


def is_transferred(push2_slave_max_offset: int, next_offset: int) -> bool:
    """GroupTransferService#doWaitTransfer: whether a record that ends at next_offset counts as replicated."""
    return push2_slave_max_offset >= next_offset


def is_report_accepted(slave_request_offset: int, slave_ack_offset: int, max_phy_offset: int) -> bool:
    """HAConnection.ReadSocketService#processReadEvent: whether the connection goes on after a slave's report.

    slave_request_offset -- the first report, NO_REQUEST_OFFSET while this is it: nobody compares that one.
    max_phy_offset -- the end of the master's log.
    """
    return slave_request_offset < 0 or slave_ack_offset <= max_phy_offset


def first_transfer_offset(slave_request_offset: int, max_offset: int, mapped_file_size: int) -> int:
    """HAConnection.WriteSocketService#run: where the transfer begins; for an empty slave at the master's last file."""
    if slave_request_offset != 0:
        return slave_request_offset
    last_file = max_offset - remainder(max_offset, mapped_file_size)
    if last_file < 0:
        return 0
    return last_file


def is_frame_accepted(slave_max_offset: int, master_offset: int) -> bool:
    """HAClient#dispatchReadRequest: whether a slave takes a frame that begins at an offset; an empty one takes any."""
    return slave_max_offset == 0 or slave_max_offset == master_offset  # noqa: PLR1714  a symbol is compared, not sought
