"""The style of the page: two palettes, one column on a telephone, two on a wide screen, ink on paper."""

from __future__ import annotations

LIGHT = {
    "page": "#ffffff",
    "card": "#f6f7f9",
    "ink": "#1a1d21",
    "soft": "#565d66",
    "rule": "#d5d9de",
    "error": "#b3161f",
    "warning": "#8a5300",
    "note": "#22629e",
    "good": "#1b7038",
    "c0": "#0b62c4",
    "c1": "#b3261e",
    "c2": "#1b7038",
    "c3": "#7b3fb5",
    "c4": "#8a5300",
    "c5": "#007480",
    "c6": "#a5316f",
    "c7": "#4b5563",
}
DARK = {
    "page": "#14171a",
    "card": "#1e2226",
    "ink": "#e8eaed",
    "soft": "#a9b1ba",
    "rule": "#3a4047",
    "error": "#ff8a84",
    "warning": "#f2b04e",
    "note": "#7cb8f2",
    "good": "#6fce8c",
    "c0": "#6cb1ff",
    "c1": "#ff8a84",
    "c2": "#6fce8c",
    "c3": "#c9a0f7",
    "c4": "#f2b04e",
    "c5": "#55cfdc",
    "c6": "#f391c4",
    "c7": "#b4bdc7",
}


def _palette(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


_RULES = """
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1rem clamp(.75rem,3vw,2rem);background:var(--page);color:var(--ink);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.35rem;margin:.25rem 0 .75rem}h2{font-size:1.15rem;margin:2rem 0 .75rem;padding-bottom:.25rem;
border-bottom:1px solid var(--rule)}h3{font-size:1rem;margin:0 0 .4rem}
p{margin:.4rem 0;max-width:60rem}ul,ol{margin:.4rem 0;padding-left:1.3rem}li{margin:.2rem 0}
code{font:.875em/1.45 ui-monospace,monospace;background:var(--page);border:1px solid var(--rule);border-radius:4px;
padding:.05em .3em}
small,.none,footer{color:var(--soft)}small{font-size:.8125rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:0}dt{color:var(--soft)}dd{margin:0}
.verdict{font-size:1.1rem;margin:0 0 .5rem}
.badge{display:inline-block;padding:.1rem .6rem;border-radius:6px;border:2px solid currentColor;letter-spacing:.04em}
.badge.sick{color:var(--error)}.badge.warnings{color:var(--warning)}.badge.healthy{color:var(--good)}
.tag{display:inline-block;font-size:.75rem;font-weight:600;line-height:1.3;padding:.05rem .4rem;border-radius:4px;
border:1px solid currentColor;color:var(--soft)}
.tag.error,.tag.grave,.tag.sick{color:var(--error)}.tag.warning,.tag.notable,.tag.warnings{color:var(--warning)}
.tag.note,.tag.detail{color:var(--note)}.tag.healthy{color:var(--good)}
.finding{background:var(--card);border-left:4px solid var(--note);border-radius:6px;padding:.75rem 1rem;margin:.75rem 0}
.finding.error{border-color:var(--error)}.finding.warning{border-color:var(--warning)}
.steps{list-style:decimal}.explain{margin:.4rem 0 0}.explain code{color:var(--soft)}
.events,.timeline,.timeline ul{list-style:none;padding-left:0}.timeline>li{border-left:2px solid var(--rule);
padding:.1rem 0 .6rem .9rem;margin:0}time{font-weight:600}
.plots{display:grid;gap:1rem}figure{margin:0;background:var(--card);border-radius:6px;padding:.75rem}
figcaption{font-weight:600;margin-bottom:.4rem}
.plot{display:block;width:100%;height:auto}.tick,.label{fill:var(--soft);font:13px system-ui,sans-serif}
.grid{stroke:var(--rule);stroke-width:1}.axis{stroke:var(--soft);stroke-width:1}
.line{fill:none;stroke-width:2.25;stroke-linejoin:round}.band{fill:var(--soft)}
.band.healthy{fill:var(--good)}.band.warnings{fill:var(--warning)}.band.sick{fill:var(--error)}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;font-size:.875rem}
.legend li{display:flex;align-items:center;gap:.4rem}.key{width:26px;height:12px;flex:none}
details{margin:.5rem 0}summary{cursor:pointer}footer{margin:2rem 0 0;font-size:.875rem}
@media(min-width:48rem){.plots{grid-template-columns:1fr 1fr}}
@media(max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.35rem}.tick,.label{font-size:15px}}
@media print{:root{font-size:11px}body{max-width:none}.plots{grid-template-columns:1fr 1fr}
.finding,figure,.timeline>li{break-inside:avoid}h2{break-after:avoid}
details::details-content{content-visibility:visible;block-size:auto}}
"""
_HUES = ("error", "warning", "note", *(f"c{number}" for number in range(8)))
_LINES = "".join(f".line.{hue}{{stroke:var(--{hue})}}.dot.{hue}{{fill:var(--{hue})}}" for hue in _HUES)
STYLE = (
    f":root{{color-scheme:light dark;{_palette(LIGHT)}}}"
    f"@media (prefers-color-scheme:dark){{:root{{{_palette(DARK)}}}}}"
    f"{_RULES.strip()}{_LINES}"
    f"@media print{{:root{{color-scheme:light;{_palette(LIGHT)}}}}}"
)
"""Holds no `<`, and nothing of any target."""
