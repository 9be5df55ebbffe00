// At what the workers look, and from when on it fires.
import { useQuery } from '@tanstack/react-query'
import { type Answer, ask } from '../../data/queries.ts'
import { Card } from '../../ui/card.tsx'
import { ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { Badge } from '../../ui/status-badge.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { formatDuration, formatNumber } from '../../ui/text/format.ts'
import { TONE } from './firing.tsx'

type Rule = Answer<'alerts', 'rules'>['rules'][number] & { readonly firing: number }

export function Rules({ alerts: { alerts } }: { alerts: Answer<'alerts', 'list'> }) {
  const { data, error, refetch } = useQuery({ ...ask('alerts', 'rules', {}), staleTime: Number.POSITIVE_INFINITY })
  if (error) return <ErrorState what="The rules could not be read." error={error} onRetry={refetch} />
  if (!data) return <SkeletonRows />
  const firing = (name: string) => alerts.filter((alert) => alert.name === name && alert.state === 'firing').length
  const own = [...new Set(alerts.map(({ name }) => name))].filter(
    (name) => !data.rules.some((rule) => rule.name === name),
  )
  return (
    <Card
      title="Built-in rules"
      flush
      note="With their usual thresholds: a program may set others, and have rules of its own."
    >
      <DataTable
        label="Alert rules"
        rows={data.rules.map((rule) => ({ ...rule, firing: firing(rule.name) }))}
        columns={COLUMNS}
        keyOf={(row) => row.name}
        none={null}
      />
      {own.length > 0 && <p className="note own-rules">Of programs, seen within a day: {own.join(', ')}.</p>}
    </Card>
  )
}

const TELLS = { owner: "the queue's owner", queues: "the queue's policy", ops: 'the ops channel' }

const COLUMNS: readonly Column<Rule>[] = [
  {
    key: 'name',
    title: 'rule',
    isHead: true,
    sort: (row) => row.name,
    cell: (row) => (
      <span className="two">
        <b className="mono">{row.name}</b>
        <span className="dim">{row.summary}</span>
      </span>
    ),
  },
  {
    key: 'severity',
    title: 'severity',
    sort: (row) => row.severity,
    cell: (row) => <Badge tone={TONE[row.severity] ?? 'late'}>{row.severity}</Badge>,
  },
  {
    key: 'when',
    title: 'fires at',
    cell: (row) => (
      <span className="nw">
        {row.compare === '>' ? 'above' : 'from'} {formatNumber(row.threshold)}
        {row.forMs > 0 && ` for ${formatDuration(row.forMs)}`}
      </span>
    ),
  },
  { key: 'tells', title: 'tells', cell: (row) => (row.tells === null ? 'listeners and the log' : TELLS[row.tells]) },
  {
    key: 'now',
    title: 'now',
    align: 'right',
    sort: (row) => row.firing,
    cell: (row) =>
      row.firing > 0 ? <Badge tone="fail">{row.firing} firing</Badge> : <span className="faint">quiet</span>,
  },
]
