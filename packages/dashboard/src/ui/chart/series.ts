// What charts draw.

/** Names a colour of the theme: class s-… in charts.css. */
export type SeriesColour = 'ok' | 'late' | 'fail' | 'accent' | 'ink' | 'faint' | 'violet' | 'blue' | 'queue'

export interface Series {
  readonly key: string
  readonly label: string
  readonly colour: SeriesColour
  /** One for each point in time; null: nothing is known. */
  readonly values: readonly (number | null)[]
  /** Of a line. */
  readonly isDashed?: boolean
  /** Of a line: the space below is tinted. */
  readonly isArea?: boolean
}

const WIDTH = 1000
const round = (value: number) => Math.round(value * 10) / 10

export interface Plane {
  readonly height: number
  readonly top: number
}

/** Bars on top of what lies below them, as one path. */
export function barsPath(values: readonly (number | null)[], below: readonly number[], plane: Plane): string {
  const slot = WIDTH / Math.max(1, values.length)
  const gap = Math.min(2, slot * 0.2)
  return values
    .map((value, index) => {
      if (!value) return ''
      const bottom = plane.height * (1 - (below[index] ?? 0) / plane.top)
      const height = Math.max(1, (plane.height * value) / plane.top)
      return `M${round(index * slot)} ${round(bottom - height)}h${round(slot - gap)}v${round(height)}h${round(gap - slot)}z`
    })
    .join('')
}

/** A line in the middle of each slot, interrupted where nothing is known. */
export function linePath(values: readonly (number | null)[], plane: Plane): string {
  const slot = WIDTH / Math.max(1, values.length)
  let isDown = false
  return values
    .map((value, index) => {
      if (value === null) {
        isDown = false
        return ''
      }
      const point = `${round((index + 0.5) * slot)} ${round(plane.height * (1 - Math.min(1, value / plane.top)))}`
      const isAlone = !isDown && (values[index + 1] ?? null) === null
      const command = isDown ? `L${point}` : isAlone ? `M${point}h.1` : `M${point}`
      isDown = true
      return command
    })
    .join('')
}

/** The same, closed along the bottom. */
export function areaPath(values: readonly (number | null)[], plane: Plane): string {
  return linePath(values, plane)
    .split('M')
    .filter((part) => part.includes('L'))
    .map((part) => {
      const xs = part.split('L').map((point) => point.split(' ')[0])
      return `M${part}L${xs.at(-1)} ${plane.height}L${xs[0]} ${plane.height}z`
    })
    .join('')
}

/** For each point the sum of all series before the given one. */
export function sumsBelow(series: readonly Series[], upTo: number): number[] {
  const length = series[0]?.values.length ?? 0
  return Array.from({ length }, (_, index) =>
    series.slice(0, upTo).reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  )
}

/** The highest point of lines, or of bars that stand on each other. */
export function highest(series: readonly Series[], isStacked: boolean): number {
  if (isStacked) return Math.max(0, ...sumsBelow(series, series.length))
  return Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
}
