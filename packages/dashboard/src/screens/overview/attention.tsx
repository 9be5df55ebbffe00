// What needs attention, in the order in which a person on call would look.
import type { ReactNode } from 'react'
import type { Answer } from '../../data/queries.ts'
import type { Attention } from '../../ui/needs-attention.tsx'
import { counted, formatDuration, formatPercent } from '../../ui/text/format.ts'
import { becauseOf, type QueueState, type Vitals } from './queue-state.ts'

export interface Readings {
  readonly vitals: Vitals
  readonly states: readonly QueueState[]
  readonly health: Answer<'health', 'read'> | undefined
  readonly groups: Answer<'deadLetters', 'groups'>['groups']
  readonly rollingBack: Answer<'workflows', 'list'>['workflows']
}

/** Health checks about things that have lines of their own here, with a better button. */
const TOLD_HERE = /^(queue_|dead_letters|breakers|budgets|stuck|workers_alive|error_rate)/
const MOST_GROUPS = 3
const MOST_QUEUES = 5

export function attentionOf(readings: Readings): Attention[] {
  const items = [
    ...noWorker(readings),
    ...breakers(readings),
    ...workflows(readings),
    ...lateQueues(readings),
    ...stuckRuns(readings),
    ...deadGroups(readings.groups, +new Date(readings.vitals.at)),
    ...budgets(readings),
    ...deadWorkers(readings),
    ...pausedQueues(readings),
    ...otherFindings(readings),
  ]
  const rank = { fail: 0, late: 1, info: 2, off: 3, ok: 4 }
  return items.sort((a, b) => rank[a.tone] - rank[b.tone])
}

const before = (vitals: Vitals, ms: number) => new Date(new Date(vitals.at).getTime() - ms)
const Dim = ({ children }: { children: ReactNode }) => <span className="dim"> · {children}</span>
const path = (root: string, name: string) => `${root}/${encodeURIComponent(name)}`

function breakers({ vitals }: Readings): Attention[] {
  return vitals.breakers.map(({ service, state, openedAt, nextProbeAt, queues }) => ({
    key: `breaker ${service}`,
    tone: state === 'open' ? 'fail' : 'late',
    since: openedAt,
    action: { label: 'Breaker', to: `/budgets?breaker=${encodeURIComponent(service)}` },
    says: (
      <>
        <b>{service}</b> {state === 'open' ? 'breaker is open' : 'is being probed: its breaker is half open'}
        {queues.length > 0 && <Dim>jobs of {queues.join(', ')} wait for it</Dim>}
        {nextProbeAt && (
          <Dim>next probe in {formatDuration(Math.max(0, +new Date(nextProbeAt) - +new Date(vitals.at)))}</Dim>
        )}
      </>
    ),
  }))
}

function workflows({ rollingBack }: Readings): Attention[] {
  return rollingBack.slice(0, MOST_GROUPS).map(({ id, name, reason, updatedAt }) => ({
    key: `workflow ${id}`,
    tone: 'fail',
    since: updatedAt,
    action: { label: 'Decide', to: path('/workflows', id) },
    says: (
      <>
        <b>{name}</b> rolls back{reason && <Dim>{reason}</Dim>}
      </>
    ),
  }))
}

/** Those that have waited longest; of many, a line for the rest. */
function lateQueues({ vitals, states }: Readings): Attention[] {
  const waits = ({ vitals: { oldestDueMs } }: QueueState) => oldestDueMs ?? 0
  const late = states.filter(({ state }) => state === 'late' || state === 'unserved')
  const rest = late.length > MOST_QUEUES + 1 ? late.length - MOST_QUEUES : 0
  const shown = rest === 0 ? late : [...late].sort((a, b) => waits(b) - waits(a)).slice(0, MOST_QUEUES)
  const lines = shown.map(
    ({ vitals: queue, cause, tone }): Attention => ({
      key: `late ${queue.queue}`,
      tone,
      since: queue.oldestDueMs === null ? null : before(vitals, queue.oldestDueMs),
      action:
        cause?.kind === 'unserved'
          ? { label: 'Workers', to: '/workers' }
          : { label: 'Why', to: `/jobs?q=${encodeURIComponent(`queue:${queue.queue} status:pending`)}&order=oldest` },
      says: (
        <>
          <b>{queue.queue}</b> is late {becauseOf(cause)}
          <Dim>{counted(queue.due, 'job')} due</Dim>
          {queue.slaMs !== null && <Dim>its SLA is {formatDuration(queue.slaMs)}</Dim>}
          {queue.owner && <Dim>{queue.owner.name} owns it</Dim>}
        </>
      ),
    }),
  )
  if (rest === 0) return lines
  const says = `${counted(rest, 'more queue')} ${rest === 1 ? 'is' : 'are'} late`
  return [...lines, { key: 'late rest', tone: 'late', action: { label: 'Queues', to: '/queues' }, says }]
}

function pausedQueues({ states }: Readings): Attention[] {
  return states
    .filter(({ state }) => state === 'paused')
    .map(({ vitals: { queue, waiting, pauses } }) => ({
      key: `paused ${queue}`,
      tone: waiting > 0 ? 'late' : 'info',
      since: pauses[0]?.createdAt ?? null,
      action: { label: 'Resume…', to: path('/queues', queue) },
      says: (
        <>
          <b>{queue}</b> is paused by {pauses[0]?.by}: {pauses[0]?.reason}
          <Dim>{waiting === 1 ? '1 job waits' : `${counted(waiting, 'job')} wait`}</Dim>
        </>
      ),
    }))
}

function stuckRuns({ vitals }: Readings): Attention[] {
  return vitals.stuck.slice(0, MOST_GROUPS).map(({ jobId, type, at, hasEnded }) => ({
    key: `stuck ${jobId}`,
    tone: 'fail',
    since: at,
    action: { label: 'Job', to: path('/jobs', jobId) },
    says: (
      <>
        <b>
          {type} {jobId}
        </b>{' '}
        {hasEnded ? 'ran twice as long as it may, and was ended' : 'runs for more than twice its timeout'}
      </>
    ),
  }))
}

export function deadGroups(groups: Readings['groups'], now: number): Attention[] {
  const shown = groups.slice(0, MOST_GROUPS).map(({ fingerprint, type, pending, sampleMessage, lastDiedAt }) => ({
    key: `dead ${fingerprint} ${type}`,
    tone: now - +new Date(lastDiedAt) < 3_600_000 ? ('fail' as const) : ('late' as const),
    since: lastDiedAt,
    action: {
      label: pending > 5 ? `Try 5 of ${pending}…` : `Try ${pending}…`,
      to: `/failures/${encodeURIComponent(fingerprint ?? 'none')}?type=${encodeURIComponent(type)}`,
    },
    says: (
      <>
        <b>{type}</b> died {pending === 1 ? 'once' : counted(pending, 'time')}:{' '}
        <span className="mono">{sampleMessage.split('\n')[0]?.slice(0, 160)}</span>
      </>
    ),
  }))
  const rest = groups.length - shown.length
  if (rest <= 0) return shown
  const says = `${counted(rest, 'more kind', 'more kinds')} of failure ${rest === 1 ? 'waits' : 'wait'} for a decision`
  return [...shown, { key: 'dead rest', tone: 'late', action: { label: 'Failures', to: '/failures' }, says }]
}

function budgets({ vitals }: Readings): Attention[] {
  return vitals.budgets
    .filter(({ percent }) => percent >= 75)
    .map(({ budget, percent, limit, unit, level, per }) => ({
      key: `budget ${budget}`,
      tone: percent >= 100 ? 'fail' : 'late',
      action: { label: 'Budget', to: '/budgets' },
      says: (
        <>
          <b>{budget}</b> has used {formatPercent(percent / 100)} of {limit} {unit} this {per}
          <Dim>level {level}</Dim>
        </>
      ),
    }))
}

function noWorker({ vitals }: Readings): Attention[] {
  if (vitals.workers.length > 0) return []
  const says = (
    <>
      <b>No worker runs</b>
      <Dim>jobs wait until one is started: millrace work</Dim>
    </>
  )
  return [{ key: 'no worker', tone: 'fail', action: { label: 'Workers', to: '/workers' }, says }]
}

function deadWorkers({ vitals }: Readings): Attention[] {
  const [death] = vitals.deaths
  if (death === undefined) return []
  const says = (
    <>
      <b>
        {death.host}:{death.pid}
      </b>{' '}
      died: {death.reason}
      {vitals.deaths.length > 1 && <Dim>{counted(vitals.deaths.length, 'worker')} in ten minutes</Dim>}
    </>
  )
  const action = { label: 'Workers', to: '/workers' }
  return [{ key: `death ${death.id}`, tone: 'late', since: death.endedAt, action, says }]
}

function otherFindings({ health }: Readings): Attention[] {
  return (health?.reasons ?? [])
    .filter(({ check }) => !TOLD_HERE.test(check))
    .map(({ check, verdict, says, remedy }) => ({
      key: `health ${check} ${says}`,
      tone: verdict === 'failing' ? 'fail' : 'late',
      action: { label: 'Alerts', to: '/alerts' },
      says: (
        <>
          {says}
          {remedy && <Dim>{remedy}</Dim>}
        </>
      ),
    }))
}
