// What every screen's URL may carry: the tenant that is looked at, and the time range.
import { useNavigate, useSearch } from '@tanstack/react-router'

export interface FrameSearch {
  /** Only things of this tenant are shown. */
  readonly tenant?: string
  /** Of charts and lists, such as '3h'. */
  readonly range?: string
}

export const RANGES = {
  '15m': ['Last 15 minutes', 15 * 60_000],
  '1h': ['Last hour', 3_600_000],
  '3h': ['Last 3 hours', 3 * 3_600_000],
  '24h': ['Last 24 hours', 24 * 3_600_000],
  '7d': ['Last 7 days', 7 * 24 * 3_600_000],
} as const

export type Range = keyof typeof RANGES

const isRange = (text: unknown): text is Range => typeof text === 'string' && Object.hasOwn(RANGES, text)

export function checkFrameSearch({ tenant, range }: Record<string, unknown>): FrameSearch {
  return {
    ...(typeof tenant === 'string' && tenant !== '' && { tenant }),
    ...(isRange(range) && { range }),
  }
}

/** The time range of the URL: `since` as the API reads it, and its length. Default: 3 hours. */
export function useRange(): { since: Range; ms: number; label: string } {
  const { range } = useSearch({ strict: false }) as FrameSearch
  const since = isRange(range) ? range : '3h'
  const [label, ms] = RANGES[since]
  return { since, ms, label }
}

/** The tenant of the URL, or undefined: all that the caller may see. */
export const useTenant = (): string | undefined => (useSearch({ strict: false }) as FrameSearch).tenant

/** Changes them in the URL of whatever screen is shown. */
export function useChangeFrame(): (part: { tenant?: string | undefined; range?: Range | undefined }) => void {
  const navigate = useNavigate()
  return (part) =>
    navigate({ to: '.', search: ((before: object) => ({ ...before, ...part })) as never, replace: false })
}
