// Figures in the text: all in tabular digits, all with the exact value on hover.
import { useNow } from './clock.ts'
import { compactNumber, formatDuration, formatNumber, formatPercent } from './format.ts'

/** How long something took; with `since` instead, a duration that grows. */
export function Duration({ ms, since, none = '–' }: { ms?: number | null; since?: Date | string; none?: string }) {
  const now = useNow()
  const length = since === undefined ? ms : Math.max(0, now - new Date(since).getTime())
  if (length === null || length === undefined) return <span className="faint">{none}</span>
  return (
    <span className="nw" title={`${formatNumber(length)} ms`}>
      {formatDuration(length)}
    </span>
  )
}

export interface QuantityProps {
  value: number | null | undefined
  /** "48.2k" instead of "48,219". */
  compact?: boolean
  /** The count stopped there: "100k+". */
  isCapped?: boolean
}

export function Quantity({ value, compact = false, isCapped = false }: QuantityProps) {
  if (value === null || value === undefined) return <span className="faint">–</span>
  const text = compact ? compactNumber(value) : formatNumber(value)
  return (
    <span className="nw" title={formatNumber(value)}>
      {text}
      {isCapped && '+'}
    </span>
  )
}

/** A share from 0 to 1. */
export const Percent = ({ share }: { share: number | null | undefined }) =>
  share === null || share === undefined ? (
    <span className="faint">–</span>
  ) : (
    <span className="nw">{formatPercent(share)}</span>
  )
