// Heights of a place: the profile of a route as a curve, in words for points and areas.

import type { Profile } from '../../elevation/profile.ts'
import { distanceBetween } from '../../geometry/distance.ts'
import type { Geometries, Position } from '../../geometry/feature.ts'
import { verticesOf } from '../../geometry/feature.ts'
import { toPlane } from '../../geometry/projection.ts'
import type { Site } from '../../registry/sites.ts'
import { type Html, html } from './html.ts'

const WIDTH = 600
const HEIGHT = 120
/** A flat walk must not look like a mountain. */
const LEAST_RANGE = 20

export function profileHtml({ geometries, elevation }: Site): Html {
  const heights = verticesOf(geometries).flatMap(([, , height]) => (height === undefined ? [] : [height]))
  if (heights.length === 0 || elevation === null)
    return html`<p class="dim">${elevation === null ? 'Heights are not known yet.' : 'The place has moved, and its heights are not known yet.'} An <code>elevation</code> job computes them.</p>`
  const { 'min-m': low, 'max-m': high, 'ascent-m': up, 'descent-m': down, lines } = elevation
  const range = high - low < 0.05 ? html`<b>${metres(low)}</b>` : html`<b>${metres(low)}</b> to <b>${metres(high)}</b>`
  const climb = lines.length === 0 ? '' : `, ${lengthOf(lines)} long, ${metres(up)} up and ${metres(down)} down`
  return html`<p>${range} above the sea${climb}</p>${linesOf(geometries).map((line) => curve(line, { low, high }))}`
}

const lengthOf = (lines: Profile['lines']): string =>
  distance(lines.reduce((sum, { 'length-2d-m': length }) => sum + length, 0))

const distance = (length: number): string =>
  length < 1_000 ? `${Math.round(length)} m` : `${(length / 1_000).toFixed(1)} km`

const metres = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} m`

interface Range {
  readonly low: number
  readonly high: number
}

function linesOf({ features }: Geometries): (readonly Position[])[] {
  return features.flatMap(({ geometry }) => (geometry.type === 'LineString' ? [geometry.coordinates] : []))
}

/** Metres from the start, for each vertex. */
function alongOf(line: readonly Position[]): number[] {
  const points = line.map(toPlane)
  let along = 0
  return points.map((point, i) => {
    if (i > 0) along += distanceBetween(points[i - 1] as typeof point, point)
    return along
  })
}

function curve(line: readonly Position[], { low, high }: Range): Html {
  const along = alongOf(line)
  const length = along.at(-1) || 1
  const [bottom, span] = [low, Math.max(LEAST_RANGE, high - low)]
  const x = (metresAlong: number): number => Math.round((WIDTH * metresAlong) / length)
  const y = (height: number): number => Math.round(10 * (HEIGHT - 4 - ((HEIGHT - 12) * (height - bottom)) / span)) / 10
  const kept = thinned(line.map((position, i) => [x(along[i] ?? 0), y(position[2] ?? low)] as const))
  const path = kept.map(([px, py]) => `${px} ${py}`).join('L')
  return html`<svg class="profile" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Elevation profile, ${metres(low)} to ${metres(high)}"><path class="fill" d="M0 ${HEIGHT}L${path}L${WIDTH} ${HEIGHT}Z"/><path class="edge" d="M${path}"/></svg>
<p class="ends faint"><span>start</span><span>${distance(length)}</span></p>`
}

/** One point for each unit of width is enough. */
function thinned(points: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  return points.filter(([x], i) => i === 0 || i === points.length - 1 || x !== points[i - 1]?.[0])
}
