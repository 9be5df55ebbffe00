// Schedules: what fires when, what was missed, and what to do about it.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useTitle } from '../../app/title.ts'
import { ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { CommandLine } from '../../ui/code-block.tsx'
import { Link } from '../../ui/link.tsx'
import { TypeName } from '../../ui/names.tsx'
import { Loaded } from '../../ui/screen-state.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Badge } from '../../ui/status-badge.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { counted, formatDuration } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { SchedulePanel } from './schedule-panel.tsx'
import { type Schedule, stateOf, verdictOf } from './schedule-state.ts'
import './schedules.css'

export function SchedulesScreen() {
  useTitle('Schedules')
  const list = useLive(ask('schedules', 'list', {}), { every: 5_000 })
  return (
    <Loaded of={list} what="the schedules">
      {({ schedules }) => (schedules.length === 0 ? <None /> : <Schedules schedules={schedules} />)}
    </Loaded>
  )
}

function Schedules({ schedules }: { schedules: readonly Schedule[] }) {
  const { name } = useSearch({ strict: false }) as { name?: string }
  const navigate = useNavigate()
  const open = (next: string | undefined) =>
    navigate({ to: '.', search: ((before: object) => ({ ...before, name: next })) as never, replace: true })
  const { tone, what, rest } = verdictOf(schedules)
  const next = schedules
    .flatMap(({ nextAt, name: whose }) => (nextAt ? [{ nextAt, whose }] : []))
    .sort((a, b) => a.nextAt.localeCompare(b.nextAt))[0]
  const missed = schedules.reduce((sum, each) => sum + each.missed, 0)
  const chosen = schedules.find((each) => each.name === name)
  return (
    <>
      <Verdict
        facts={[
          next && (
            <>
              next: {next.whose} <RelativeTime at={next.nextAt} />
            </>
          ),
          `${counted(missed, 'tick')} missed so far`,
        ]}
      >
        <Em tone={tone}>{what}</Em>
        {rest}
      </Verdict>
      <div className={chosen ? 'sched-split' : ''}>
        <div className="panel flush">
          <DataTable
            label="Schedules"
            rows={schedules}
            columns={COLUMNS}
            keyOf={(row) => row.name}
            sort={{ key: 'state', isDescending: false }}
            onOpen={(row) => open(row.name === name ? undefined : row.name)}
            none={null}
          />
        </div>
        {chosen && <SchedulePanel key={chosen.name} schedule={chosen} onClose={() => open(undefined)} />}
      </div>
    </>
  )
}

const RANK = { fail: '0', late: '1', info: '2', ok: '3', off: '4' } as const

const COLUMNS: readonly Column<Schedule>[] = [
  {
    key: 'name',
    title: 'schedule',
    isHead: true,
    sort: (row) => row.name,
    cell: (row) => (
      <span className="two">
        <Link to={`/schedules?name=${encodeURIComponent(row.name)}`}>
          <b>{row.name}</b>
        </Link>
        <span className="dim">
          {row.description}
          {row.isEdited && ' · edited'}
        </span>
      </span>
    ),
  },
  {
    key: 'state',
    title: 'state',
    sort: (row) => RANK[stateOf(row).tone] + row.name,
    narrow: 'full',
    cell: (row) => {
      const { tone, icon, word, says } = stateOf(row)
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
  { key: 'type', title: 'job type', sort: (row) => row.jobType, cell: (row) => <TypeName name={row.jobType} /> },
  { key: 'jobs', title: 'last jobs', narrow: 'hide', cell: (row) => <LastJobs of={row.lastJobs} /> },
  {
    key: 'next',
    title: 'next',
    align: 'right',
    sort: (row) => row.nextAt ?? '9',
    cell: (row) => <RelativeTime at={row.nextAt} none="never" />,
  },
  {
    key: 'last',
    title: 'last',
    align: 'right',
    sort: (row) => row.lastFireAt ?? '',
    cell: (row) => (
      <span className="two">
        <RelativeTime at={row.lastTick?.fireAt ?? row.lastFireAt} none="not yet" />
        {row.lastTick && (
          <span className="dim">
            {row.lastTick.outcome}
            {row.lastTick.latenessMs > 1_000 && `, ${formatDuration(row.lastTick.latenessMs)} late`}
          </span>
        )}
      </span>
    ),
  },
  { key: 'missed', title: 'missed', align: 'right', sort: (row) => row.missed, cell: (row) => row.missed },
]

const WORDS = {
  live: 'is not over',
  completed: 'completed',
  cancelled: 'was cancelled',
  dead: 'died',
  unknown: 'is gone',
}

function LastJobs({ of }: { of: Schedule['lastJobs'] }) {
  if (of.length === 0) return <span className="faint">none</span>
  return (
    <span className="last-jobs">
      {of.map(({ id, status }) => (
        <Link key={id} to={`/jobs/${id}`} className={`lj ${status}`} title={`Job ${id} ${WORDS[status]}`}>
          <span className="vh">
            Job {id} {WORDS[status]}
          </span>
        </Link>
      ))}
    </span>
  )
}

const None = () => (
  <>
    <Verdict>Nothing runs by the clock here.</Verdict>
    <div className="panel">
      <EmptyState title="There are no schedules.">
        <p>A worker declares the schedules of its code when it starts. Write one beside your jobs:</p>
        <pre className="code mono">{`export const nightly = defineSchedule('nightly-report', {
  job: report, when: cron('0 2 * * *', { timeZone: 'Europe/Tallinn' }), payload: {},
})`}</pre>
        <CommandLine command="millrace schedules" />
      </EmptyState>
    </div>
  </>
)
