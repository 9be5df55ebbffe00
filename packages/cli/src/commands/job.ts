import { Command } from 'commander'
import type { Job, JobAttempt, JobDetails, JobStep } from 'millrace'
import { addRemoteOptions, type ClientOptions, withClientOrApi } from '../client.ts'
import { Refused } from '../failure.ts'
import { fromNow, oneLine, print, printJson } from '../print.ts'
import type { Operations } from '../remote/operations.ts'
import { facts, table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { whenOf } from './jobs.ts'
import { holding, pausedBy } from './pauses.ts'

const help = `
Examples:
  millrace job 48211
  millrace job 48211 --json | jq .payload
`

export function jobCommand(): Command {
  const command = new Command('job')
    .summary('show one job with its attempts and steps')
    .description('Show one job: its state, payload, result, the attempts that failed, and the steps that are finished.')
    .argument('<id>', 'the id of the job')
  return addWatchOptions(addRemoteOptions(command)).addHelpText('after', help).action(act)
}

async function act(id: string, options: ClientOptions, command: Command): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace }) => {
    const look = await lookAt(millrace, id)
    if (!options.json) return print(await jobText(millrace, look))
    const { job, ...rest } = look
    printJson({ ...job, ...rest })
  })
}

/** A job and what stands beside it. */
export async function lookAt(millrace: Operations, id: string) {
  const job = await millrace.job(id)
  if (job === undefined) throw noSuchJob(id)
  return {
    job,
    silence: await silenceOf(millrace, job),
    attempts: await millrace.attempts(id),
    steps: await millrace.steps(id),
    pauses: holding(await millrace.pauses.list(), job),
  }
}

export async function jobText(millrace: Operations, look: Awaited<ReturnType<typeof lookAt>>): Promise<string> {
  const { job, silence, attempts, steps, pauses } = look
  const links = { letter: await letterOf(millrace, job), workflow: await workflowOf(millrace, job) }
  const lines = linesOf(job)
  return [
    block(job, { ...links, silence, paused: pausedBy(pauses) || null }),
    ...(attempts.length > 0 ? [table(['ATTEMPT', 'FAILED', 'ERROR'], attempts.map(attemptRow))] : []),
    ...(lines.length > 0 ? [table(['LOG', 'AFTER', 'MESSAGE'], lines)] : []),
    ...(steps.length > 0 ? [table(['STEP', 'FINISHED', 'TOOK'], steps.map(stepRow))] : []),
  ].join('\n')
}

function noSuchJob(id: string): Refused {
  if (!/^\d{1,19}$/.test(id)) return new Refused(`"${oneLine(id, 40)}" is not the id of a job: expected a number.`)
  return new Refused(`There is no job ${id}. It never existed, or its time in the archive is over.`)
}

/** That its worker may be dead, and when the job is rescued then; null: it does not run, or its worker was heard of lately. */
async function silenceOf(millrace: Operations, { id, status }: Job): Promise<string | null> {
  if (status !== 'processing') return null
  const { reasons } = await millrace.explain(id)
  return reasons.find(({ mechanism }) => mechanism === 'worker')?.sentence ?? null
}

/** "17, pending": the dead letter of a dead job. */
async function letterOf({ deadLetters }: Operations, job: Job): Promise<string | null> {
  if (job.status !== 'dead') return null
  const letter = await deadLetters.ofJob(job.id)
  return letter === undefined ? null : `${letter.id}, ${letter.status}: millrace dead show ${letter.id}`
}

/** "4, keep-page, step upload". */
async function workflowOf({ workflows }: Operations, { id, workflowId }: Job): Promise<string | null> {
  if (workflowId === null) return null
  const workflow = await workflows.get(workflowId)
  if (workflow === undefined) return `${workflowId}, which is forgotten`
  const step = workflow.steps.find(({ jobIds, undoJobIds }) => [...jobIds, ...undoJobIds].includes(id))
  const part = step === undefined ? '' : `, ${step.undoJobIds.includes(id) ? 'undoes step' : 'step'} ${step.name}`
  return `${workflowId}, ${workflow.name}${part}: millrace workflows show ${workflowId}`
}

/** "2026-01-31T08:00:00.000Z, after 1.2 s". */
function endOf({ startedAt, finishedAt }: Job): string | null {
  if (finishedAt === null) return null
  const took = startedAt === null ? '' : `, after ${(finishedAt.getTime() - startedAt.getTime()) / 1_000} s`
  return `${finishedAt.toISOString()}${took}`
}

interface Links {
  silence: string | null
  letter: string | null
  workflow: string | null
  /** By whom and why. */
  paused: string | null
}

/** "3 of 10 (30 %), reading". */
function progressOf({ progress }: JobDetails): string | null {
  if (progress === null) return null
  const { done, total, note, at } = progress
  const share = total === null ? '' : ` of ${total}${total > 0 ? ` (${Math.floor((done / total) * 100)} %)` : ''}`
  return `${done}${share}${note === null ? '' : `, ${oneLine(note, 100)}`}, ${fromNow(at)}`
}

function block(job: JobDetails, links: Links): string {
  return facts([
    ['Job', job.id],
    ['Type', job.type],
    ['Queue', job.queue],
    ['Tenant', job.tenant],
    ['Status', `${job.status}, ${whenOf(job)}`],
    ['Paused', links.paused],
    ['Attempt', `${job.attempt} of ${job.maxAttempts}${job.crashes > 0 ? `, ${job.crashes} crashed` : ''}`],
    ['Priority', String(job.priority)],
    ['Dedup key', job.dedupKey],
    ['Correlation', job.correlationId],
    ['Trace', job.traceParent?.split('-')[1] ?? null],
    ['Parent', job.parentJobId],
    ['Workflow', links.workflow],
    ['Created', `${job.createdAt.toISOString()}${job.createdBy === null ? '' : ` by ${job.createdBy}`}`],
    ['Worker', job.workerId],
    ['Silence', links.silence],
    ['Run', job.runId],
    ['Progress', progressOf(job)],
    ['Started', job.startedAt?.toISOString() ?? null],
    ['Ended', endOf(job)],
    ['Letter', links.letter],
    ['Reason', job.reason],
    ['Last error', job.lastError],
    // Viewers of an admin API are told neither.
    ['Payload', JSON.stringify(job.payload) ?? null],
    ['Result', job.result == null ? null : JSON.stringify(job.result)],
  ])
}

interface LogLine {
  level: string
  ms: number
  msg: string
  fields?: string
}

/** What the run that ended the job has logged, where that is kept. */
function linesOf({ logs }: JobDetails): string[][] {
  if (!Array.isArray(logs)) return []
  return (logs as LogLine[]).map(({ level, ms, msg, fields = '' }) => [
    level,
    `${ms / 1_000} s`,
    oneLine(`${msg} ${fields}`, 100),
  ])
}

function stepRow({ name, startedAt, finishedAt }: JobStep): string[] {
  if (finishedAt === null) return [oneLine(name, 60), `begun ${fromNow(startedAt)}`, '']
  return [oneLine(name, 60), fromNow(finishedAt), `${(finishedAt.getTime() - startedAt.getTime()) / 1_000} s`]
}

function attemptRow({ attempt, finishedAt, errorClass, errorMessage }: JobAttempt): string[] {
  return [String(attempt), fromNow(finishedAt), oneLine(`${errorClass}: ${errorMessage}`, 100)]
}
