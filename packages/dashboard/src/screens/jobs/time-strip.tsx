// When the jobs of the list were created. A part of it can be chosen by dragging, or with the arrow keys.
import { keepPreviousData } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useRange } from '../../app/address.ts'
import { ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Button } from '../../ui/button.tsx'
import { useTimeZone } from '../../ui/text/clock.ts'
import { counted, formatClock } from '../../ui/text/format.ts'
import { isScan, termsOf, withTerms } from './query-text.ts'

const STEPS = 96
const HEIGHT = 44

/** From the bottom to the top of each bar. */
const KINDS = [
  ['completed', 'ok', ['completed']],
  ['open', 'accent', ['pending', 'processing', 'blocked']],
  ['cancelled', 'faint', ['cancelled']],
  ['retrying', 'late', ['failed']],
  ['dead', 'fail', ['dead']],
] as const

export interface TimeStripProps {
  q: string
  tenant: string | undefined
  onSearch: (q: string) => void
}

export function TimeStrip({ q, tenant, onSearch }: TimeStripProps) {
  const span = useSpan(q)
  const asked = { q, from: span.from.toISOString(), to: span.to.toISOString(), steps: STEPS }
  const { data } = useLive(
    {
      ...ask('jobs', 'timeline', { ...asked, ...(tenant !== undefined && { tenant }) }),
      enabled: !isScan(q),
      retry: false,
      placeholderData: keepPreviousData,
    },
    { every: 30_000 },
  )
  const zone = useTimeZone()
  const bars = useMemo(() => barsOf(data?.steps ?? [], span.from.getTime(), data?.stepMs ?? 1), [data, span.from])
  const clock = (at: number) => formatClock(new Date(at), zone, new Date())
  const brush = (from: number, to: number) => {
    const at = (share: number) => new Date(span.from.getTime() + share * (span.to.getTime() - span.from.getTime()))
    onSearch(withTerms(q, 'created', `created:>=${iso(at(from))}`, `created:<${iso(at(to))}`))
  }
  const isChosen = termsOf(q).some((term) => term.startsWith('created:'))
  return (
    <section className="strip" aria-label="When these jobs were created">
      <Plot bars={bars} span={span} onBrush={brush} clock={clock} total={data ? totalOf(data.steps) : null} />
      <p className="note">
        <span>{clock(span.from.getTime())}</span>
        <span>{noteOf(q, data)}</span>
        {isChosen && (
          <Button size="sm" variant="quiet" onClick={() => onSearch(withTerms(q, 'created'))}>
            All times
          </Button>
        )}
        <span>{clock(span.to.getTime())}</span>
      </p>
    </section>
  )
}

/** To the second: finer is not readable, and a picture has no more. */
const iso = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`

interface Answered {
  readonly steps: readonly { readonly at: string; readonly counts: Readonly<Record<string, number | undefined>> }[]
  readonly isCapped: boolean
  readonly isTooLong: boolean
}

function noteOf(q: string, data: Answered | undefined): string {
  if (isScan(q)) return 'Texts are searched job by job, so there is no picture of when.'
  if (data === undefined) return 'Counting…'
  if (data.isTooLong) return 'Counting took too long. A narrower search has a picture.'
  if (data.isCapped) return `the newest ${totalOf(data.steps).toLocaleString('en')} of them; drag to choose a time`
  return totalOf(data.steps) === 0 ? 'none were created in this time' : 'drag to choose a time'
}

const totalOf = (steps: Answered['steps']): number =>
  steps.flatMap(({ counts }) => Object.values(counts)).reduce<number>((sum, count) => sum + (count ?? 0), 0)

/** The times of the query, else the range of the bar on top. It moves on by whole minutes, so that answers can be shared. */
function useSpan(q: string): { from: Date; to: Date } {
  const { ms } = useRange()
  const [openedAt] = useState(() => Math.ceil(Date.now() / 60_000) * 60_000)
  return useMemo(() => {
    const [, from] = /(?:^|\s)created:>=(\S+)/.exec(q) ?? []
    const [, to] = /(?:^|\s)created:<(\d\S+)/.exec(q) ?? []
    const [first, last] = [from ? Date.parse(from) : Number.NaN, to ? Date.parse(to) : Number.NaN]
    const end = Number.isNaN(last) ? openedAt : last
    const begin = Number.isNaN(first) || first >= end ? end - ms : first
    return { from: new Date(begin), to: new Date(end) }
  }, [q, ms, openedAt])
}

interface Bar {
  readonly index: number
  readonly total: number
  readonly parts: readonly { readonly colour: string; readonly from: number; readonly count: number }[]
}

function barsOf(steps: Answered['steps'], from: number, stepMs: number): Bar[] {
  return steps.map(({ at, counts }) => {
    let total = 0
    const parts = KINDS.map(([, colour, statuses]) => {
      const count = statuses.reduce((sum, status) => sum + (counts[status] ?? 0), 0)
      total += count
      return { colour, from: total - count, count }
    })
    return { index: Math.round((Date.parse(at) - from) / stepMs), total, parts: parts.filter(({ count }) => count > 0) }
  })
}

/** By the square root: beside a burst of thousands, a handful must still be seen. */
const heightOf = (count: number, most: number): number => Math.sqrt(count / most) * (HEIGHT - 2)

interface PlotProps {
  bars: readonly Bar[]
  span: { from: Date; to: Date }
  onBrush: (from: number, to: number) => void
  clock: (at: number) => string
  total: number | null
}

function Plot({ bars, span, onBrush, clock, total }: PlotProps) {
  const [drag, setDrag] = useState<readonly [number, number] | null>(null)
  const most = Math.max(1, ...bars.map((bar) => bar.total))
  const at = (share: number) => clock(span.from.getTime() + share * (span.to.getTime() - span.from.getTime()))
  const shareOf = (event: React.PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(1, (event.clientX - left) / width))
  }
  const [low, high] = drag === null ? [0, 0] : [Math.min(...drag), Math.max(...drag)]
  const done = () => {
    if (drag !== null && high - low > 0.01) onBrush(low, high)
    setDrag(null)
  }
  const keys: Record<string, () => void> = {
    ArrowLeft: () => setDrag([Math.max(0, (drag ?? [1, 1])[0] - 1 / 24), (drag ?? [1, 1])[1]]),
    ArrowRight: () => setDrag(drag && [Math.min(1, drag[0] + 1 / 24), drag[1]]),
    Enter: done,
    Escape: () => setDrag(null),
  }
  return (
    <div
      className="strip-plot"
      role="group"
      aria-label={`${total === null ? 'Jobs' : counted(total, 'job')} from ${at(0)} to ${at(1)}. Left and right choose the last part of it, Enter takes it.`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys choose a time
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setDrag([shareOf(event), shareOf(event)])
      }}
      onPointerMove={(event) => drag !== null && event.buttons > 0 && setDrag([drag[0], shareOf(event)])}
      onPointerUp={done}
      onPointerCancel={() => setDrag(null)}
      onKeyDown={(event) => {
        const action = keys[event.key]
        if (action === undefined) return
        event.preventDefault()
        event.stopPropagation()
        action()
      }}
    >
      <svg viewBox={`0 0 ${STEPS} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.flatMap(({ index, parts }) =>
          parts.map(({ colour, from, count }) => (
            <rect
              key={`${index} ${colour}`}
              className={`fill s-${colour}`}
              x={index + 0.1}
              width={0.8}
              y={HEIGHT - heightOf(from + count, most)}
              height={Math.max(1, heightOf(from + count, most) - heightOf(from, most))}
            />
          )),
        )}
      </svg>
      {drag !== null && (
        <div className="brush" style={{ left: `${low * 100}%`, width: `${(high - low) * 100}%` }}>
          <span>
            {at(low)} to {at(high)}
          </span>
        </div>
      )}
    </div>
  )
}
