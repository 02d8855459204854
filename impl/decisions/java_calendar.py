"""java.util.GregorianCalendar in UTC: days and dates of any year, Julian before 1582-10-15, lenient fields."""

from __future__ import annotations

import re

DAY_MS = 86_400_000
_FIRST_GREGORIAN_DAY = -141_427  # 1582-10-15
_MARCH_0000_GREGORIAN, _MARCH_0000_JULIAN = -719_468, -719_470  # 0000-03-01 of either calendar, in days since 1970
_FIELD_WIDTHS = (4, 2, 2, 2, 2, None)  # yyyyMMddHHmmss
_NUMBER = re.compile(r"[ \t]*(-?\d+)")
_FEBRUARY = 2


def _day(year: int, month: int, *, gregorian: bool) -> int:
    """Days from 1970-01-01 to the first of a month (1 … 12) of an astronomical year."""
    year -= month <= _FEBRUARY  # years begin in March, so that the leap day is their last
    days = 365 * year + year // 4 + (153 * ((month + 9) % 12) + 2) // 5
    return days - year // 100 + year // 400 + _MARCH_0000_GREGORIAN if gregorian else days + _MARCH_0000_JULIAN


def epoch_day(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of a date whose month and day may be out of range: they carry over."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    gregorian = _day(year, month, gregorian=True) + day - 1
    return gregorian if gregorian >= _FIRST_GREGORIAN_DAY else _day(year, month, gregorian=False) + day - 1


def date_of(day: int) -> tuple[int, int, int]:
    """Astronomical year, month and day of month of a day since 1970-01-01."""
    gregorian = day >= _FIRST_GREGORIAN_DAY
    year = 1971 + (day * 400 // 146_097 if gregorian else (day + 20) * 4 // 1461)  # at most a little too late
    while _day(year, 1, gregorian=gregorian) > day:
        year -= 1
    month = 12
    while _day(year, month, gregorian=gregorian) > day:
        month -= 1
    return year, month, day - _day(year, month, gregorian=gregorian) + 1


def time_millis_to_human_string3(time_ms: int) -> str:
    """UtilAll#timeMillisToHumanString3: yyyyMMddHHmmss, the year (of its era) as long as it is."""
    day, rest_ms = divmod(time_ms, DAY_MS)
    year, month, day_of_month = date_of(day)
    seconds = rest_ms // 1000
    year_of_era = year if year > 0 else 1 - year
    clock = f"{seconds // 3600:02d}{seconds // 60 % 60:02d}{seconds % 60:02d}"
    return f"{year_of_era:04d}{month:02d}{day_of_month:02d}{clock}"


def time_millis_to_human_string(time_ms: int) -> str:
    """UtilAll#timeMillisToHumanString: the same with milliseconds; names the index files."""
    return f"{time_millis_to_human_string3(time_ms)}{time_ms % 1000:03d}"


def time_millis_to_human_string2(time_ms: int) -> str:
    """UtilAll#timeMillisToHumanString2: yyyy-MM-dd HH:mm:ss,SSS, for people."""
    text = time_millis_to_human_string(time_ms)
    date, clock = text[:-9], text[-9:]
    return f"{date[:-4]}-{date[-4:-2]}-{date[-2:]} {clock[:2]}:{clock[2:4]}:{clock[4:6]},{clock[6:]}"


def parse_date_ms(text: str) -> int | None:
    """UtilAll#parseDate with yyyyMMddHHmmss, in ms since 1970; None where Java answers null.

    As SimpleDateFormat reads: blanks and a minus may stand in a field's width, the last field takes all digits that
    follow, what comes behind them is ignored, and fields out of range carry over.
    """
    fields: list[int] = []
    start = 0
    for width in _FIELD_WIDTHS:
        end = len(text) if width is None else start + width
        number = _NUMBER.match(text, start, end) if end <= len(text) else None
        if number is None:
            return None
        fields.append(int(number[1]))
        start = number.end()
    year, month, day, hour, minute, second = fields
    return epoch_day(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000
