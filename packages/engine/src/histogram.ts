// Histograms of milliseconds with fixed buckets, two for each doubling, so that counts of many processes can be added up.

/** The upper bound of bucket i is 2^(i / 2) ms; the last one with a bound ends after nine hours. */
const LAST_BOUNDED = 50
const OVERFLOW = LAST_BOUNDED + 1

const boundMs = (bucket: number): number => 2 ** (bucket / 2)

export function bucketOf(ms: number): number {
  if (ms <= 1) return 0
  return Math.min(OVERFLOW, Math.ceil(2 * Math.log2(ms)))
}

/** Counts one value. The array is as long as its last count. */
export function countIn(histogram: number[], ms: number): void {
  const bucket = bucketOf(ms)
  while (histogram.length <= bucket) histogram.push(0)
  histogram[bucket] = (histogram[bucket] as number) + 1
}

export function addTo(histogram: number[], more: readonly number[]): void {
  while (histogram.length < more.length) histogram.push(0)
  for (const [bucket, count] of more.entries()) histogram[bucket] = (histogram[bucket] as number) + count
}

/**
 * The value that `share` of all counted ones do not exceed, 0.95 for P95, as far as the buckets tell: within one it is interpolated.
 * Null: nothing was counted.
 */
export function percentileMs(histogram: readonly number[], share: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let below = 0
  for (const [bucket, count] of histogram.entries()) {
    if (count > 0 && below + count >= share * total) return within(bucket, (share * total - below) / count)
    below += count
  }
  return boundMs(LAST_BOUNDED)
}

function within(bucket: number, part: number): number {
  if (bucket === 0) return part
  if (bucket === OVERFLOW) return boundMs(LAST_BOUNDED)
  return boundMs(bucket - 1 + part)
}
