// A place on the map: a dot, a line or an area, in metres from the upper left corner.
import type { Bounds } from '../../geometry/bounds.ts'
import type { Point } from '../../geometry/projection.ts'
import { type Shape, shapeOf, simplified } from '../../geometry/shape.ts'
import type { SiteOnMap } from '../../registry/sites.ts'
import { type Html, html } from './html.ts'

/** About a pixel where the map is 12 km wide. */
const TOLERANCE_METRES = 20
const DOT_METRES = 85

/** Reached by the pointer here, and by the keyboard through the search. */
export function placeSvg({ lipasId, name, typeName, status, geometries }: SiteOnMap, frame: Bounds): Html {
  const { points, lines, areas } = simplified(shapeOf(geometries), TOLERANCE_METRES)
  const at = positionIn(frame)
  const dots = points.map(at).map(([x, y]) => html`<circle cx="${x}" cy="${y}" r="${DOT_METRES}"/>`)
  const paths = [...lines.map((line) => pathOf([line], at)), ...areas.map((rings) => `${pathOf(rings, at)}Z`)]
  return html`<a href="lipas?site=${lipasId}" class="place ${status}" data-site="${lipasId}" tabindex="-1" aria-label="${name}"><title>${name}, ${typeName.toLowerCase()}</title>${dots}${paths.map((d) => html`<path d="${d}"/>`)}</a>`
}

type Position = readonly [x: number, y: number]

/** North is up, and SVG counts downwards. */
export const positionIn =
  ({ minEast, maxNorth }: Bounds) =>
  ([east, north]: Point): Position => [Math.round(east - minEast), Math.round(maxNorth - north)]

export function pathOf(lines: readonly (readonly Point[])[], at: (point: Point) => Position): string {
  return lines.map((line) => `M${line.map((point) => at(point).join(' ')).join('L')}`).join('')
}

/** Water and bridges, which nobody clicks. */
export function featurePath({ lines, areas }: Shape, frame: Bounds): string {
  const at = positionIn(frame)
  return [...lines.map((line) => pathOf([line], at)), ...areas.map((rings) => `${pathOf(rings, at)}Z`)].join('')
}
