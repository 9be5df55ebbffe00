// Overview: what is wrong, why, and the right button.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask } from '../../data/queries.ts'
import { NeedsAttention } from '../../ui/needs-attention.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { counted, formatNumber } from '../../ui/text/format.ts'
import { Verdict } from '../../ui/verdict.tsx'
import { attentionOf } from './attention.tsx'
import { Charts, type Span } from './charts.tsx'
import { QueueCards } from './queue-cards.tsx'
import { queueStates, type Vitals } from './queue-state.ts'
import { SlowTypes } from './slow-types.tsx'
import { TenantsPanel } from './tenants-panel.tsx'
import { VerdictLine } from './verdict-line.tsx'
import { Welcome } from './welcome.tsx'
import './overview.css'

export function OverviewScreen() {
  const vitals = useQuery({ ...ask('health', 'vitals', {}), refetchInterval: 3_000 })
  const { data } = vitals
  if (vitals.error && !data) {
    return (
      <>
        <Verdict>The overview could not be read.</Verdict>
        <ErrorState what="The server refused or failed." error={vitals.error} onRetry={vitals.refetch} />
      </>
    )
  }
  return data ? <Overview vitals={data} /> : <Loading />
}

function Overview({ vitals }: { vitals: Vitals }) {
  const [span, setSpan] = useState<Span>('3h')
  const health = useQuery({ ...ask('health', 'read', {}), refetchInterval: 15_000 })
  const groups = useQuery({ ...ask('deadLetters', 'groups', { limit: 50 }), refetchInterval: 10_000 })
  const rollingBack = useQuery({
    ...ask('workflows', 'list', { status: 'rolling back', limit: 5 }),
    refetchInterval: 10_000,
  })
  const types = useQuery({ ...ask('catalogue', 'jobTypes', {}), staleTime: 60_000 })
  const day = useQuery({ ...ask('reports', 'runs', { since: '7d' }), staleTime: 60_000 })
  const hour = useQuery({ ...ask('reports', 'series', { since: '1h', step: 'minute' }), refetchInterval: 15_000 })
  const declared = useQuery({ ...ask('catalogue', 'list', { kind: 'queue' }), staleTime: 300_000 })
  const states = queueStates(vitals, prioritiesOf(declared.data))
  const isEmpty =
    vitals.queues.every(({ waiting, running }) => waiting + running === 0) && vitals.deadLetters.pending === 0
  if (isEmpty && day.data?.total.runs === 0) return <Welcome types={types.data?.types.map(({ name }) => name) ?? []} />
  const items = attentionOf({
    ...{ vitals, states, health: health.data },
    groups: groups.data?.groups ?? [],
    rollingBack: rollingBack.data?.workflows ?? [],
  })
  const others = items.filter(({ tone }) => tone === 'fail' || tone === 'late').length
  return (
    <>
      <VerdictLine states={states} others={others} facts={factsOf(vitals, hour.data?.points.slice(-6, -1) ?? [])} />
      <NeedsAttention items={items} />
      <QueueCards states={states} />
      <div className="bar charts-bar">
        <h2 className="vh">Over time</h2>
        <Menu
          name="Time range of the charts"
          label={SPANS[span]}
          items={Object.entries(SPANS).map(([key, label]) => ({
            ...{ key, label, isChosen: key === span },
            onChoose: () => setSpan(key as Span),
          }))}
        />
      </div>
      <Charts span={span} marks={marksOf(vitals)} />
      <div className="grid2">
        <SlowTypes />
        <TenantsPanel />
      </div>
    </>
  )
}

const prioritiesOf = (answer: Answer<'catalogue', 'list'> | undefined): ReadonlyMap<string, number> =>
  new Map(answer?.entries.map(({ name, document }) => [name, Number(document.priority ?? 5)]))

const SPANS: Record<Span, string> = {
  '1h': 'Last hour',
  '3h': 'Last 3 hours',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
}

function factsOf({ workers, deadLetters, queues }: Vitals, minutes: readonly { finished: number }[]): string[] {
  const perMinute = minutes.reduce((sum, { finished }) => sum + finished, 0) / Math.max(1, minutes.length)
  const running = queues.reduce((sum, queue) => sum + queue.running, 0)
  return [
    `${formatNumber(Math.round(perMinute))} jobs a minute done`,
    `${formatNumber(running)} running on ${counted(workers.length, 'worker')}`,
    deadLetters.pending === 0
      ? 'no dead letter waits for a decision'
      : `${counted(deadLetters.pending, 'dead letter')}`,
  ]
}

/** Since when breakers are open and queues paused. */
function marksOf({ breakers, queues }: Vitals): { at: number; label: string }[] {
  return [
    ...breakers.flatMap(({ service, openedAt }) =>
      openedAt ? [{ at: +new Date(openedAt), label: `breaker ${service}` }] : [],
    ),
    ...queues.flatMap(({ queue, pauses }) =>
      pauses.slice(0, 1).map(({ createdAt }) => ({ at: +new Date(createdAt), label: `${queue} paused` })),
    ),
  ].slice(0, 4)
}

const Loading = () => (
  <>
    <h1 className="verdict" aria-busy="true">
      <span className="vh">Reading the state of the queues</span>
      <Skeleton width="60%" height={26} />
    </h1>
    <div className="panel">
      <Skeleton height={110} />
    </div>
    <div className="queues">
      {[1, 2, 3, 4, 5].map((key) => (
        <div key={key} className="card">
          <Skeleton height={186} />
        </div>
      ))}
    </div>
  </>
)
