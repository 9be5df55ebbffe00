const DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /

/**
 * Milliseconds to wait by a Retry-After header: seconds or an HTTP date. 0 for a date that has passed; undefined if the
 * header is missing or says nothing. A handler may pass it on: `throw new RetryAfter(ms)` of `millrace` bounds it.
 */
export function retryAfterMs(
  from: Pick<Headers, 'get'> | { headers: Pick<Headers, 'get'> } | string | null | undefined,
  now: number = Date.now(),
): number | undefined {
  const value = headerValue(from)?.trim()
  if (!value) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) {
    const ms = Math.ceil(Number(value) * 1000)
    return Number.isFinite(ms) ? ms : undefined
  }
  if (!DATE.test(value)) return undefined
  // The oldest of the three forms, asctime, names no zone, and all three are in GMT.
  const at = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

function headerValue(from: Parameters<typeof retryAfterMs>[0]): string | null | undefined {
  if (typeof from !== 'object' || from === null) return from
  return ('headers' in from ? from.headers : from).get('retry-after')
}
