// What was done and how long it waited, over time.
import { keepPreviousData } from '@tanstack/react-query'
import type { Range } from '../../app/address.ts'
import { ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Card } from '../../ui/card.tsx'
import { AsTable, Chart, Legend } from '../../ui/chart/chart.tsx'
import { niceDurationTop } from '../../ui/chart/scale.ts'
import type { Series } from '../../ui/chart/series.ts'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { formatDuration } from '../../ui/text/format.ts'
import type { Seen } from './oldest.ts'
import { type Gathered, gathered, stepFor } from './steps.ts'

type Span = Range

interface ChartsProps {
  /** How old the oldest due job was. */
  oldest: readonly Seen[]
  span: Span
  marks: readonly { at: number; label: string }[]
}

const WORDS: Record<Span, string> = {
  '15m': '15 minutes',
  '1h': 'hour',
  '3h': 'three hours',
  '24h': '24 hours',
  '7d': 'seven days',
}
const STEP_MS = { minute: 60_000, hour: 3_600_000 }

export function Charts({ span, marks, oldest }: ChartsProps) {
  const step = stepFor(span)
  const { data, error, refetch } = useLive(
    { ...ask('reports', 'series', { since: span, step }), placeholderData: keepPreviousData },
    { every: step === 'minute' ? 15_000 : 120_000 },
  )
  if (error && !data) return <ErrorState what="The report could not be read." error={error} onRetry={refetch} />
  if (!data) return <ChartSkeletons />
  const { at, stepMs, points } = gathered(data.points, STEP_MS[step])
  const outcomes = outcomesOf(points)
  const waits = [...waitsOf(points), oldestOf(oldest, at, stepMs)]
  const per = formatDuration(stepMs)
  return (
    <div className="grid2">
      <Card title="Throughput by outcome" aside={<Legend series={outcomes} />} note={`Runs in steps of ${per}.`}>
        <Chart
          kind="bars"
          at={at}
          stepMs={stepMs}
          series={outcomes}
          marks={marks}
          label={outcomeSentence(points, span)}
          none="No run has ended in this time."
        />
        <AsTable at={at} series={outcomes} />
      </Card>
      <Card
        title="Wait before start"
        aside={<Legend series={waits} />}
        note="Of runs that were claimed, the worst of each step. Quantiles go silent when a queue stalls; the oldest due job does not."
      >
        <Chart
          kind="lines"
          at={at}
          stepMs={stepMs}
          series={waits}
          marks={marks}
          format={formatDuration}
          topOf={niceDurationTop}
          label={waitSentence(points, span)}
          none="No run has started in this time."
        />
        <AsTable at={at} series={waits} format={formatDuration} />
      </Card>
    </div>
  )
}

const outcomesOf = (points: readonly Gathered[]): Series[] => [
  { key: 'completed', label: 'completed', colour: 'ok', values: points.map(({ completed }) => completed) },
  { key: 'failed', label: 'retried', colour: 'late', values: points.map(({ failed }) => failed) },
  { key: 'dead', label: 'dead', colour: 'fail', values: points.map(({ dead }) => dead) },
]

const waitsOf = (points: readonly Gathered[]): Series[] => [
  { key: 'p50', label: 'p50', colour: 'accent', values: points.map(({ p50 }) => p50) },
  { key: 'p95', label: 'p95', colour: 'blue', values: points.map(({ p95 }) => p95) },
  { key: 'p99', label: 'p99', colour: 'violet', values: points.map(({ p99 }) => p99) },
]

const oldestOf = (seen: readonly Seen[], at: readonly number[], stepMs: number): Series => ({
  ...{ key: 'oldest', label: 'oldest due', colour: 'ink', isDashed: true },
  values: at.map((from) => {
    const within = seen.filter((each) => each.at >= from && each.at < from + stepMs)
    return within.length === 0 ? null : Math.max(...within.map(({ ms }) => ms))
  }),
})

function outcomeSentence(points: readonly Gathered[], span: Span): string {
  const sum = (read: (point: Gathered) => number) => points.reduce((total, point) => total + read(point), 0)
  return `Runs over the last ${WORDS[span]}: ${sum((p) => p.completed)} completed, ${sum((p) => p.failed)} were retried, ${sum((p) => p.dead)} died.`
}

function waitSentence(points: readonly Gathered[], span: Span): string {
  const worst = Math.max(0, ...points.map(({ p95 }) => p95 ?? 0))
  return `Wait before start over the last ${WORDS[span]}: p95 was ${formatDuration(worst)} at most.`
}

const ChartSkeletons = () => (
  <div className="grid2">
    {['Throughput by outcome', 'Wait before start'].map((title) => (
      <Card key={title} title={title} note="…">
        <Skeleton height={230} />
      </Card>
    ))}
  </div>
)
