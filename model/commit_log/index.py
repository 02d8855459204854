"""`Index`: whether the index of one store has the keys of each record that was dispatched (V13, V27)."""

from __future__ import annotations

from model.commit_log.store import Position
from model.language import FALSE, TRUE, Bool, State, Table, action, every, forall, initially, require


class Index(State):
    """The index of one store: whether it has the keys of each record that was dispatched."""

    up: Bool
    dark: Bool                        # the machine has lost its power since
    clean: Bool                       # there is no file abort
    end: Position                     # CommitLog#getMaxOffset
    built: Position                   # all before was dispatched to the index
    safe: Position                    # what lies before is in files that are full and forced
    entry: Table[Position, Bool]      # IndexFile#putKey


@initially
def without_keys(s: Index) -> Bool:
    """Nothing is stored, and the store is up."""
    return (s.up & ~s.dark & ~s.clean & (s.end == 0) & (s.built == 0) & (s.safe == 0)
            & forall(~s.entry[p] for p in every(Position)))


@action("CommitLog#asyncPutMessage", atomic_by="putMessageLock")
def append_keyed(s: Index) -> None:
    """A record with a key is appended."""
    require(s.up, by="DefaultMessageStore#checkStoreStatus")
    s.end = s.end + 1


@action("IndexService#buildIndex")
def build(s: Index) -> None:
    """The keys of the next record are put into the newest file."""
    require(s.up, s.built < s.end, by="ReputMessageService#isCommitLogAvailable")
    s.entry[s.built] = TRUE
    s.built = s.built + 1


@action("IndexService#getAndCreateLastIndexFile, #flush")
def roll(s: Index) -> None:
    """The newest file is full, is forced, and the next one begins."""
    require(s.up, s.safe < s.built, by="IndexFile#isWriteFull")
    s.safe = s.built


@action("DefaultMessageStore#shutdown")
def stop_unforced(s: Index) -> None:
    """An orderly stop deletes the file abort, and forces nothing of the index."""
    require(s.up, s.built == s.end, by="DefaultMessageStore#shutdown")
    s.up = FALSE
    s.clean = TRUE


@action("kill -9", environment=True)
def kill_index(s: Index) -> None:
    """The process ends; what it has written stays."""
    require(s.up, by="kill(2)")
    s.up = FALSE


@action("power loss", environment=True)
def darken(s: Index) -> None:
    """The machine is off after a process that had not stopped; what was not forced may be gone."""
    require(~s.dark, ~s.clean, by="fsync(2)")
    s.up = FALSE
    s.dark = TRUE


@action("power loss after an orderly stop", environment=True)
def darken_stopped(s: Index) -> None:
    """The machine is off soon after an orderly stop, which has forced nothing of the index (V27)."""
    require(~s.dark, s.clean, by="fsync(2)")
    s.dark = TRUE


@action("power loss", environment=True)
def lose_entry(s: Index, p: Position) -> None:
    """An entry was not forced, and is gone."""
    require(s.dark, s.safe <= p, p < s.built, by="fsync(2)")
    s.entry[p] = FALSE


def build_again(s: Index, start: Position) -> None:
    """IndexService#load deletes the newest file after a crash; recovery puts the keys of what it dispatches."""
    s.up = TRUE
    s.dark = FALSE
    s.built = start
    for p in every(Position):
        s.entry[p] = s.entry[p] & (p < s.safe)


@action("IndexService#load, CommitLog#recoverAbnormally")
def load_safely(s: Index, start: Position) -> None:
    """Recovery begins with what the deleted file began with: with messageIndexSafe the checkpoint sees to it."""
    require(~s.up, ~s.clean, by="DefaultMessageStore#isTempFileExist")
    require(start <= s.built, by="StoreCheckpoint#getMinTimestamp")
    require((start < s.end) | (start == 0), by="CommitLog#isMappedFileMatchedRecover")
    require(start <= s.safe)
    build_again(s, start)


@action("IndexService#load, CommitLog#recoverAbnormally")
def load_late(s: Index, start: Position) -> None:
    """Recovery begins behind what the deleted file began with (V13)."""
    require(~s.up, ~s.clean, by="DefaultMessageStore#isTempFileExist")
    require(start <= s.built, by="StoreCheckpoint#getMinTimestamp")
    require((start < s.end) | (start == 0), by="CommitLog#isMappedFileMatchedRecover")
    require(~(start <= s.safe))
    build_again(s, start)


@action("IndexService#load, CommitLog#recoverNormally")
def load_clean(s: Index) -> None:
    """After an orderly stop the files are taken as they are."""
    require(~s.up, s.clean, by="DefaultMessageStore#isTempFileExist")
    s.up = TRUE
    s.dark = FALSE
    s.clean = FALSE
