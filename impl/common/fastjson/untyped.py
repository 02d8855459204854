"""What the parser makes where no type says what is wanted, as far as it is not a Python object of its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from impl.hash_map import HashMap


class JSONObject(HashMap[str, Any]):
    """`com.alibaba.fastjson.JSONObject`: a Map, but no HashMap. keys_in_order -- as they were put."""

    __slots__ = ("keys_in_order",)

    def __init__(self) -> None:
        """Have no entries."""
        super().__init__()
        self.keys_in_order: list[Any] = []

    def put(self, key: Any, value: Any) -> Any:
        """Map#put."""
        if not self.contains_key(key):
            self.keys_in_order.append(key)
        return super().put(key, value)


class ObjectKey(str):
    """The text of a key that is an object or a list; it is written without quotes."""

    __slots__ = ()


class JavaSet(list[Any]):
    """A HashSet, its items in the order in which they were read."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class JavaDate:
    """A java.util.Date."""

    time_ms: int

    def __str__(self) -> str:
        """Date#toString, in the time zone UTC."""
        days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        try:
            time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=self.time_ms)
        except OverflowError:
            return f"Date({self.time_ms})"  # of another calendar than Python's
        return f"{days[time.weekday()]} {months[time.month - 1]} {time:%d %H:%M:%S} UTC {time.year}"
