// Queues: which are late or paused, how full they are, and who looks after them.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTitle } from '../../app/title.ts'
import { ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Card } from '../../ui/card.tsx'
import { Meter } from '../../ui/chart/meter.tsx'
import { Field } from '../../ui/field.tsx'
import { useGo } from '../../ui/link.tsx'
import { QueueName } from '../../ui/names.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { Badge } from '../../ui/status-badge.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Duration, Quantity } from '../../ui/text/figures.tsx'
import { counted, formatDuration, listed } from '../../ui/text/format.ts'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { type QueueState, queueStates } from '../overview/queue-state.ts'
import './queues.css'

const RANK = { unserved: 0, late: 1, paused: 2, 'on time': 3, idle: 4 }
export const STATE_ICON = { unserved: 'fail', late: 'late', paused: 'held', 'on time': 'ok', idle: 'none' } as const
/** From so many on there is a field to find one. */
const MANY = 15

const COLUMNS: Column<QueueState>[] = [
  {
    key: 'queue',
    title: 'queue',
    isHead: true,
    sort: ({ vitals }) => vitals.queue,
    cell: ({ vitals }) => <QueueName name={vitals.queue} />,
  },
  {
    key: 'state',
    title: 'state',
    sort: ({ state }) => RANK[state],
    cell: ({ state, tone }) => (
      <Badge tone={tone} icon={STATE_ICON[state]}>
        {state}
      </Badge>
    ),
  },
  {
    key: 'slots',
    title: 'slots in use',
    sort: ({ vitals, slots }) => vitals.running / Math.max(1, slots),
    cell: ({ vitals, slots }) => (
      <span className="used">
        <Meter share={vitals.running / Math.max(1, slots)} label={`Slots of ${vitals.queue} in use`} />
        {slots === 0 ? 'none' : `${vitals.running} of ${slots}`}
      </span>
    ),
  },
  {
    key: 'owner',
    title: 'owner',
    narrow: 'hide',
    sort: ({ vitals }) => vitals.owner?.name ?? null,
    cell: ({ vitals }) => vitals.owner?.name ?? <span className="faint">–</span>,
  },
  {
    key: 'due',
    title: 'due',
    align: 'right',
    sort: ({ vitals }) => vitals.due,
    cell: ({ vitals }) => <Quantity value={vitals.due} />,
  },
  {
    key: 'waiting',
    title: 'waiting',
    align: 'right',
    sort: ({ vitals }) => vitals.waiting,
    cell: ({ vitals }) => <Quantity value={vitals.waiting} />,
  },
  {
    key: 'oldest',
    title: 'oldest due',
    align: 'right',
    sort: ({ vitals }) => vitals.oldestDueMs,
    cell: ({ vitals }) => <Duration ms={vitals.oldestDueMs} />,
  },
  {
    key: 'p95',
    title: 'p95 to done',
    align: 'right',
    sort: ({ vitals }) => vitals.latencyP95Ms,
    cell: ({ vitals }) => <Duration ms={vitals.latencyP95Ms} />,
  },
  {
    key: 'sla',
    title: 'SLA',
    align: 'right',
    sort: ({ vitals }) => vitals.slaMs,
    cell: ({ vitals }) => (vitals.slaMs === null ? <span className="faint">none</span> : formatDuration(vitals.slaMs)),
  },
]

export function QueuesScreen() {
  useTitle('Queues')
  const { go } = useGo()
  const [part, setPart] = useState('')
  const vitals = useLive(ask('health', 'vitals', {}), { topic: 'vitals' })
  const declared = useQuery({ ...ask('catalogue', 'list', { kind: 'queue' }), staleTime: 300_000 })
  if (vitals.error && !vitals.data) {
    return (
      <>
        <Verdict>The queues could not be read.</Verdict>
        <ErrorState what="The server refused or failed." error={vitals.error} onRetry={vitals.refetch} />
      </>
    )
  }
  if (!vitals.data) return <Reading />
  const priorities = new Map(declared.data?.entries.map(({ name, document }) => [name, Number(document.priority ?? 5)]))
  const states = queueStates(vitals.data, priorities)
  const shown = states.filter(({ vitals: { queue } }) => queue.toLowerCase().includes(part.trim().toLowerCase()))
  return (
    <>
      <QueuesVerdict states={states} />
      {states.length > MANY && (
        <div className="bar">
          <Field label="Find a queue">
            <input type="search" value={part} onChange={(event) => setPart(event.target.value)} />
          </Field>
        </div>
      )}
      <Card flush>
        <DataTable
          label="Queues"
          rows={shown}
          columns={COLUMNS}
          keyOf={({ vitals: { queue } }) => queue}
          onOpen={({ vitals: { queue } }) => go(`/queues/${encodeURIComponent(queue)}`)}
          none={
            <EmptyState title={states.length === 0 ? 'No queue is known yet' : 'No queue is named like that'}>
              <p>{states.length === 0 && 'A worker declares the queues of its program when it starts.'}</p>
            </EmptyState>
          }
        />
      </Card>
    </>
  )
}

const Reading = () => (
  <>
    <h1 className="verdict" aria-busy="true">
      Queues
    </h1>
    <SkeletonRows />
  </>
)

function QueuesVerdict({ states }: { states: readonly QueueState[] }) {
  const named = (state: QueueState['state']) =>
    states.filter((each) => each.state === state).map(({ vitals }) => vitals.queue)
  const [late, paused, unserved] = [named('late'), named('paused'), named('unserved')]
  const sum = (read: (state: QueueState) => number) => states.reduce((all, each) => all + read(each), 0)
  const facts = [
    counted(states.length, 'queue'),
    `${counted(
      sum(({ vitals }) => vitals.due),
      'job',
    )} due`,
    `${counted(
      sum(({ vitals }) => vitals.running),
      'job',
    )} running`,
  ]
  return (
    <Verdict facts={facts}>
      {unserved.length > 0 && (
        <>
          No worker serves <Em tone="fail">{listed(unserved)}</Em>.{' '}
        </>
      )}
      {late.length > 0 && (
        <>
          {late.length === 1 ? 'One queue is' : `${late.length} queues are`} late: <Em>{listed(late)}</Em>.{' '}
        </>
      )}
      {paused.length > 0 && (
        <>
          <Em>{listed(paused)}</Em> {paused.length === 1 ? 'is' : 'are'} paused.{' '}
        </>
      )}
      {late.length + paused.length + unserved.length === 0 && (
        <>
          All queues are <Em tone="ok">on time</Em>.
        </>
      )}
    </Verdict>
  )
}
