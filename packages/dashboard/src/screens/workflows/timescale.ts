// Where a moment lies in the picture. Long stretches in which nothing begins or ends are squeezed, so that a night between two
// steps leaves room for the steps. Pure.

export interface Squeezed {
  readonly from: number
  readonly to: number
}

export interface Timescale {
  /** In percent of the width. */
  at(ms: number): number
  /** The moment at so many percent. */
  momentAt(percent: number): number
  readonly squeezed: readonly Squeezed[]
}

/** A stretch so many times as long as the rest is squeezed: one in which something runs only if it would hide all else. */
const LONG = { idle: 0.8, busy: 6 }
/** What a squeezed stretch gets, as a share of the rest. */
const SHORT = 0.08

/** `runs`: when something ran, from and to. */
export function timescale(moments: readonly number[], runs: readonly Squeezed[]): Timescale {
  const points = [...new Set(moments)].sort((a, b) => a - b)
  if (points.length < 2) points.push((points[0] ?? 0) + 1_000, (points[0] ?? 0) + 2_000)
  const gaps = points.slice(1).map((point, i) => point - (points[i] as number))
  const isBusy = gaps.map((_, i) =>
    runs.some(({ from, to }) => from < (points[i + 1] as number) && to > (points[i] as number)),
  )
  const isLong = longOf(gaps, isBusy)
  const rest = gaps.reduce((sum, gap, i) => sum + (isLong[i] ? 0 : gap), 0)
  const widths = gaps.map((gap, i) => (isLong[i] ? Math.max(rest, 1) * SHORT : gap))
  const whole = widths.reduce((sum, width) => sum + width, 0)
  const places = [0]
  for (const width of widths) places.push((places.at(-1) as number) + (width / whole) * 100)
  return {
    at: (ms) => interpolate(points, places, ms),
    momentAt: (percent) => interpolate(places, points, percent),
    squeezed: gaps.flatMap((_, i) => (isLong[i] ? { from: points[i] as number, to: points[i + 1] as number } : [])),
  }
}

/** The longest first: a stretch is long beside those that are not. */
function longOf(gaps: readonly number[], isBusy: readonly boolean[]): boolean[] {
  const isLong = gaps.map(() => false)
  if (gaps.length < 3) return isLong
  let rest = gaps.reduce((sum, gap) => sum + gap, 0)
  for (const i of gaps.map((_, index) => index).sort((a, b) => (gaps[b] as number) - (gaps[a] as number))) {
    const gap = gaps[i] as number
    if (rest - gap <= 0 || gap < (rest - gap) * (isBusy[i] ? LONG.busy : LONG.idle)) continue
    isLong[i] = true
    rest -= gap
  }
  return isLong
}

function interpolate(from: readonly number[], to: readonly number[], value: number): number {
  const last = from.length - 1
  if (value <= (from[0] as number)) return to[0] as number
  if (value >= (from[last] as number)) return to[last] as number
  let [low, next] = [0, last]
  while (next - low > 1) {
    const middle = (low + next) >> 1
    if ((from[middle] as number) <= value) low = middle
    else next = middle
  }
  const [a, b] = [from[next - 1] as number, from[next] as number]
  const [c, d] = [to[next - 1] as number, to[next] as number]
  return c + ((value - a) / (b - a)) * (d - c)
}
