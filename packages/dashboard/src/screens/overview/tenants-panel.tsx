// Who waits most.
import { type Answer, ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Card } from '../../ui/card.tsx'
import { Meter } from '../../ui/chart/meter.tsx'
import { Link } from '../../ui/link.tsx'
import { QueueName, TenantName } from '../../ui/names.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Duration, Quantity } from '../../ui/text/figures.tsx'
import { formatPercent } from '../../ui/text/format.ts'

type Row = Answer<'queues', 'stats'>['tenants'][number] & { readonly share: number }

const COLUMNS: Column<Row>[] = [
  {
    key: 'tenant',
    title: 'tenant',
    isHead: true,
    sort: ({ tenant }) => tenant,
    cell: ({ tenant }) => <TenantName name={tenant} />,
  },
  {
    key: 'queue',
    title: 'queue',
    narrow: 'hide',
    sort: ({ queue }) => queue,
    cell: ({ queue }) => <QueueName name={queue} plain />,
  },
  {
    key: 'share',
    title: 'share of running',
    sort: ({ share }) => share,
    narrow: 'hide',
    cell: ({ share }) => (
      <span className="share">
        <Meter share={share} label="Share of the jobs that run in the queue" />
        {formatPercent(share)}
      </span>
    ),
  },
  {
    key: 'waiting',
    title: 'waiting',
    align: 'right',
    sort: ({ waiting }) => waiting,
    cell: ({ waiting }) => <Quantity value={waiting} />,
  },
  {
    key: 'p95',
    title: 'p95 wait',
    align: 'right',
    sort: ({ waitP95Ms }) => waitP95Ms,
    cell: ({ waitP95Ms }) => <Duration ms={waitP95Ms} />,
  },
]

const MOST = 6

/** Nothing, where no work belongs to tenants. */
export function TenantsPanel() {
  const { data } = useLive(ask('queues', 'stats', {}), { topic: 'overview' })
  const running = new Map<string, number>()
  for (const { queue, running: count } of data?.types ?? []) running.set(queue, (running.get(queue) ?? 0) + count)
  const rows = (data?.tenants ?? []).map(
    (row): Row => ({ ...row, share: row.running / Math.max(1, running.get(row.queue) ?? 0) }),
  )
  if (rows.length === 0) return null
  const busiest = rows.sort((a, b) => b.waiting + b.running - (a.waiting + a.running)).slice(0, MOST)
  return (
    <Card flush title="Who gets what" aside={<Link to="/tenants">All tenants</Link>}>
      <DataTable
        label="The tenants with most work"
        rows={busiest}
        columns={COLUMNS}
        keyOf={({ tenant, queue }) => `${tenant} ${queue}`}
        hasKeys={false}
        isPage={false}
        onPhone="rows"
        none={null}
      />
    </Card>
  )
}
