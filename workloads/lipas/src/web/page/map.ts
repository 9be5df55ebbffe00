// The map as SVG, one unit a metre. The policy of the page allows no inline style: classes colour it.
import { heightOf, widthOf } from '../../geometry/bounds.ts'
import { LEVEL_STEP, type MapState } from '../map-state.ts'
import { type Html, html, raw } from './html.ts'
import { positionIn } from './places.ts'

const SIDE = 250

export function mapSvg({ frame, squares, features, levels, places }: MapState): Html {
  const at = positionIn(frame)
  const rects = squares.map(({ cellId, east, north }, i) => {
    const [x, y] = at([east - SIDE / 2, north + SIDE / 2])
    return `<rect x="${x}" y="${y}" width="${SIDE}" height="${SIDE}" class="${squareClass(levels[i])}" data-square="${cellId}"/>`
  })
  const water = features.map(({ kind, path }) => html`<path class="${kind}" d="${path}"/>`)
  return html`<svg id="map" viewBox="0 0 ${Math.round(widthOf(frame))} ${Math.round(heightOf(frame))}" role="group" aria-label="Map of the municipality. The search finds each place on it.">
<g id="squares">${raw(rects.join(''))}</g><g class="water">${water}</g><g id="places">${raw(places.all.map(({ svg }) => svg).join('\n'))}</g></svg>`
}

/** As lipas.js colours them. */
const squareClass = (level: string | undefined): string => (level === undefined || level === '-' ? 'none' : `d${level}`)

export function mapSummary({ squares, computed, summary, places }: MapState): Html {
  const count = squares.length.toLocaleString('en-GB')
  if (squares.length === 0 && places.all.length === 0)
    return html`The register is empty. <code>millrace dev</code> fills it with an invented municipality.`
  if (squares.length === 0) return html`Nobody is known to live here: there are no squares to compute.`
  if (computed < squares.length)
    return html`<b>${computed.toLocaleString('en-GB')} of ${count} squares</b> computed. The others fill in as the first analyses run.`
  if (summary === undefined) return html`All ${count} squares are computed.`
  const number = (value: number | null): string => (value === null ? '–' : value.toFixed(2))
  return html`All ${count} squares computed. Diversity index: mean <b>${number(summary.mean)}</b>, median <b>${number(summary.median)}</b>, by people <b>${number(summary.weightedMean)}</b>.`
}

const LEVELS = 8

export const legend: Html = html`<ul class="legend" aria-label="Diversity of the sports offer">
<li><i class="none"></i>not computed</li>${Array.from({ length: LEVELS }, (_, i) => html`<li><i class="d${i}"></i>${rangeOf(i)}</li>`)}
<li><i class="key point"></i>place</li><li><i class="key line"></i>route</li><li><i class="key area"></i>area</li><li><i class="key closed"></i>closed</li></ul>`

function rangeOf(level: number): string {
  if (level === 0) return '0'
  return level === LEVELS - 1 ? `over ${(level - 1) * LEVEL_STEP}` : `to ${level * LEVEL_STEP}`
}
