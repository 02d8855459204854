"""Fresh messages, ids, texts and bytes for the live comparison, in the words of the recordings' arguments."""

from __future__ import annotations

import json
import random
import zlib
from typing import Any

_PARTS = (
    "KEYS", "TAGS", "DELAY", "WAIT", "a", "b c", "1", "18", "19", "-1", "+3", "2147483648", "x", "\x01", "\x02", "\x00",
    "é", "ß", "订单", "𝄞", "\ud83d", "\ude00", "٣", "",
)
_BYTE_PARTS = (  # UTF-8 and what looks like it
    b"T", b"\x01", b"\x02", b"\xc3\xa9", b"\xe4\xb8\xad", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"\xed\xb0", b"\xed",
    b"\xa0", b"\xe0\x80", b"\xe4\xb8", b"\xf0\x90", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xff", b"\x80",
)
_TOPICS = ("TopicTest", "T", "SCHEDULE_TOPIC_XXXX", "%RETRY%G", "订单", "t" * 127, "t" * 128, "t" * 255, "t" * 256, "")
_DIGITS = "0123456789abcdefABCDEF"
_INT_EDGES = (0, 1, -1, 2**31 - 1, -(2**31))
_LONG_EDGES = (0, 1, -1, 1_700_000_000_000, 2**63 - 1, -(2**63))
MAX_MESSAGE_SIZE = 4096  # that of the recordings
NAMES = (
    "appended-records", "batch-codec", "bloom", "bytes", "message-codec", "message-id", "properties-to-string",
    "record-encode-check", "string-to-properties", "unique-id",
)


class MessageInputs:
    """Arguments `a` of rows of the recordings in NAMES, drawn from a generator that others may draw from too."""

    def __init__(self, dice: random.Random) -> None:
        """Draw from these dice."""
        self._dice = dice

    def arguments(self, name: str) -> Any:
        """The arguments of one row."""
        made: Any = getattr(self, f"_{name.replace('-', '_')}")
        return json.loads(json.dumps(made()))

    def _chance(self, percent: int) -> bool:
        return self._dice.randrange(100) < percent

    def _int(self) -> int:
        return self._dice.choice(_INT_EDGES) if self._chance(60) else self._dice.randint(-(2**31), 2**31 - 1)

    def _long(self) -> int:
        return self._dice.choice(_LONG_EDGES) if self._chance(60) else self._dice.randint(-(2**63), 2**63 - 1)

    def _text(self, parts: int) -> str:
        return "".join(self._dice.choices(_PARTS, k=self._dice.randint(0, parts)))

    def _data(self, parts: int) -> bytes:
        """Bytes that are nearly a text, or any."""
        if self._chance(50):
            return b"".join(self._dice.choices(_BYTE_PARTS, k=self._dice.randint(0, parts)))
        return self._dice.randbytes(self._dice.randint(0, parts))

    def _pairs(self) -> list[list[str]]:
        """Properties in their order, each name once; too many bytes of them now and then."""
        pairs = {self._text(2): self._text(3) for _ in range(self._dice.randint(0, 4))}
        if self._chance(2):
            pairs["long"] = "v" * self._dice.choice((32_761, 32_762, 32_763, 40_000))
        return [[name, value] for name, value in pairs.items()]

    def _host(self) -> list[Any]:
        """Address and port: IPv4, IPv6, or the first written as the second."""
        address = self._dice.randbytes(16) if self._chance(25) else self._dice.randbytes(4)
        if self._chance(8):
            address = bytes(10) + b"\xff\xff" + self._dice.randbytes(4)
        return [address.hex(), self._dice.choice((0, 10911, 65535, self._dice.randrange(65536)))]

    def _fields(self, *, odd_flags: tuple[int, ...] = ()) -> dict[str, Any]:
        """The fields of a message; odd_flags -- host bits of a tenth of the messages, whatever their hosts are."""
        body = self._data(60) * self._dice.choice((1, 1, 20))
        born, store = self._host(), self._host()
        sys_flag = self._dice.choice((0, 0, 1, 2, 3, 4, 8, 12, 64))
        if odd_flags and self._chance(10):
            sys_flag |= self._dice.choice(odd_flags)
        else:
            sys_flag |= 16 * self._is_v6(born) | 32 * self._is_v6(store)
        return {
            "topic": self._text(4) if self._chance(15) else self._dice.choice(_TOPICS), "body": body.hex(),
            "sysFlag": sys_flag, "flag": self._int(), "queueId": self._int(), "born": self._long(), "bornHost": born,
            "store": self._long(), "storeHost": store, "reconsume": self._int(), "prepared": self._long(),
            "bodyCRC": zlib.crc32(body) & 0x7FFFFFFF if self._chance(80) else self._int(),
        }

    @staticmethod
    def _is_v6(host: list[Any]) -> bool:
        """Whether Java sees an Inet6Address: one that maps an IPv4 address is an Inet4Address."""
        address = bytes.fromhex(host[0])
        return len(address) == 16 and not address.startswith(bytes(10) + b"\xff\xff")  # noqa: PLR2004  an IPv6 address

    # Each recording -------------------------------------------------------------------------------------------------

    def _message_codec(self) -> dict[str, Any]:
        """Damage -- numbers from which the worker chooses where the record is cut and which bit is turned over."""
        # A flag that makes hosts longer than they are would have the body's length read at a wrong place; whether there
        # is memory for it depends on the JVM.
        offsets = {"queueOffset": self._long(), "commitLogOffset": self._long()}
        return {
            **self._fields(odd_flags=(0,)), **offsets, "properties": self._pairs(), "compress": self._chance(50),
            "damage": [self._dice.randrange(2**16) for _ in range(6)],
        }

    def _record_encode_check(self) -> dict[str, Any]:
        fields = self._fields(odd_flags=(0, 16, 32, 48))
        kind = self._dice.randrange(4)
        properties = (None, self._text(8), "\x02".join("\x01".join(pair) for pair in self._pairs()),
                      f"DELAY\x01{self._dice.choice(_PARTS[6:13])}\x02TAGS\x01{self._text(1)}\x02KEYS\x01a b")[kind]
        return {**fields, "properties": properties, "damage": [self._dice.randrange(2**16) for _ in range(6)]}

    def _appended_records(self) -> dict[str, Any]:
        """One message, or a batch of some; into a file that has room for it, or nearly."""
        place = {
            "max": self._dice.choice((MAX_MESSAGE_SIZE, 300)), "room": self._dice.randint(8, 600),
            "from": self._dice.choice((0, 2**30, 2**40)), "position": self._dice.randrange(2**20),
            "queueOffset": self._dice.choice((0, 1, 2**40)), "storedAt": self._long(),
        }
        fields = self._fields()
        fields["sysFlag"] &= ~12  # no transactions: they are the commit log's business
        if self._chance(30):
            text = "\x02".join("\x01".join(pair) for pair in self._pairs())
            return {**fields, **place, "properties": text, "messages": None}
        messages, properties = [self._batched() for _ in range(self._dice.randint(1, 4))], self._pairs()
        if self._chance(4):  # properties that are short enough each, and together nearly too long, or too long
            place = {**place, "max": 70_000, "room": 100_000}
            messages[-1]["properties"] = [["own", "v" * 32_700]]
            properties = [["common", "v" * self._dice.choice((54, 55, 56, 57, 58, 1000))]]
        return {**fields, **place, "properties": properties, "messages": messages}

    def _batched(self) -> dict[str, Any]:
        return {"flag": self._int(), "body": self._data(40).hex(), "properties": self._pairs()}

    def _batch_codec(self) -> list[dict[str, Any]]:
        return [self._batched() for _ in range(self._dice.randint(0, 4))]

    def _message_id(self) -> dict[str, Any]:
        if self._chance(50):
            ip, port = self._host()
            return {"ip": ip, "port": port, "offset": self._long()}
        return {"id": self._id((0, 31, 32, 33, 48, 55, 56, 57))}

    def _unique_id(self) -> dict[str, Any]:
        return {"id": self._id((1, 7, 8, 24, 31, 32, 55, 56, 57))}

    def _id(self, lengths: tuple[int, ...]) -> str:
        digits = "".join(self._dice.choices(_DIGITS, k=self._dice.choice(lengths)))
        if self._chance(60):
            return digits
        place = self._dice.randint(0, len(digits))
        return f"{digits[:place]}{self._text(2)}{digits[place:]}"

    def _properties_to_string(self) -> list[list[str | None]] | None:
        if self._chance(3):
            return None
        pairs = {None if self._chance(5) else name: None if self._chance(10) else value
                 for name, value in self._pairs()}
        return [[name, value] for name, value in pairs.items()]

    def _string_to_properties(self) -> str | None:
        return None if self._chance(1) else self._text(12)

    def _bytes(self) -> list[Any]:
        name = self._dice.choice(("crc32", "crc32/3", "bytes2string", "string2bytes", "uncompress", "offset2FileName"))
        data = self._data(40)
        match name:
            case "string2bytes":
                return [name, self._id((0, 1, 2, 9))]
            case "crc32/3":
                return [name, data.hex(), self._dice.randint(-1, 9), self._dice.randint(-1, 9)]
            case "offset2FileName":
                return [name, self._long()]
            case "uncompress":
                return [name, self._compressed(data).hex()]
        return [name, data.hex()]

    def _compressed(self, data: bytes) -> bytes:
        """Compressed data, at times with a preset dictionary, cut, with a bit turned over, or with more behind it."""
        press = zlib.compressobj(self._dice.randrange(10), zdict=b"T") if self._chance(10) else zlib.compressobj()
        pressed = bytearray(press.compress(data) + press.flush())
        if self._chance(30):
            pressed[self._dice.randrange(len(pressed))] ^= 1 << self._dice.randrange(8)
        if self._chance(30):
            del pressed[self._dice.randrange(len(pressed)):]
        return bytes(pressed) + (b"more" if self._chance(20) else b"")

    def _bloom(self) -> dict[str, Any]:
        geometry = {"f": self._dice.randint(0, 100), "n": self._dice.choice((0, 1, 32, self._dice.randint(1, 5000)))}
        match self._dice.randrange(3):
            case 0:
                return {**geometry, "n": self._int()}
            case 1:
                return {**geometry, "key": self._text(4)}
        keys = [self._text(3) for _ in range(self._dice.randint(0, 8))]
        return {**geometry, "keys": keys, "probe": self._dice.choice([*keys, self._text(3)])}
