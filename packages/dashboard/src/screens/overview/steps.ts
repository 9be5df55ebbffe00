// The steps of a series, gathered to as many as a chart can show.
import type { Range } from '../../app/address.ts'
import type { Answer } from '../../data/queries.ts'

type Point = Answer<'reports', 'series'>['points'][number]

export interface Steps {
  readonly at: readonly number[]
  readonly stepMs: number
  readonly points: readonly Gathered[]
}

export interface Gathered {
  readonly completed: number
  readonly failed: number
  readonly dead: number
  /** Of the worst minute in it: quantiles cannot be added. */
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

const MOST = 120

/** By the minute the server answers for six hours at most. */
export const stepFor = (since: Range): 'minute' | 'hour' => (since === '24h' || since === '7d' ? 'hour' : 'minute')

export function gathered(points: readonly Point[], stepMs: number): Steps {
  const size = Math.max(1, Math.ceil(points.length / MOST))
  const groups: Point[][] = []
  for (let from = 0; from < points.length; from += size) groups.push(points.slice(from, from + size))
  return {
    at: groups.map((group) => new Date(group[0]?.at ?? 0).getTime()),
    stepMs: stepMs * size,
    points: groups.map(gather),
  }
}

function gather(group: readonly Point[]): Gathered {
  const sum = (read: (point: Point) => number) => group.reduce((total, point) => total + read(point), 0)
  const worst = (read: (point: Point) => number | null) => {
    const known = group.flatMap((point) => read(point) ?? [])
    return known.length === 0 ? null : Math.max(...known)
  }
  return {
    completed: sum(({ completed }) => completed),
    failed: sum(({ failed, crashed }) => failed + crashed),
    dead: sum(({ dead }) => dead),
    p50: worst(({ wait }) => wait.p50Ms),
    p95: worst(({ wait }) => wait.p95Ms),
    p99: worst(({ wait }) => wait.p99Ms),
  }
}
