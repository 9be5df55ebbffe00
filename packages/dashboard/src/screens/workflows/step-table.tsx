// The steps of a workflow with the time in which each ran. A step with many jobs is one row with a histogram; what is undone has
// rows of its own below, in the order of the rollback.
import { getRouteApi } from '@tanstack/react-router'
import { Card } from '../../ui/card.tsx'
import { Sparkline } from '../../ui/chart/sparkline.tsx'
import { Link } from '../../ui/link.tsx'
import { JobId } from '../../ui/names.tsx'
import { useQueueClass } from '../../ui/queue-colour.ts'
import { useNow, useTimeZone } from '../../ui/text/clock.ts'
import { Duration } from '../../ui/text/figures.tsx'
import { counted, formatClock, formatDuration, formatNumber } from '../../ui/text/format.ts'
import { rollbackOf } from './rollback.ts'
import { LookBadge, stepLook, undoLook } from './states.tsx'
import { type Timescale, timescale } from './timescale.ts'
import { hasEnded, type Step, type Times, type WorkflowDetails } from './workflow-data.ts'

const route = getRouteApi('/workflows/$id')

interface Picture {
  readonly scale: Timescale
  readonly now: number
  readonly workflowId: string
  of(step: string, kind: Times['kind']): Times | undefined
}

export interface StepTableProps {
  workflow: WorkflowDetails
  times: readonly Times[]
  isHiding: boolean
}

export function StepTable({ workflow, times, isHiding }: StepTableProps) {
  const clock = useNow()
  const now = workflow.finishedAt === null ? clock : Date.parse(workflow.finishedAt)
  const picture = pictureOf(workflow, times, now)
  const steps = isHiding ? workflow.steps.filter(({ status }) => status !== 'completed') : workflow.steps
  const hidden = workflow.steps.length - steps.length
  const { done, now: undoing, next } = rollbackOf(workflow.steps)
  const isBack = workflow.status.startsWith('roll') || done.length > 0 || undoing !== undefined
  const undos = isBack ? [...done, ...(undoing ? [undoing] : []), ...next] : []
  return (
    <Card title="Steps and when they ran" note={criticalNote(workflow.steps, times)} className="wf-steps">
      <table className="plan">
        <caption>
          Solid bars went forward, hatched ones undo.
          {picture.scale.squeezed.length > 0 && ' Striped stretches, in which nothing began or ended, are squeezed.'}
          {hidden > 0 && ` ${counted(hidden, 'completed step')} hidden.`}
        </caption>
        <thead>
          <tr>
            <th scope="col" className="s-name">
              step
            </th>
            <th scope="col" className="s-st">
              state
            </th>
            <th scope="col" className="s-t r">
              took
            </th>
            <th scope="col" className="s-g">
              <span className="vh">when</span>
              <Ticks picture={picture} isOver={hasEnded(workflow)} />
            </th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <StepRow key={step.name} step={step} picture={picture} />
          ))}
        </tbody>
        {undos.length > 0 && (
          <tbody>
            <tr className="grp">
              <th scope="rowgroup" colSpan={4}>
                Rollback, one step at a time, the last completed first
              </th>
            </tr>
            {undos.map((step) => (
              <UndoRow key={step.name} step={step} picture={picture} isGivenUp={workflow.resumes} />
            ))}
          </tbody>
        )}
      </table>
    </Card>
  )
}

function pictureOf(workflow: WorkflowDetails, times: readonly Times[], now: number): Picture {
  const runs = times.flatMap(({ startedAt, endedAt }) =>
    startedAt === null ? [] : [{ from: Date.parse(startedAt), to: endedAt === null ? now : Date.parse(endedAt) }],
  )
  const moments = runs.flatMap(({ from, to }) => [from, to])
  const byKey = new Map(times.map((each) => [`${each.kind} ${each.name}`, each]))
  return {
    scale: timescale([Date.parse(workflow.createdAt), ...moments, now], runs),
    now,
    workflowId: workflow.id,
    of: (step, kind) => byKey.get(`${kind} ${step}`),
  }
}

/** Where most of the time went. */
function criticalNote(steps: readonly Step[], times: readonly Times[]): string | undefined {
  const took = times.flatMap(({ name, kind, startedAt, endedAt }) =>
    kind === 'do' && startedAt !== null && endedAt !== null
      ? [{ name, ms: Date.parse(endedAt) - Date.parse(startedAt) }]
      : [],
  )
  const all = took.reduce((sum, { ms }) => sum + ms, 0)
  const most = took.toSorted((a, b) => b.ms - a.ms)[0]
  if (most === undefined || steps.length < 3 || most.ms < all * 0.4) return undefined
  return `${most.name} took ${Math.round((most.ms / all) * 100)} % of the time`
}

const TICKS = [0, 33, 66]
/** Closer together, clocks would show the same minute: how long after the start says more. */
const APART_MS = 60_000

function Ticks({ picture: { scale, now }, isOver }: { picture: Picture; isOver: boolean }) {
  const zone = useTimeZone()
  const start = scale.momentAt(0)
  // Long stretches are squeezed, so a long workflow may have ticks that are seconds apart.
  const moments = TICKS.map((percent) => scale.momentAt(percent))
  const isShort = moments.some((at, index) => index > 0 && at - (moments[index - 1] ?? 0) < APART_MS)
  const label = (at: number) =>
    isShort ? `+${formatDuration(Math.round(at - start))}` : formatClock(new Date(at), zone, new Date(now))
  return (
    <div className="ticks" aria-hidden="true">
      {TICKS.map((percent) => (
        <span key={percent} className={percent === 0 ? 'l' : ''} style={{ left: `${percent}%` }}>
          {percent === 0 && isShort ? 'start' : label(scale.momentAt(percent))}
        </span>
      ))}
      <span className="e now">{isOver ? 'end' : 'now'}</span>
    </div>
  )
}

function StepRow({ step, picture }: { step: Step; picture: Picture }) {
  const { step: open } = route.useSearch()
  const isOpen = open === step.name
  const run = picture.of(step.name, 'do')
  const queue = useQueueClass(run?.queue ?? '')
  const isBad = step.status === 'failed'
  const to = `/workflows/${picture.workflowId}${isOpen ? '' : `?step=${encodeURIComponent(step.name)}`}`
  return (
    <>
      <tr id={`step-${step.name}`} className={`${isBad ? 'bad' : ''} ${isOpen ? 'open' : ''}`}>
        <th scope="row" className="s-name">
          <Link to={to} aria-expanded={isOpen}>
            {step.name}
            {step.jobs > 1 && ` × ${formatNumber(step.jobs)}`}
          </Link>
          <span className="who">{whoOf(step, run)}</span>
        </th>
        <td className="s-st">
          <LookBadge look={stepLook(step)} />
        </td>
        <td className="s-t r">
          <Took run={run} picture={picture} />
        </td>
        <td className="s-g">
          <Bar run={run} picture={picture} className={`${queue} ${isBad ? 'bad' : ''}`} />
        </td>
      </tr>
      {step.jobs > 1 && run && <FanOut step={step} run={run} workflowId={picture.workflowId} />}
      {isOpen && <Details step={step} workflowId={picture.workflowId} />}
    </>
  )
}

function whoOf({ kind, childId }: Step, run: Times | undefined): string {
  if (kind === 'signal') return 'a signal'
  if (kind === 'sleep') return 'a sleep'
  if (kind === 'workflow') return `workflow ${childId ?? ''}`
  return run?.type ?? ''
}

function UndoRow({ step, picture, isGivenUp }: { step: Step; picture: Picture; isGivenUp: boolean }) {
  const run = picture.of(step.name, 'undo')
  const isNext = step.undo === 'none'
  return (
    <tr id={`undo-${step.name}`} className={step.undo === 'failed' ? 'bad' : ''}>
      <th scope="row" className="s-name">
        undo {step.name}
        {step.completed > 1 && ` × ${formatNumber(step.completed)}`}
        <span className="who">{run?.type ?? ''}</span>
      </th>
      <td className="s-st">
        {isNext && isGivenUp ? <span className="dim">kept</span> : <LookBadge look={undoLook(step)} />}
      </td>
      <td className="s-t r">
        <Took run={run} picture={picture} />
      </td>
      <td className="s-g">
        <Bar run={run} picture={picture} className="back" />
      </td>
    </tr>
  )
}

function Took({ run, picture: { now } }: { run: Times | undefined; picture: Picture }) {
  if (run?.startedAt == null) return null
  const end = run.endedAt === null ? now : Date.parse(run.endedAt)
  return <Duration ms={Math.max(0, end - Date.parse(run.startedAt))} />
}

function Bar({ run, picture, className }: { run: Times | undefined; picture: Picture; className: string }) {
  const { scale, now } = picture
  const left = run?.startedAt == null ? null : scale.at(Date.parse(run.startedAt))
  const right = run?.endedAt == null ? scale.at(now) : scale.at(Date.parse(run.endedAt))
  return (
    <div className={`gantt ${className}`}>
      {scale.squeezed.map(({ from, to }) => (
        <s key={from} style={{ left: `${scale.at(from)}%`, width: `${scale.at(to) - scale.at(from)}%` }} />
      ))}
      {left !== null && (
        <i
          className={run?.endedAt === null ? 'live' : ''}
          style={{ left: `${left}%`, width: `${Math.max(0, right - left)}%` }}
        />
      )}
    </div>
  )
}

/** Many jobs in a line: how long they took, and which one was the slowest. */
function FanOut({ step, run, workflowId }: { step: Step; run: Times; workflowId: string }) {
  const list = `/jobs?q=${encodeURIComponent(`workflow:${workflowId}${run.type === null ? '' : ` type:${run.type}`}`)}`
  return (
    <tr className="inside">
      <td colSpan={4}>
        <div>
          {run.spread.length > 0 && (
            <Sparkline
              values={run.spread}
              kind="bars"
              tone="plain"
              width={120}
              height={24}
              label={`How long the jobs of ${step.name} took, from 0 to ${formatDuration(run.maxMs ?? 0)}`}
            />
          )}
          <span>
            {run.p50Ms !== null && `p50 ${formatDuration(run.p50Ms)}, p95 ${formatDuration(run.p95Ms ?? 0)}`}
            {run.slowestJobId !== null && run.maxMs !== null && (
              <>
                {' · '}slowest <JobId id={run.slowestJobId} /> {formatDuration(run.maxMs)}
              </>
            )}
            {run.retried > 0 && ` · ${counted(run.retried, 'job')} needed a retry`}
            {step.failed > 0 && ` · ${counted(step.failed, 'job')} failed`}
            {' · '}
            <Link to={list}>list all {formatNumber(step.jobs)}</Link>
          </span>
        </div>
      </td>
    </tr>
  )
}

const FEW = 12

function Details({ step, workflowId }: { step: Step; workflowId: string }) {
  const { after, reason, jobIds, undoJobIds, childId, canBeUndone } = step
  const before = Object.entries(after).map(([name, policy]) => (policy === 'fail' ? name : `${name} (${policy})`))
  return (
    <tr className="inside details">
      <td colSpan={4}>
        <dl className="kv">
          {reason !== null && (
            <>
              <dt>why</dt>
              <dd>{reason}</dd>
            </>
          )}
          <dt>after</dt>
          <dd>{before.length === 0 ? 'nothing: it starts with the workflow' : before.join(', ')}</dd>
          <dt>undo</dt>
          <dd>{canBeUndone ? 'it can be undone' : 'it declares none: a rollback leaves it as it is'}</dd>
          {childId !== null && (
            <>
              <dt>workflow</dt>
              <dd>
                <Link to={`/workflows/${childId}`}>{childId}</Link>
              </dd>
            </>
          )}
          <JobLinks name="jobs" ids={jobIds} all={step.jobs} workflowId={workflowId} />
          <JobLinks name="undone by" ids={undoJobIds} all={undoJobIds.length} workflowId={workflowId} />
        </dl>
      </td>
    </tr>
  )
}

interface JobLinksProps {
  name: string
  ids: readonly string[]
  all: number
  workflowId: string
}

function JobLinks({ name, ids, all, workflowId }: JobLinksProps) {
  if (ids.length === 0) return null
  const shown = ids.slice(0, FEW)
  return (
    <>
      <dt>{name}</dt>
      <dd className="wf-jobs">
        {shown.map((id) => (
          <JobId key={id} id={id} />
        ))}
        {all > shown.length && (
          <Link to={`/jobs?q=${encodeURIComponent(`workflow:${workflowId}`)}`}>
            and {formatNumber(all - shown.length)} more
          </Link>
        )}
      </dd>
    </>
  )
}
