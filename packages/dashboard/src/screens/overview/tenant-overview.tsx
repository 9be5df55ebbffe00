// The overview of a caller who is limited to tenants: only their work.

import type { Answer } from '../../data/queries.ts'
import { ask } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import { useLive } from '../../data/use-live.ts'
import { Card } from '../../ui/card.tsx'
import { QueueName, TenantName } from '../../ui/names.tsx'
import { NeedsAttention } from '../../ui/needs-attention.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Duration, Quantity } from '../../ui/text/figures.tsx'
import { counted, listed } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { deadGroups } from './attention.tsx'

type Row = Answer<'queues', 'stats'>['tenants'][number]

const COLUMNS: Column<Row>[] = [
  {
    key: 'queue',
    title: 'queue',
    isHead: true,
    sort: ({ queue }) => queue,
    cell: ({ queue }) => <QueueName name={queue} plain />,
  },
  { key: 'tenant', title: 'tenant', sort: ({ tenant }) => tenant, cell: ({ tenant }) => <TenantName name={tenant} /> },
  {
    key: 'waiting',
    title: 'waiting',
    align: 'right',
    sort: ({ waiting }) => waiting,
    cell: ({ waiting }) => <Quantity value={waiting} />,
  },
  {
    key: 'running',
    title: 'running',
    align: 'right',
    sort: ({ running }) => running,
    cell: ({ running }) => <Quantity value={running} />,
  },
  {
    key: 'p95',
    title: 'p95 wait',
    align: 'right',
    sort: ({ waitP95Ms }) => waitP95Ms,
    cell: ({ waitP95Ms }) => <Duration ms={waitP95Ms} />,
  },
  {
    key: 'oldest',
    title: 'oldest due',
    align: 'right',
    cell: ({ oldestDueAt }) => <RelativeTime at={oldestDueAt} as="span" none="none" />,
  },
]

export function TenantOverview() {
  const { tenants } = useSession()
  const stats = useLive(ask('queues', 'stats', {}), { every: 5_000 })
  const groups = useLive(ask('deadLetters', 'groups', { limit: 50 }))
  const rows = stats.data?.tenants ?? []
  const sum = (read: (row: Row) => number) => rows.reduce((total, row) => total + read(row), 0)
  const failures = groups.data?.groups ?? []
  return (
    <>
      <Verdict facts={[tenants && tenants.length > 0 && `the work of ${listed(tenants)}`]}>
        {stats.data ? (
          <>
            {counted(
              sum(({ waiting }) => waiting),
              'job',
            )}{' '}
            wait,{' '}
            {counted(
              sum(({ running }) => running),
              'job',
            )}{' '}
            run
            {failures.length > 0 ? (
              <>
                , and <Em tone="fail">{counted(failures.length, 'kind')} of failure</Em>{' '}
                {failures.length === 1 ? 'waits' : 'wait'} for a decision.
              </>
            ) : (
              <>
                , and <Em tone="ok">nothing is dead</Em>.
              </>
            )}
          </>
        ) : (
          'Reading your work'
        )}
      </Verdict>
      {stats.error && <ErrorState what="Your work could not be read." error={stats.error} onRetry={stats.refetch} />}
      <NeedsAttention items={deadGroups(failures, Date.now())} />
      <Card flush title="Your work by queue">
        {stats.isPending ? (
          <SkeletonRows />
        ) : (
          <DataTable
            label="Waiting and running jobs by queue and tenant"
            rows={rows}
            columns={COLUMNS}
            keyOf={({ queue, tenant }) => `${queue} ${tenant}`}
            none={<EmptyState title="No job of yours waits or runs." />}
          />
        )}
      </Card>
    </>
  )
}
