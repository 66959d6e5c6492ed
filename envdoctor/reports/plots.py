"""Plots over time as SVG: step lines told apart by colour, dashes and names, with axes, units and words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import floor, log10

from envdoctor.printable import size_of
from envdoctor.reports.markup import Markup, element, joined
from envdoctor.reports.page import Plot, Point, Series, Span

WIDTH, HEIGHT = 440, 224
"""Of the drawing, in its own units; the page scales it."""
LEFT, RIGHT, TOP, BOTTOM = 84, 12, 24, 46
COLUMNS = 160
"""Columns of points that a line is thinned to: of each the first, the least, the greatest and the last are kept."""
LINES = 8
"""Lines that can be told apart; of more, the last ones are left out, and that is said."""
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 2", "1 4", "6 2 1 2 1 2")
"""As stroke-dasharray, so that no line is known by its colour alone."""
_HOUR, _DAY = 3600.0, 86400.0
_STEPS = (
    _HOUR,
    3 * _HOUR,
    6 * _HOUR,
    12 * _HOUR,
    _DAY,
    2 * _DAY,
    7 * _DAY,
    14 * _DAY,
    28 * _DAY,
    91 * _DAY,
    364 * _DAY,
)
_TICKS = 5
_HEIGHTS = {"healthy": 4, "warnings": 9, "sick": 15, None: 2}
"""Of the band of verdicts, so that none is known by its colour alone."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Where times and values lie in the drawing."""

    begin: float
    end: float
    top: float

    def x(self, at: float) -> float:
        """Return the place of a time."""
        share = (at - self.begin) / (self.end - self.begin) if self.end > self.begin else 0.5
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        """Return the place of a value."""
        return round(HEIGHT - BOTTOM - value / self.top * (HEIGHT - TOP - BOTTOM), 1)


def moment(at: float) -> str:
    """Return a time as `3 Jun 2026, 14:10`, UTC."""
    found = datetime.fromtimestamp(at, UTC)
    return f"{found.day} {found:%b %Y, %H:%M}"


def render(plot: Plot, number: int, begin: float, end: float, spans: Sequence[Span] = ()) -> Markup:
    """Return a plot as SVG with a legend; `number` tells its ids from those of other plots of the page."""
    shown = merged(plot.series)
    told = [line for line in shown if known(line.points)]
    if not told:
        return joined(element("p", plot.missing or "nothing is known of it in this time", class_="none"))
    drawn = told[:LINES]
    greatest = max(value for line in drawn for value in known(line.points))
    scale = Scale(begin, end, ceiling(greatest, plot.unit))
    title, said = f"plot-{number}", f"plot-{number}-said"
    parts = [
        element("title", plot.title, id=title),
        element("desc", description(plot, drawn, begin, end), id=said),
        *_axes(scale, plot),
        *_verdicts(spans, scale),
        *(_line(line, place, scale) for place, line in enumerate(drawn)),
    ]
    image = element(
        "svg",
        *parts,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_labelledby=f"{title} {said}",
        class_="plot",
    )
    more = len(told) - len(drawn)
    left = element("p", f"and {more} more lines, not drawn", class_="none") if more else None
    return joined(image, _legend(drawn, plot), left)


def merged(series: Sequence[Series]) -> list[Series]:
    """Draw lines that run along each other as one, under all their names."""
    alike: dict[tuple[tuple[Point, ...], str], list[str]] = {}
    for line in series:
        alike.setdefault((tuple(line.points), line.tone), []).append(line.name)
    return [Series(_named(names), points, tone) for (points, tone), names in alike.items()]


def _named(names: Sequence[str]) -> str:
    if len(names) > 2:
        return f"{names[0]} to {names[-1]} ({len(names)} alike)"
    return " and ".join(names) + (" (alike)" if len(names) > 1 else "")


def known(points: Sequence[Point]) -> list[float]:
    """Return the values that there are."""
    return [value for _, value in points if value is not None]


def description(plot: Plot, drawn: Sequence[Series], begin: float, end: float) -> str:
    """Say the plot in words: of each line its first, least, greatest and last value."""
    period = f"{plot.says}, from {moment(begin)} to {moment(end)} UTC"
    return ". ".join([period, *(f"{line.name}: {_summary(line, plot)}" for line in drawn)]) + "."


def _summary(line: Series, plot: Plot) -> str:
    values = known(line.points)
    first, least, greatest, last = (spoken(v, plot.unit) for v in (values[0], min(values), max(values), values[-1]))
    return f"{first} at first, {least} at least, {greatest} at most, {last} at last"


def spoken(value: float, unit: str) -> str:
    """Return a value with its unit."""
    return size_of(int(value)) if unit == "bytes" else f"{value:,.0f}"


def ceiling(greatest: float, unit: str) -> float:
    """Return the upper end of the axis: not below the greatest value, and round in quarters, of bytes in their unit."""
    if unit == "bytes" and greatest >= 1024:
        power = 1024.0 ** min(4, floor(log10(greatest) / log10(1024)))
        return ceiling(greatest / power, "") * power
    if greatest <= 12:
        return next(float(top) for top in (4, 8, 12) if top >= greatest)
    size = 10.0 ** floor(log10(greatest))
    return next(step * size for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10) if step * size >= greatest)


def _axes(scale: Scale, plot: Plot) -> Iterator[Markup]:
    right, floor_ = WIDTH - RIGHT, HEIGHT - BOTTOM
    for part in range(5):
        value = scale.top * part / 4
        y = scale.y(value)
        yield element("line", x1=LEFT, x2=right, y1=y, y2=y, class_="axis" if part == 0 else "grid")
        yield element("text", spoken(value, plot.unit), x=LEFT - 6, y=y + 4, class_="tick", text_anchor="end")
    for at, label in ticks(scale.begin, scale.end):
        x = scale.x(at)
        anchor = "start" if x < LEFT + 20 else "end" if x > right - 20 else "middle"
        yield element("line", x1=x, x2=x, y1=floor_, y2=floor_ + 5, class_="axis")
        yield element("text", label, x=x, y=floor_ + 18, class_="tick", text_anchor=anchor)
    yield element("text", "time (UTC)", x=(LEFT + right) / 2, y=HEIGHT - 8, class_="label", text_anchor="middle")
    middle = round((TOP + floor_) / 2)
    yield element(
        "text", plot.says, x=16, y=middle, class_="label", text_anchor="middle", transform=f"rotate(-90 16 {middle})"
    )


def ticks(begin: float, end: float) -> Iterator[tuple[float, str]]:
    """Yield times that are round in UTC, and their labels; of a short time its beginning and end."""
    step = next((step for step in _STEPS if (end - begin) / step <= _TICKS), _STEPS[-1])
    first = begin + (-begin) % step if step < 7 * _DAY else _monday(begin)
    times: list[float] = []
    while first <= end and len(times) < 4 * _TICKS:
        times.append(first)
        first += step
    for at in times if len(times) > 1 else [begin] if begin == end else [begin, end]:
        found = datetime.fromtimestamp(at, UTC)
        day = f"{found.day} {found:%b}"
        yield at, day if step >= _DAY and len(times) > 1 else f"{day} {found:%H:%M}"


def _monday(begin: float) -> float:
    found = datetime.fromtimestamp(begin, UTC)
    midnight = found.replace(hour=0, minute=0, second=0, microsecond=0)
    after = midnight if midnight == found else midnight + timedelta(days=1)
    return (after + timedelta(days=-after.weekday() % 7)).timestamp()


def _verdicts(spans: Sequence[Span], scale: Scale) -> Iterator[Markup]:
    """Draw a band above the lines: the higher and redder, the worse."""
    floor_ = TOP - 6
    for span in gathered(spans, scale):
        x = scale.x(span.begin)
        height = _HEIGHTS.get(span.verdict, 2)
        word = span.verdict or "not judged"
        said = f"{word}, {moment(span.begin)} to {moment(span.end)} UTC"
        wide = max(1.0, round(scale.x(span.end) - x, 1))
        named = "unjudged" if span.verdict is None else span.verdict
        yield element(
            "rect", element("title", said), x=x, y=floor_ - height, width=wide, height=height, class_=f"band {named}"
        )


def gathered(spans: Sequence[Span], scale: Scale) -> Sequence[Span]:
    """Put spans that are too many to be drawn together, those of one column under the worst of their verdicts."""
    if len(spans) <= COLUMNS:
        return spans
    columns: dict[int, list[Span]] = {}
    wide = (scale.end - scale.begin) / COLUMNS or 1.0
    for span in spans:
        columns.setdefault(int((span.begin - scale.begin) / wide), []).append(span)
    return [
        Span(
            same[0].begin,
            max(span.end for span in same),
            max((span.verdict for span in same), key=lambda verdict: _HEIGHTS.get(verdict, 0)),
            sum(span.runs for span in same),
        )
        for same in columns.values()
    ]


def _line(line: Series, place: int, scale: Scale) -> Markup:
    points = thinned(line.points, scale.begin, scale.end)
    drawn = element(
        "path", d=_path(points, scale), class_=f"line {_hue(line, place)}", stroke_dasharray=DASHES[place] or None
    )
    at, value = next((point for point in reversed(points) if point[1] is not None), (scale.end, 0.0))
    last = element("circle", cx=scale.x(at), cy=scale.y(value or 0.0), r=3, class_=f"dot {_hue(line, place)}")
    return joined(element("g", element("title", line.name), drawn, last))


def _hue(line: Series, place: int) -> str:
    return line.tone or f"c{place}"


def _path(points: Sequence[Point], scale: Scale) -> str:
    """Write steps: a value holds until the next one; what is not known is a gap."""
    written: list[str] = []
    open_, level = False, 0.0
    for at, value in points:
        x = scale.x(at)
        if value is None:
            written += [f"H{x:g}"] if open_ else []
            open_ = False
            continue
        y = scale.y(value)
        if not open_:
            written.append(f"M{x:g} {y:g}")
        elif y == level:
            written.append(f"H{x:g}")
        else:
            written.append(f"H{x:g}V{y:g}")
        open_, level = True, y
    return "".join(written)


def thinned(points: Sequence[Point], begin: float, end: float, columns: int = COLUMNS) -> list[Point]:
    """Keep of each column of time the first, the least, the greatest and the last point, and every gap's bounds."""
    if len(points) <= 4 * columns:
        return list(points)
    groups: dict[int, list[int]] = {}
    wide = (end - begin) / columns or 1.0
    for place, (at, _) in enumerate(points):
        groups.setdefault(int((at - begin) / wide), []).append(place)
    kept: set[int] = set()
    for places in groups.values():
        valued = [place for place in places if points[place][1] is not None]
        kept |= {places[0], places[-1]}
        if valued:
            kept |= {min(valued, key=lambda p: points[p][1] or 0.0), max(valued, key=lambda p: points[p][1] or 0.0)}
        if len(valued) < len(places):
            kept.add(next(place for place in places if points[place][1] is None))
    return [points[place] for place in sorted(kept)]


def _legend(drawn: Sequence[Series], plot: Plot) -> Markup:
    items = []
    for place, line in enumerate(drawn):
        sample = element(
            "line", x1=0, x2=26, y1=6, y2=6, class_=f"line {_hue(line, place)}", stroke_dasharray=DASHES[place] or None
        )
        key = element("svg", sample, viewBox="0 0 26 12", class_="key", aria_hidden="true")
        last = spoken(known(line.points)[-1], plot.unit)
        items.append(element("li", key, element("span", line.name, class_="name"), element("b", last)))
    return element("ul", *items, class_="legend")
