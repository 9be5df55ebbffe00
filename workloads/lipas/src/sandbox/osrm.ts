// A router with OSRM's interface: tables of walking distances over the streets of the invented municipality.
import { type Answer, type Call, json, type Service } from '@millrace/sandbox'
import { type Point, toPlane, toWorld } from '../geometry/projection.ts'
import { type Streets, streets } from './streets.ts'
import { FARTHEST, Walks } from './walks.ts'

const MOST_COORDINATES = 100
const METRES_PER_SECOND = 1.25

export class Osrm implements Service {
  #graph: { readonly streets: Streets; readonly walks: Walks } | undefined

  answer({ path, query }: Call): Answer {
    const given = /^\/table\/v1\/foot\/([-\d.,;]+)$/.exec(path)?.[1]
    if (given === undefined) return refusal('InvalidUrl', 'The sandbox has /table/v1/foot/{coordinates}.')
    const points = given.split(';').map((each) => each.split(',').map(Number))
    if (points.some((point) => point.length !== 2 || !point.every(Number.isFinite)))
      return refusal('InvalidQuery', 'A coordinate is {longitude},{latitude}.')
    if (points.length > MOST_COORDINATES)
      return refusal(
        'TooBig',
        `Number of entries ${points.length} is higher than current maximum (${MOST_COORDINATES})`,
      )
    const [sources, destinations] = [chosen(query, 'sources', points), chosen(query, 'destinations', points)]
    if (sources === undefined || destinations === undefined)
      return refusal('InvalidOptions', 'sources and destinations are places in the list of coordinates.')
    return this.#table(sources.map(toPlane), destinations.map(toPlane), query.get('annotations') ?? 'duration')
  }

  limited(): Answer {
    return json(429, { code: 'TooManyRequests', message: 'Slow down.' }, { 'retry-after': '2' })
  }

  /** Metres on foot between two points, from crossing to crossing; Infinity: too far. For tests. */
  metres(from: Point, to: Point): number {
    const { streets: graph, walks } = this.#ready()
    return rounded(walks.from(graph.nearest(from))[graph.nearest(to)] as number) ?? Number.POSITIVE_INFINITY
  }

  #table(sources: readonly Point[], destinations: readonly Point[], annotations: string): Answer {
    const { streets: graph, walks } = this.#ready()
    const ends = destinations.map((point) => graph.nearest(point))
    const distances = sources.map((point) => {
      const metres = walks.from(graph.nearest(point))
      return ends.map((end) => rounded(metres[end] as number))
    })
    const durations = distances.map((row) => row.map((each) => each && rounded(each / METRES_PER_SECOND)))
    const wants = (name: string) => annotations.split(',').includes(name)
    return json(200, {
      code: 'Ok',
      ...(wants('distance') && { distances }),
      ...(wants('duration') && { durations }),
      sources: sources.map((point) => waypoint(graph, point)),
      destinations: destinations.map((point) => waypoint(graph, point)),
    })
  }

  /** Made when it is needed: not every sandbox is asked for a way. */
  #ready() {
    if (this.#graph === undefined) {
      const graph = streets()
      this.#graph = { streets: graph, walks: new Walks(graph) }
    }
    return this.#graph
  }
}

/** The points that a parameter like 0;2;5 chooses; all without it. */
function chosen(query: URLSearchParams, name: string, points: readonly number[][]): number[][] | undefined {
  const given = query.get(name)
  if (given === null || given === 'all') return [...points]
  const picked = given.split(';').map((at) => points[Number(at)])
  return picked.includes(undefined) ? undefined : (picked as number[][])
}

const waypoint = (graph: Streets, point: Point) => ({
  location: toWorld(graph.crossings[graph.nearest(point)] as Point),
  name: '',
})

const rounded = (value: number): number | null => (value <= FARTHEST ? Math.round(value * 10) / 10 : null)
const refusal = (code: string, message: string): Answer => json(400, { code, message })
