// Workers: which processes take jobs, how they are, and what to ask of one.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useTitle } from '../../app/title.ts'
import { ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Meter, Slots } from '../../ui/chart/meter.tsx'
import { CommandLine } from '../../ui/code-block.tsx'
import { Link } from '../../ui/link.tsx'
import { Loaded } from '../../ui/screen-state.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Badge } from '../../ui/status-badge.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { useNow } from '../../ui/text/clock.ts'
import { counted, formatDuration, listed } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { WorkerPanel } from './worker-panel.tsx'
import { slotsOf, stateOf, type Worker } from './worker-state.ts'
import './workers.css'

export function WorkersScreen() {
  useTitle('Workers')
  const list = useLive(ask('workers', 'list', {}), { topic: 'workers', every: 5_000 })
  return (
    <Loaded of={list} what="the workers">
      {({ workers }) => (workers.length === 0 ? <None /> : <Workers workers={workers} />)}
    </Loaded>
  )
}

function Workers({ workers }: { workers: readonly Worker[] }) {
  const now = useNow()
  const { id } = useSearch({ strict: false }) as { id?: string }
  const navigate = useNavigate()
  const open = (next: string | undefined) =>
    navigate({ to: '.', search: ((before: object) => ({ ...before, id: next })) as never, replace: true })
  const chosen = workers.find((each) => each.id === id)
  const used = workers.reduce((sum, worker) => sum + slotsOf(worker).used, 0)
  const slots = workers.reduce((sum, worker) => sum + slotsOf(worker).of, 0)
  const versions = [...new Set(workers.map(({ version }) => version).filter(Boolean))]
  return (
    <>
      <Verdict
        facts={[
          `${used} of ${counted(slots, 'slot')} in use`,
          versions.length > 1
            ? `${versions.length} versions run side by side: ${listed(versions)}`
            : versions[0] && `version ${versions[0]}`,
          `${counted(new Set(workers.map(({ host }) => host)).size, 'host')}`,
        ]}
      >
        <VerdictText workers={workers} now={now} />
      </Verdict>
      <div className={chosen ? 'worker-split' : ''}>
        <div className="panel flush">
          <DataTable
            label="Workers"
            rows={workers}
            columns={columnsOf(now)}
            keyOf={(row) => row.id}
            sort={{ key: 'worker', isDescending: false }}
            onOpen={(row) => open(row.id === id ? undefined : row.id)}
            none={null}
          />
        </div>
        {chosen && <WorkerPanel key={chosen.id} worker={chosen} onClose={() => open(undefined)} />}
      </div>
    </>
  )
}

function VerdictText({ workers, now }: { workers: readonly Worker[]; now: number }) {
  const silent = workers.filter((worker) => stateOf(worker, now).tone === 'fail')
  const troubled = workers.filter((worker) => stateOf(worker, now).tone === 'late')
  if (silent.length > 0) {
    return (
      <>
        <Em tone="fail">{counted(silent.length, 'worker')} cannot be heard</Em>: {named(silent)}.
      </>
    )
  }
  if (troubled.length > 0) {
    return (
      <>
        <Em>
          {troubled.length} of {counted(workers.length, 'worker')} {troubled.length === 1 ? 'takes' : 'take'} no new
          jobs or {troubled.length === 1 ? 'is' : 'are'} slow
        </Em>
        : {named(troubled)}.
      </>
    )
  }
  return <Em tone="ok">{workers.length === 1 ? 'The one worker works.' : `All ${workers.length} workers work.`}</Em>
}

const named = (workers: readonly Worker[]) => listed(workers.slice(0, 3).map(({ host, pid }) => `${host} (${pid})`))

const columnsOf = (now: number): readonly Column<Worker>[] => [
  {
    key: 'worker',
    title: 'worker',
    isHead: true,
    sort: (row) => `${row.host} ${row.pid}`,
    cell: (row) => (
      <span className="two">
        <Link to={`/workers?id=${encodeURIComponent(row.id)}`}>
          <b>{row.host}</b> <span className="mono">{row.pid}</span>
        </Link>
        <span className="dim">
          {row.version || 'no version'} · up <RelativeTime at={row.startedAt} as="span" />
        </span>
      </span>
    ),
  },
  {
    key: 'state',
    title: 'state',
    sort: (row) => stateOf(row, now).tone,
    narrow: 'full',
    cell: (row) => {
      const { tone, icon, word, says } = stateOf(row, now)
      return (
        <span className="two">
          <Badge tone={tone} icon={icon}>
            {word}
          </Badge>
          {says && <span className="dim">{says}</span>}
        </span>
      )
    },
  },
  {
    key: 'slots',
    title: 'slots',
    sort: (row) => slotsOf(row).used,
    cell: (row) => {
      const { used, of } = slotsOf(row)
      return (
        <span className="slots-cell">
          <Slots used={used} of={of} label={`${used} of ${of} slots in use`} />
          <span className="nw">
            {used} / {of}
          </span>
        </span>
      )
    },
  },
  {
    key: 'memory',
    title: 'memory',
    align: 'right',
    sort: (row) => row.report?.memory.percent ?? null,
    cell: (row) =>
      row.report && (
        <span className="mem">
          <Meter
            share={row.report.memory.percent / 100}
            label="Memory in use"
            tone={row.report.memory.isHigh ? 'late' : 'ok'}
          />
          {Math.round(row.report.memory.percent)} %
        </span>
      ),
  },
  {
    key: 'lag',
    title: 'loop lag',
    align: 'right',
    sort: (row) => row.report?.loopLagMs ?? null,
    cell: (row) => (row.report ? formatDuration(row.report.loopLagMs) : '–'),
  },
  {
    key: 'beat',
    title: 'heard',
    align: 'right',
    sort: (row) => row.heartbeatAt,
    cell: (row) => <RelativeTime at={row.heartbeatAt} />,
  },
]

const None = () => (
  <>
    <Verdict>
      <Em tone="fail">No worker is alive</Em>: nothing runs until one starts.
    </Verdict>
    <div className="panel">
      <EmptyState title="There are no workers.">
        <p>Start one beside the module that holds your handlers:</p>
        <CommandLine command="millrace work dist/workload.js" />
        <p className="dim">A worker that has just died disappears from here when its lease ends, within a minute.</p>
      </EmptyState>
    </div>
  </>
)
