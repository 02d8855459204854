"""BloomFilter: which bits of a consume queue's filter map stand for a group's subscription to a topic."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from impl.decisions.java_arithmetic import INT_MAX, smaller, wrap32
from impl.decisions.java_errors import IllegalArgumentError
from impl.decisions.java_text import utf8_bytes

_MASK = 0xFFFFFFFFFFFFFFFF
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F


@dataclass(frozen=True, slots=True)
class BloomFilterData:
    """`filter.util.BloomFilterData`: bit_pos -- positions; bit_num -- the length of the map they are positions in."""

    bit_pos: tuple[int, ...]
    bit_num: int


class BloomFilter:
    """`filter.util.BloomFilter`.

    f -- error rate in percent. n -- entries expected. k -- bits for one entry. m -- bits of the map, whole bytes unless
    that is no int.
    """

    def __init__(self, f: int, n: int) -> None:
        """BloomFilter#createByFn; raises IllegalArgumentError."""
        if not 1 <= f < 100:  # noqa: PLR2004  # per cent
            raise IllegalArgumentError("f must be greater or equal than 1 and less than 100")
        if n < 1:
            raise IllegalArgumentError("n must be greater than 0")
        error_rate = f / 100.0
        self.f, self.n = f, n
        self.k = math.ceil(_log_m_n(0.5, error_rate))
        m = smaller(math.ceil(n * _log_m_n(2, 1 / error_rate) * _log_m_n(2, math.e)), INT_MAX)
        self.m = smaller(8 * math.ceil(m / 8), INT_MAX)

    def calc_bit_positions(self, text: str) -> tuple[int, ...]:
        """BloomFilter#calcBitPositions: the low half of murmur3-128, split in two, gives as many hashes as wanted."""
        hash64 = murmur3_128_low(utf8_bytes(text))
        hash1, hash2 = wrap32(hash64), wrap32(hash64 >> 32)
        combined = [wrap32(hash1 + i * hash2) for i in range(1, self.k + 1)]
        return tuple((number if number >= 0 else ~number) % self.m for number in combined)

    def generate(self, text: str) -> BloomFilterData:
        """BloomFilter#generate."""
        return BloomFilterData(self.calc_bit_positions(text), self.m)

    def hash_to(self, text: str, bits: bytearray) -> None:
        """BloomFilter#hashTo: set the bits of a text; bits -- a map of m bits, see `empty_bits`.

        Raises IllegalArgumentError for a map of another length.
        """
        self.set_at(self.calc_bit_positions(text), bits)

    def set_at(self, bit_positions: Iterable[int], bits: bytearray) -> None:
        """BloomFilter#hashTo of positions that are known; raises as hash_to does."""
        self._check(bits)
        for position in bit_positions:
            bits[position // 8] |= 1 << position % 8

    def is_hit(self, text: str, bits: bytes | bytearray) -> bool:
        """BloomFilter#isHit: whether all bits of a text are set; raises as hash_to does."""
        return self.is_hit_at(self.calc_bit_positions(text), bits)

    def is_hit_at(self, bit_positions: Iterable[int], bits: bytes | bytearray) -> bool:
        """BloomFilter#isHit of positions that are known; raises as hash_to does."""
        self._check(bits)
        return all(bits[position // 8] >> position % 8 & 1 for position in bit_positions)

    def empty_bits(self) -> bytearray:
        """BitsArray#create of the filter's length: no bit is set."""
        return bytearray(self.m // 8)

    def _check(self, bits: bytes | bytearray) -> None:
        if 8 * len(bits) != self.m:
            raise IllegalArgumentError(f"Length({8 * len(bits)}) of bits in BitsArray is not equal to {self.m}!")

    def is_valid(self, filter_data: BloomFilterData | None) -> bool:
        """BloomFilter#isValid: made by a filter of the same geometry."""
        return filter_data is not None and filter_data.bit_num == self.m and len(filter_data.bit_pos) == self.k


def _log_m_n(m: float, n: float) -> float:
    return math.log(n) / math.log(m)


def murmur3_128_low(data: bytes) -> int:
    """The low 64 bits, unsigned, of MurmurHash3_x64_128 with seed 0 (A. Appleby, MurmurHash3.cpp, public domain)."""
    h1 = h2 = 0
    whole = len(data) // 16 * 16
    for start in range(0, whole, 16):
        h1 ^= _mix_k1(int.from_bytes(data[start : start + 8], "little"))
        h1 = (_rotate(h1, 27) + h2) * 5 + 0x52DCE729 & _MASK
        h2 ^= _mix_k2(int.from_bytes(data[start + 8 : start + 16], "little"))
        h2 = (_rotate(h2, 31) + h1) * 5 + 0x38495AB5 & _MASK
    tail = data[whole:]
    h1 ^= _mix_k1(int.from_bytes(tail[:8], "little"))
    h2 ^= _mix_k2(int.from_bytes(tail[8:], "little"))
    h1 ^= len(data)
    h2 ^= len(data)
    h1 = h1 + h2 & _MASK
    h2 = h2 + h1 & _MASK
    return _finish(h1) + _finish(h2) & _MASK


def _rotate(number: int, bits: int) -> int:
    number &= _MASK
    return (number << bits | number >> 64 - bits) & _MASK


def _mix_k1(word: int) -> int:
    return _rotate(word * _C1, 31) * _C2 & _MASK


def _mix_k2(word: int) -> int:
    return _rotate(word * _C2, 33) * _C1 & _MASK


def _finish(number: int) -> int:
    number = (number ^ number >> 33) * 0xFF51AFD7ED558CCD & _MASK
    number = (number ^ number >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return number ^ number >> 33
