// How figures are summed up and how they are printed.

/** Three digits say all that a benchmark can. */
export function figure(value: number): string {
  if (value === 0 || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toPrecision(3)
}

export const percent = (value: number): string => `${(value * 100).toFixed(value < 0.1 ? 1 : 0)} %`

export function median(values: readonly number[]): number {
  const sorted = inOrder(values)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** `share` from 0 to 1: 0.99 is the value that one in a hundred exceeds. */
export function percentile(values: readonly number[], share: number): number {
  return inOrder(values)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
}

const inOrder = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b)
