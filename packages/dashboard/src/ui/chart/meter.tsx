// Shares as bars: of a budget, of slots, of a limit.
import { formatPercent } from '../text/format.ts'

export interface MeterProps {
  /** From 0 to 1; more is drawn as 1. */
  share: number
  /** What it is a share of: "Share of the slots". */
  label: string
  /** Another part that is taken but not used, such as reservations: hatched, behind the first. */
  held?: number
  /** A tick, such as what is due. */
  mark?: number | null
  tone?: 'queue' | 'ok' | 'late' | 'fail'
}

const width = (share: number) => `${Math.max(0, Math.min(1, share)) * 100}%`

export function Meter({ share, label, held = 0, mark, tone = 'queue' }: MeterProps) {
  return (
    <span
      className={`meter ${tone}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(Math.max(0, Math.min(1, share)) * 100)}
      aria-valuetext={formatPercent(share)}
    >
      {held > 0 && <i className="held" style={{ width: width(share + held) }} />}
      <i style={{ width: width(share) }} />
      {mark !== null && mark !== undefined && <b style={{ left: width(mark) }} />}
    </span>
  )
}

/** Small boxes, one for each slot: used and free. Beyond forty it is a bar. */
export function Slots({ used, of, label }: { used: number; of: number; label: string }) {
  if (of > 40) return <Meter share={of === 0 ? 0 : used / of} label={label} />
  return (
    <div className="slots" role="img" aria-label={label}>
      {Array.from({ length: of }, (_, slot) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: slots are all alike
        <i key={slot} className={slot < used ? 'on' : ''} />
      ))}
    </div>
  )
}
