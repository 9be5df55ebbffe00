import { useNow, useTimeZone } from '../text/clock.ts'
import { formatClock } from '../text/format.ts'
import type { Series } from './series.ts'

interface ReadoutProps {
  at: number
  /** Where, from 0 to 1. */
  share: number
  index: number
  series: readonly Series[]
  format: (value: number) => string
}

/** The values of one step, beside the pointer. */
export function Readout({ at, share, index, series, format }: ReadoutProps) {
  const zone = useTimeZone()
  const now = useNow()
  const side = share > 0.6 ? { right: `${(1 - share) * 100}%` } : { left: `${share * 100}%` }
  return (
    <>
      <div className="cross" style={{ left: `${share * 100}%` }} />
      <div className="readout" style={side} role="status">
        <div className="at">{formatClock(new Date(at), zone, new Date(now))}</div>
        <dl>
          {series.map(({ key, label, colour, values }) => (
            <div key={key} style={{ display: 'contents' }}>
              <dt>
                <i className={`s-${colour}`} />
                {label}
              </dt>
              <dd>{values[index] === null || values[index] === undefined ? '–' : format(values[index])}</dd>
            </div>
          ))}
        </dl>
      </div>
    </>
  )
}
