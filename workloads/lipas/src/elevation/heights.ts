// The height of every vertex of a place: a few requests at a time, all within one deadline.
import { Unrecoverable } from 'millrace'
import type { Point } from '../geometry/projection.ts'
import { CallFailed } from '../outside/call-failed.ts'
import { sideBySide } from '../outside/side-by-side.ts'
import type { Coverage } from './coverage.ts'
import { planRequests } from './plan.ts'

/** Per job. The limit `elevation` lets two jobs run at a time. */
const AT_ONCE = 4
/** Of all requests of a job together. */
export const WITHIN_MS = 300_000

export interface Heights {
  /** In metres, by point. */
  readonly heights: readonly number[]
  readonly requests: number
}

export interface HeightsOptions {
  readonly coverage: Coverage
  readonly signal: AbortSignal
  /** Default 5 minutes. */
  readonly withinMs?: number | undefined
  readonly onProgress: (done: number, total: number) => void
}

/** Throws Unrecoverable where the model has no data. */
export async function heightsOf(
  points: readonly Point[],
  { coverage, signal, withinMs = WITHIN_MS, onProgress }: HeightsOptions,
): Promise<Heights> {
  const requests = planRequests(points)
  const heights: number[] = new Array(points.length)
  const tooLate = new AbortController()
  const reason = new CallFailed(`The elevation service did not answer within ${withinMs / 60_000} minutes.`)
  const timer = setTimeout(() => tooLate.abort(reason), withinMs)
  let done = 0
  try {
    const limits = { most: AT_ONCE, signal: AbortSignal.any([signal, tooLate.signal]) }
    await sideBySide(requests, limits, async ({ bounds, points: inside }, stop) => {
      const raster = await coverage.raster(bounds, stop)
      for (const at of inside) heights[at] = known(raster.heightAt(points[at] as Point))
      onProgress(++done, requests.length)
    })
  } finally {
    clearTimeout(timer)
  }
  return { heights, requests: requests.length }
}

function known(height: number | undefined): number {
  if (height !== undefined) return height
  throw new Unrecoverable('The elevation model has no data for a vertex of the place, as over deep water.')
}
