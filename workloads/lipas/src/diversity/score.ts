// How varied the sports offer of a square is: each category with a place nearby counts its factor.
import type { Reached } from './distances.ts'

export interface Category {
  readonly name: string
  readonly typeCodes: readonly number[]
  readonly factor: number
}

export interface Score {
  readonly index: number
  /** By category, what it counts. */
  readonly categories: Readonly<Record<string, number>>
  /** By category, the nearest place in reach. */
  readonly nearest: Readonly<Record<string, { readonly 'lipas-id': number; readonly metres: number }>>
}

/** Nearer than this counts: a walk of ten minutes. */
export const NEARBY = 800

export function scoreOf(categories: readonly Category[], reached: readonly Reached[]): Score {
  const counted: Record<string, number> = {}
  const nearest: Record<string, { 'lipas-id': number; metres: number }> = {}
  let index = 0
  for (const { name, typeCodes, factor } of categories) {
    const found = nearestOf(reached.filter(({ place }) => typeCodes.includes(place.typeCode)))
    counted[name] = found !== undefined && found.metres < NEARBY ? factor : 0
    index += counted[name]
    if (found !== undefined)
      nearest[name] = { 'lipas-id': found.place.lipasId, metres: Math.round(found.metres * 10) / 10 }
  }
  return { index, categories: counted, nearest }
}

/** Of two that are as near, the lower id: so that every run finds the same one. */
function nearestOf([first, ...others]: readonly Reached[]): Reached | undefined {
  return others.reduce(
    (best, each) =>
      best === undefined ||
      each.metres < best.metres ||
      (each.metres === best.metres && each.place.lipasId < best.place.lipasId)
        ? each
        : best,
    first,
  )
}
