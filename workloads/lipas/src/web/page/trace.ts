// The trace of one action: its jobs with a bar each, on one axis of time.
import { isOver, type Run, type TracedJob } from '../traced-jobs.ts'
import { type Html, html } from './html.ts'
import { seconds } from './time-words.ts'

interface Axis {
  readonly from: number
  readonly to: number
}

export interface TraceView {
  readonly correlation: string
  readonly now: Date
}

export function traceHtml(jobs: readonly TracedJob[], { correlation, now }: TraceView): Html {
  if (jobs.length === 0)
    return html`<p class="dim" data-over="yes">There is no job of this action. What has completed is forgotten after some days.</p>`
  const axis = axisOf(jobs, now)
  return html`<p class="sum" data-over="${isOver(jobs) ? 'yes' : 'no'}" data-done="${doneOf(jobs)}">${summaryOf(jobs, axis)}</p>
<ul class="runs">${jobs.map((each) => row(each, axis))}</ul>
<p class="faint">Correlation id <code>${correlation}</code> · <a href="admin/jobs?q=${encodeURIComponent(`correlation:${correlation}`)}">on the dashboard</a></p>`
}

const doneOf = (jobs: readonly TracedJob[]): number => jobs.filter(({ job }) => job.finishedAt !== null).length

function summaryOf(jobs: readonly TracedJob[], { from, to }: Axis): string {
  const count = `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}`
  if (!isOver(jobs)) return `${doneOf(jobs)} of ${count} done`
  const dead = jobs.filter(({ job }) => job.status === 'dead').length
  const end = dead === 0 ? 'all done' : `${dead} failed for good`
  return `${count}, ${end} after ${seconds(to - from)}`
}

function axisOf(jobs: readonly TracedJob[], now: Date): Axis {
  const own = jobs.filter(({ isJoined }) => !isJoined)
  const from = Math.min(...(own.length > 0 ? own : jobs).map(({ job }) => job.createdAt.getTime()))
  const ends = jobs.map(({ job }) => job.finishedAt?.getTime() ?? now.getTime())
  return { from, to: Math.max(from + 100, ...ends) }
}

const WORDS: Readonly<Record<string, readonly [word: string, tone: string]>> = {
  pending: ['waits', 'info'],
  blocked: ['held', 'late'],
  processing: ['runs', 'info'],
  failed: ['tries again', 'late'],
  completed: ['done', 'ok'],
  cancelled: ['cancelled', ''],
  dead: ['failed', 'fail'],
}

function row({ job, isJoined, note, runs }: TracedJob, axis: Axis): Html {
  const [word, tone] = WORDS[job.status] ?? [job.status, '']
  const joined = isJoined ? html` <span class="tag">waited already</span>` : ''
  return html`<li><p class="run-head"><a href="admin/jobs/${job.id}"><b>${job.type}</b></a> <span class="tag ${tone}">${word}</span>${joined}
<span class="faint">${timesOf(job, runs)}</span></p>
${bars(job, runs, axis)}${note === null ? '' : html`<p class="note">${note}</p>`}</li>`
}

function timesOf({ attempt, status }: TracedJob['job'], runs: readonly Run[]): string {
  const last = runs.at(-1)
  const tries = attempt > 1 ? `attempt ${attempt}, ` : ''
  if (last?.durationMs == null) return status === 'processing' ? `${tries}under way` : tries.replace(/, $/, '')
  const waited = runs[0]?.queueTimeMs ?? 0
  return `${tries}waited ${seconds(waited)}, ran ${seconds(last.durationMs)}`
}

const WIDTH = 1_000

/** Drawn by attributes: the page's policy allows no inline style. */
function bars({ createdAt, finishedAt }: TracedJob['job'], runs: readonly Run[], axis: Axis): Html {
  const x = (at: number): number =>
    Math.round((WIDTH * Math.min(Math.max(at - axis.from, 0), axis.to - axis.from)) / (axis.to - axis.from))
  const [born, end] = [x(createdAt.getTime()), x(finishedAt?.getTime() ?? axis.to)]
  const boxes = runs.map((run) => {
    const left = x(run.at.getTime())
    const right = x(run.durationMs === null ? axis.to : run.at.getTime() + run.durationMs)
    return html`<rect class="${run.outcome}" x="${left}" y="2" width="${Math.max(6, right - left)}" height="10" rx="2"/>`
  })
  return html`<svg class="bar" viewBox="0 0 ${WIDTH} 14" preserveAspectRatio="none" aria-hidden="true"><path d="M${born} 7H${Math.max(born + 2, end)}"/>${boxes}</svg>`
}
