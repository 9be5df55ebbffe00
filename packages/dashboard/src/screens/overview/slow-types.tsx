// The types that fail most, and the slowest.
import type { Answer } from '../../data/queries.ts'
import { ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Card } from '../../ui/card.tsx'
import { Link } from '../../ui/link.tsx'
import { TypeName } from '../../ui/names.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Duration, Percent, Quantity } from '../../ui/text/figures.tsx'

type Row = Answer<'reports', 'runs'>['types'][number] & { readonly change: number | null }

const COLUMNS: Column<Row>[] = [
  {
    key: 'type',
    title: 'type',
    isHead: true,
    sort: ({ type }) => type,
    cell: ({ type }) => (
      <Link to={`/jobs?q=${encodeURIComponent(`type:${type}`)}`}>
        <TypeName name={type} />
      </Link>
    ),
  },
  {
    key: 'runs',
    title: 'runs',
    narrow: 'hide',
    align: 'right',
    sort: ({ runs }) => runs,
    cell: ({ runs }) => <Quantity value={runs} compact />,
  },
  {
    key: 'p95',
    title: 'p95',
    align: 'right',
    sort: ({ duration }) => duration.p95Ms,
    cell: ({ duration }) => <Duration ms={duration.p95Ms} />,
  },
  {
    key: 'failing',
    title: 'failing',
    align: 'right',
    sort: ({ failureRate }) => failureRate,
    cell: ({ failureRate }) => <Percent share={failureRate} />,
  },
  {
    key: 'change',
    title: 'change',
    align: 'right',
    sort: ({ change }) => change,
    cell: ({ change }) => <Change points={change} />,
  },
]

function Change({ points }: { points: number | null }) {
  if (points === null) return <span className="faint">–</span>
  if (Math.abs(points) < 0.05) return <span className="faint">= 0.0</span>
  return (
    <span className={points > 0 ? 't-fail' : 't-ok'}>{`${points > 0 ? '▲' : '▼'} ${Math.abs(points).toFixed(1)}`}</span>
  )
}

export function SlowTypes() {
  const hour = useLive(ask('reports', 'runs', { since: '1h' }), { every: 30_000 })
  const day = useLive(ask('reports', 'runs', { since: '24h' }), { every: 300_000 })
  const before = new Map(day.data?.types.map(({ queue, type, failureRate }) => [`${queue} ${type}`, failureRate]))
  const rows = (hour.data?.types ?? []).map((row): Row => {
    const then = before.get(`${row.queue} ${row.type}`)
    const isKnown = row.failureRate !== null && then !== null && then !== undefined
    return { ...row, change: isKnown ? ((row.failureRate ?? 0) - then) * 100 : null }
  })
  const worst = [...rows].sort(
    (a, b) => (b.failureRate ?? 0) - (a.failureRate ?? 0) || (b.duration.p95Ms ?? 0) - (a.duration.p95Ms ?? 0),
  )
  return (
    <Card
      flush
      title="Failing and slow types"
      aside={<span className="note">last hour; change against 24 hours, in points</span>}
    >
      {hour.error && <ErrorState what="The report could not be read." error={hour.error} onRetry={hour.refetch} />}
      {hour.isPending ? (
        <SkeletonRows rows={5} />
      ) : (
        <DataTable
          label="Types with the share of runs that failed, and how long they ran"
          rows={worst.slice(0, 8)}
          columns={COLUMNS}
          keyOf={({ queue, type }) => `${queue} ${type}`}
          hasKeys={false}
          isPage={false}
          onPhone="rows"
          none={<EmptyState title="No job ran in the last hour." />}
        />
      )}
    </Card>
  )
}
