// The job types of a queue: what waits, runs and has failed.
import { type Answer, ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Card } from '../../ui/card.tsx'
import { Link } from '../../ui/link.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Duration, Quantity } from '../../ui/text/figures.tsx'

type Row = Answer<'queues', 'stats'>['types'][number]

const figure = (key: string, title: string, read: (row: Row) => number): Column<Row> => ({
  ...{ key, title, align: 'right', sort: read },
  cell: (row) => <Quantity value={read(row)} />,
})

const COLUMNS: Column<Row>[] = [
  {
    key: 'type',
    title: 'type',
    isHead: true,
    sort: ({ type }) => type,
    cell: ({ type }) => <Link to={`/jobs?q=${encodeURIComponent(`type:${type}`)}`}>{type}</Link>,
  },
  figure('due', 'due', ({ due }) => due),
  figure('running', 'running', ({ running }) => running),
  figure('failed', 'waits to retry', ({ failed }) => failed),
  figure('dead', 'dead letters', ({ dead }) => dead),
  figure('done', 'done in an hour', ({ lastHour }) => lastHour.finished),
  {
    key: 'p95',
    title: 'p95 run',
    align: 'right',
    sort: ({ lastHour }) => lastHour.durationP95Ms,
    cell: ({ lastHour }) => <Duration ms={lastHour.durationP95Ms} />,
  },
]

export function QueueTypes({ queue }: { queue: string }) {
  const { data } = useLive(ask('queues', 'stats', {}), { topic: 'overview' })
  const rows = (data?.types ?? []).filter((row) => row.queue === queue && row.type !== null)
  return (
    <Card flush title="Job types">
      <DataTable
        label={`Job types of ${queue}`}
        rows={rows}
        columns={COLUMNS}
        keyOf={({ type }) => type ?? ''}
        isPage={false}
        none={
          <EmptyState title="No job type is known">
            <p>A worker declares the types of its program when it starts.</p>
          </EmptyState>
        }
      />
    </Card>
  )
}
