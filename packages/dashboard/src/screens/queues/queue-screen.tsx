// One queue: is it on time, what holds it, and what can be changed: pause, limits. Below, who gets what share of it.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useTitle } from '../../app/title.ts'
import { ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { useLive } from '../../data/use-live.ts'
import { Card, Facts } from '../../ui/card.tsx'
import { Slots } from '../../ui/chart/meter.tsx'
import { Sparkline } from '../../ui/chart/sparkline.tsx'
import { Link } from '../../ui/link.tsx'
import { useQueueClass } from '../../ui/queue-colour.ts'
import { ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { Duration, Quantity } from '../../ui/text/figures.tsx'
import { counted, formatDuration, formatNumber } from '../../ui/text/format.ts'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { becauseOf, drainMs, type QueueState, queueStates } from '../overview/queue-state.ts'
import { FairnessPicture } from '../tenants/fairness-picture.tsx'
import { RulesTable } from '../tenants/rules-table.tsx'
import { ShareTable } from '../tenants/share-table.tsx'
import { QueueLimits } from './queue-limits.tsx'
import { QueuePause } from './queue-pause.tsx'
import { QueueTypes } from './queue-types.tsx'
import '../tenants/tenants.css'
import './queues.css'

interface Declared {
  readonly title?: string | null
  readonly use?: string | null
  readonly priority?: number
  readonly concurrency?: number
  readonly isCritical?: boolean
  readonly tenantJobs?: { readonly max: number; readonly over: string } | null
}

export function QueueScreen() {
  const { queue = '' } = useParams({ strict: false }) as { queue?: string }
  useTitle(queue)
  const may = useMay()
  const vitals = useLive(ask('health', 'vitals', {}), { topic: 'vitals' })
  const catalogue = useQuery({ ...ask('catalogue', 'list', { kind: 'queue' }), staleTime: 300_000 })
  const fairness = useLive({ ...ask('queues', 'fairness', { queue }), enabled: may('queues.fairness') })
  if (vitals.error && !vitals.data)
    return <ErrorState what="The queue could not be read." error={vitals.error} onRetry={vitals.refetch} />
  if (!vitals.data) {
    return (
      <>
        <h1 className="verdict" aria-busy="true">
          {queue}
        </h1>
        <SkeletonRows />
      </>
    )
  }
  const state = queueStates(vitals.data, new Map()).find((each) => each.vitals.queue === queue)
  const declared = catalogue.data?.entries.find(({ name }) => name === queue)?.document as Declared | undefined
  if (state === undefined) {
    return (
      <>
        <Breadcrumb queue={queue} />
        <Verdict>There is no queue {queue}.</Verdict>
        <p>
          No program declares it and no job is in it. <Link to="/queues">All queues</Link>
        </p>
      </>
    )
  }
  return (
    <>
      <Breadcrumb queue={queue} />
      <QueueVerdict state={state} />
      <QueuePause queue={queue} pauses={state.vitals.pauses} waiting={state.vitals.waiting} />
      <div className="split depths">
        <Depth state={state} declared={declared} />
        <QueueLimits queue={queue} />
      </div>
      {fairness.data && fairness.data.working > 0 && (
        <>
          <FairnessPicture fairness={fairness.data} slaMs={state.vitals.slaMs} />
          <ShareTable fairness={fairness.data} />
          <RulesTable fairness={fairness.data} />
        </>
      )}
      <QueueTypes queue={queue} />
    </>
  )
}

const Breadcrumb = ({ queue }: { queue: string }) => (
  <nav className="crumbs" aria-label="Breadcrumb">
    <ol>
      <li>
        <Link to="/queues">Queues</Link>
      </li>
      <li aria-current="page">{queue}</li>
    </ol>
    <span className="end">
      <Link to={`/jobs?q=${encodeURIComponent(`queue:${queue}`)}`}>Its jobs</Link>
    </span>
  </nav>
)

function QueueVerdict({ state: { vitals, state, cause } }: { state: QueueState }) {
  const { queue, due, running, slaMs, oldestDueMs } = vitals
  const because = becauseOf(cause)
  const facts = [
    `${counted(due, 'job')} due`,
    `${counted(running, 'job')} running`,
    slaMs === null ? 'no SLA' : `SLA ${formatDuration(slaMs)}`,
    vitals.owner && `owner: ${vitals.owner.name}`,
  ]
  return (
    <Verdict facts={facts}>
      {state === 'on time' && (
        <>
          {queue} is <Em tone="ok">on time</Em>.
        </>
      )}
      {state === 'idle' && <>{queue} is idle.</>}
      {state === 'late' && (
        <>
          {queue} is <Em>late</Em>
          {oldestDueMs !== null && <> by up to {formatDuration(Math.max(0, oldestDueMs - (slaMs ?? 0)))}</>} {because}.
        </>
      )}
      {state === 'paused' && (
        <>
          {queue} is <Em>paused</Em>
          {cause?.kind === 'paused' && ` by ${cause.by}: ${cause.reason}`}.
        </>
      )}
      {state === 'unserved' && (
        <>
          {queue} waits <Em tone="fail">{because}</Em>.
        </>
      )}
    </Verdict>
  )
}

function Depth({ state: { vitals, slots }, declared }: { state: QueueState; declared: Declared | undefined }) {
  const { queue, waiting, due, blocked, running, oldestDueMs, latencyP95Ms, owner } = vitals
  const colour = useQueueClass(queue)
  const { data } = useLive(ask('reports', 'series', { since: '1h', step: 'minute', queue }), { every: 20_000 })
  const finished = data?.points.map((point) => point.finished) ?? []
  const last = finished.slice(-6, -1)
  const perMinute = last.reduce((sum, count) => sum + count, 0) / Math.max(1, last.length)
  const drain = drainMs(due, perMinute)
  return (
    <Card title={declared?.title ?? queue} note={declared?.use ?? undefined} edge={colour} className="depth">
      <Sparkline values={finished} label={`Jobs a minute that ended in ${queue}, over the last hour`} />
      <Slots used={Math.min(running, slots)} of={slots} label={`${running} of ${slots} slots in use`} />
      <Facts
        of={[
          ['waiting', <Quantity key="waiting" value={waiting} />],
          ['due now', <Quantity key="due" value={due} />],
          ['blocked', blocked > 0 ? <Quantity key="blocked" value={blocked} /> : null],
          ['oldest due', <Duration key="oldest" ms={oldestDueMs} none="none" />],
          ['p95 to done', <Duration key="p95" ms={latencyP95Ms} none="nothing ended in five minutes" />],
          ['drained in', drain === null ? 'no estimate' : formatDuration(drain)],
          ['rate', `${formatNumber(Math.round(perMinute))} jobs a minute done`],
          ['slots', slots === 0 ? 'no worker serves it' : `${running} of ${slots} in use`],
          ['slots of a process', declared?.concurrency],
          ['priority', declared?.priority],
          ['critical', declared?.isCritical ? 'others yield to it under overload' : null],
          [
            'jobs of a tenant',
            declared?.tenantJobs && `${formatNumber(declared.tenantJobs.max)}, then ${declared.tenantJobs.over}`,
          ],
          ['owner', owner && [owner.name, owner.channel, owner.address].filter(Boolean).join(' · ')],
        ]}
      />
    </Card>
  )
}
