"""What the parser makes where no type says what is wanted, as far as it is not a Python object of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from impl.decisions.java_calendar import DAY_MS, time_millis_to_human_string3
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
        text = time_millis_to_human_string3(self.time_ms)
        date, clock = text[:-6], text[-6:]
        weekday = _WEEKDAYS[(self.time_ms // DAY_MS) % 7]
        time = f"{clock[:2]}:{clock[2:4]}:{clock[4:]}"
        return f"{weekday} {_MONTHS[int(date[-4:-2]) - 1]} {date[-2:]} {time} UTC {date[:-4]}"


_WEEKDAYS = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")  # from 1970-01-01 on
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
