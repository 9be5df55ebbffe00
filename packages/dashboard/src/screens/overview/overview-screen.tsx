// Overview: what is wrong, why, and the right button.
import { useQuery } from '@tanstack/react-query'
import { useRange } from '../../app/address.ts'
import { useKeyHints } from '../../app/key-hints.ts'
import { useTitle } from '../../app/title.ts'
import { type Answer, ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { useLive } from '../../data/use-live.ts'
import { useKeys } from '../../ui/keys.ts'
import { useGo } from '../../ui/link.tsx'
import { NeedsAttention } from '../../ui/needs-attention.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { counted, formatNumber } from '../../ui/text/format.ts'
import { Verdict } from '../../ui/verdict.tsx'
import { attentionOf } from './attention.tsx'
import { Charts } from './charts.tsx'
import { useOldest } from './oldest.ts'
import { QueueCards } from './queue-cards.tsx'
import { queueStates, type Vitals } from './queue-state.ts'
import { SlowTypes } from './slow-types.tsx'
import { TenantOverview } from './tenant-overview.tsx'
import { TenantsPanel } from './tenants-panel.tsx'
import { VerdictLine } from './verdict-line.tsx'
import { Welcome } from './welcome.tsx'
import './overview.css'

export function OverviewScreen() {
  useTitle('Overview')
  const may = useMay()
  return may('health.vitals') ? <WholeOverview /> : <TenantOverview />
}

function WholeOverview() {
  useKeyHints(HINTS)
  const vitals = useLive(ask('health', 'vitals', {}), { topic: 'vitals' })
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
  const { go } = useGo()
  const { since } = useRange()
  const health = useLive(ask('health', 'read', {}), { topic: 'health', every: 20_000 })
  const groups = useLive(ask('deadLetters', 'groups', { limit: 50 }), { topic: 'dead-letters', every: 20_000 })
  const rollingBack = useLive(ask('workflows', 'list', { status: 'rolling back', limit: 5 }))
  const types = useQuery({ ...ask('catalogue', 'jobTypes', {}), staleTime: 60_000 })
  const day = useQuery({ ...ask('reports', 'runs', { since: '7d' }), staleTime: 60_000 })
  const hour = useLive(ask('reports', 'series', { since: '1h', step: 'minute' }), { every: 15_000 })
  const declared = useQuery({ ...ask('catalogue', 'list', { kind: 'queue' }), staleTime: 300_000 })
  const oldest = useOldest(vitals, since)
  const states = queueStates(vitals, prioritiesOf(declared.data))
  const items = attentionOf({
    ...{ vitals, states, health: health.data },
    groups: groups.data?.groups ?? [],
    rollingBack: rollingBack.data?.workflows ?? [],
  })
  const open = items.slice(0, MOST_KEYS).map(({ action }, index) => {
    return [String(index + 1), () => action && 'to' in action && go(action.to)] as const
  })
  useKeys(Object.fromEntries(open))
  const isEmpty =
    vitals.queues.every(({ waiting, running }) => waiting + running === 0) && vitals.deadLetters.pending === 0
  if (isEmpty && day.data?.total.runs === 0) return <Welcome types={types.data?.types.map(({ name }) => name) ?? []} />
  // Lines that come one after the other would push the queues down.
  if ([health, groups, rollingBack].some(({ isPending }) => isPending)) return <Loading />
  const others = items.filter(({ tone }) => tone === 'fail' || tone === 'late').length
  return (
    <>
      <VerdictLine states={states} others={others} facts={factsOf(vitals, hour.data?.points.slice(-6, -1) ?? [])} />
      <NeedsAttention items={items} />
      <QueueCards states={states} />
      <Charts span={since} marks={marksOf(vitals)} oldest={oldest} />
      <div className="grid2 even">
        <SlowTypes />
        <TenantsPanel />
      </div>
    </>
  )
}

const prioritiesOf = (answer: Answer<'catalogue', 'list'> | undefined): ReadonlyMap<string, number> =>
  new Map(answer?.entries.map(({ name, document }) => [name, Number(document.priority ?? 5)]))

const MOST_KEYS = 9
const HINTS = [{ keys: '1–9', does: 'open what needs attention' }]

function factsOf({ workers, deadLetters, queues }: Vitals, minutes: readonly { finished: number }[]): string[] {
  const perMinute = minutes.reduce((sum, { finished }) => sum + finished, 0) / Math.max(1, minutes.length)
  const running = queues.reduce((sum, queue) => sum + queue.running, 0)
  return [
    `${counted(Math.round(perMinute), 'job')} a minute done`,
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
