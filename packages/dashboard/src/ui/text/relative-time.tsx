import { useNow, useTimeZone } from './clock.ts'
import { formatAbsolute, formatAge, formatClock, roughDuration } from './format.ts'

export interface RelativeTimeProps {
  at: Date | string | number | null | undefined
  /** 'age': "12 min ago". 'span': "12 min". 'clock': "14:02". 'moment': "14:02:11". */
  as?: 'age' | 'span' | 'clock' | 'moment'
  /** Shown where there is no time. */
  none?: string
}

/** A moment as an age that moves; the exact time, with its zone, on hover and for screen readers. */
export function RelativeTime({ at, as = 'age', none = '–' }: RelativeTimeProps) {
  const now = useNow()
  const zone = useTimeZone()
  if (at === null || at === undefined) return <span className="faint">{none}</span>
  const date = new Date(at)
  const ms = now - date.getTime()
  const clock = () => formatClock(date, zone, new Date(now), as === 'moment')
  const text = as === 'age' ? formatAge(ms) : as === 'span' ? roughDuration(ms) : clock()
  return (
    <time className="nw" dateTime={date.toISOString()} title={formatAbsolute(date, zone)}>
      {text}
    </time>
  )
}
