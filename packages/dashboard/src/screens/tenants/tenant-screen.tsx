// One tenant: its share, what it has in each queue, its limits, and whether it may run at all.
import { useParams, useSearch } from '@tanstack/react-router'
import { useTitle } from '../../app/title.ts'
import { type Answer, ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { useLive } from '../../data/use-live.ts'
import { Card, Facts } from '../../ui/card.tsx'
import { Link } from '../../ui/link.tsx'
import { QueueName } from '../../ui/names.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Duration, Quantity } from '../../ui/text/figures.tsx'
import { counted } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { isHeld, multiple, ruleName, type TenantShare } from './fairness.ts'
import { Lifecycle } from './lifecycle.tsx'
import { ShareForm } from './share-form.tsx'
import { TenantLimits } from './tenant-limits.tsx'
import './tenants.css'

export type Tenant = Answer<'tenants', 'get'>
export type Queues = Answer<'tenants', 'queues'>['queues']

export function TenantScreen() {
  const { tenant: name = '' } = useParams({ strict: false }) as { tenant?: string }
  const { queue: asked } = useSearch({ strict: false }) as { queue?: string }
  useTitle(name)
  const may = useMay()
  const tenant = useLive(ask('tenants', 'get', { tenant: name }))
  const work = useLive(ask('tenants', 'queues', { tenant: name }))
  const queues = work.data?.queues ?? []
  const queue = asked ?? [...queues].sort((a, b) => b.waiting + b.runs - (a.waiting + a.runs))[0]?.queue
  const mayCompare = may('queues.fairness') && queue !== undefined
  const fairness = useLive({ ...ask('queues', 'fairness', { queue: queue ?? '', tenant: name }), enabled: mayCompare })
  if (tenant.error && !tenant.data) {
    return (
      <>
        <Verdict>{name} could not be shown.</Verdict>
        <ErrorState what="The tenant could not be read." error={tenant.error} onRetry={tenant.refetch} />
      </>
    )
  }
  if (!tenant.data || (mayCompare && !fairness.data && !fairness.error) || (work.isPending && !work.error))
    return <Reading name={name} />
  const share = fairness.data?.top.find((each) => each.tenant === name)
  return (
    <>
      <Breadcrumb name={name} />
      <TenantVerdict tenant={tenant.data} share={share} queue={queue} queues={queues} />
      <div className="split">
        <div>
          <ShareForm tenant={tenant.data} fairness={fairness.data} share={share} />
          <Lifecycle tenant={tenant.data} queues={queues} />
        </div>
        <div>
          <Work queues={queues} isRead={work.data !== undefined} tenant={name} />
          <TenantLimits tenant={tenant.data} queues={queues} />
          <Card title="Facts">
            <Facts
              of={[
                ['state', <StatusBadge key="state" status={tenant.data.status} />],
                ['reason', tenant.data.reason],
                ['known since', <RelativeTime key="since" at={tenant.data.createdAt} />],
                ['changed', <RelativeTime key="changed" at={tenant.data.updatedAt} />],
                ['by', tenant.data.updatedBy],
              ]}
            />
          </Card>
        </div>
      </div>
    </>
  )
}

const Breadcrumb = ({ name }: { name: string }) => (
  <nav className="crumbs" aria-label="Breadcrumb">
    <ol>
      <li>
        <Link to="/tenants">Tenants</Link>
      </li>
      <li aria-current="page">{name}</li>
    </ol>
    <span className="end">
      <Link to={`/jobs?q=${encodeURIComponent(`tenant:${JSON.stringify(name)}`)}`}>Its jobs</Link>
    </span>
  </nav>
)

const Reading = ({ name }: { name: string }) => (
  <>
    <h1 className="verdict" aria-busy="true">
      {name}
    </h1>
    <SkeletonRows />
  </>
)

interface TenantVerdictProps {
  tenant: Tenant
  /** Undefined: it has no work, or the caller may not see that of others. */
  share: TenantShare | undefined
  queue: string | undefined
  queues: Queues
}

function TenantVerdict({ tenant, share, queue, queues }: TenantVerdictProps) {
  const waiting = queues.reduce((sum, each) => sum + each.waiting, 0)
  const facts = [
    `weight ${tenant.weight}`,
    share && queue && `${counted(share.waiting, 'job')} waiting in ${queue}`,
    share && `asks for ${multiple(share.asks)} its share`,
  ]
  return (
    <Verdict facts={facts}>
      {tenant.status === 'suspended' ? (
        <>
          {tenant.name} is <Em>suspended</Em>
          {tenant.reason === null ? '.' : `: ${tenant.reason}.`}
        </>
      ) : share === undefined ? (
        <>
          {tenant.name} {waiting === 0 ? 'has no work' : `has ${counted(waiting, 'job')} waiting`}.
        </>
      ) : isHeld(share) && share.heldBy ? (
        <>
          {tenant.name} waits in {queue}, held by <Em>{ruleName(share.heldBy)}</Em>.
        </>
      ) : share.asks > 1 ? (
        <>
          {tenant.name} asks for <Em>{multiple(share.asks)}</Em> its share of {queue} and delays itself.
        </>
      ) : (
        <>
          {tenant.name} gets what it asks for in {queue}, and waits <Duration ms={share.waitP95Ms} /> at p95.
        </>
      )}
    </Verdict>
  )
}

const COLUMNS: Column<Queues[number]>[] = [
  { key: 'queue', title: 'queue', isHead: true, cell: ({ queue }) => <QueueName name={queue} /> },
  { key: 'running', title: 'running', align: 'right', cell: ({ running }) => <Quantity value={running} /> },
  { key: 'waiting', title: 'waiting', align: 'right', cell: ({ waiting }) => <Quantity value={waiting} /> },
  { key: 'p95', title: 'p95 wait', align: 'right', cell: ({ waitP95Ms }) => <Duration ms={waitP95Ms} /> },
]

function Work({ queues, isRead, tenant }: { queues: Queues; isRead: boolean; tenant: string }) {
  return (
    <Card flush title="In each queue now">
      {isRead ? (
        <DataTable
          label={`What ${tenant} has in each queue`}
          rows={queues}
          columns={COLUMNS}
          keyOf={({ queue }) => queue}
          isPage={false}
          onPhone="rows"
          none={
            <EmptyState title="It has nothing in any queue">
              <p>Nothing waits or runs, and nothing has in the last ten minutes.</p>
            </EmptyState>
          }
        />
      ) : (
        <SkeletonRows rows={3} />
      )}
    </Card>
  )
}
