// What the subcommands of `millrace workflows` do.
import type { Command } from 'commander'
import {
  type SignalResult,
  type StartedWorkflow,
  UnknownWorkflow,
  type WorkflowChangeResult,
  type WorkflowDetails,
  type WorkflowFilter,
  type WorkflowStep,
  type Workflows,
} from 'millrace'
import { type ClientOptions, demandWorkload, withClient } from '../client.ts'
import { Refused } from '../failure.ts'
import { fromNow, moreHint, oneLine, print, printJson } from '../print.ts'
import { facts, table } from '../table.ts'

interface ListOptions extends ClientOptions, WorkflowFilter {
  readonly limit: number
}

export async function list(options: ListOptions, command: Command): Promise<void> {
  const { databaseUrl: _, json, module: __, ...filter } = options
  await withClient(command, options, async ({ millrace }) => {
    const workflows = await millrace.workflows.list(filter)
    if (json) return printJson(workflows)
    if (workflows.length === 0) return print(nothing(filter))
    print(table(['ID', 'NAME', 'STATUS', 'TENANT', 'STARTED', 'ENDED', 'WHY'], workflows.map(cells)))
    if (workflows.length === options.limit) print(moreHint(command, workflows.at(-1)?.id))
  })
}

const nothing = ({ status, name, tenant, before }: WorkflowFilter): string =>
  [status, name, tenant, before].every((each) => each === undefined)
    ? 'There is no workflow. Declare one with defineWorkflow, and start it with millrace.workflows.start.\n'
    : 'No workflow is like that.\n'

const cells = ({ id, name, status, tenant, createdAt, finishedAt, reason, held }: StartedWorkflow): string[] => [
  id,
  oneLine(name, 40),
  status,
  oneLine(tenant, 30),
  fromNow(createdAt),
  fromNow(finishedAt),
  oneLine(held === null ? reason : `held: ${held}`, 80),
]

export async function show(id: string, options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const workflow = await millrace.workflows.get(id)
    if (workflow === undefined) throw new Refused(noSuch(id))
    if (options.json) return printJson(workflow)
    const titles = ['STEP', 'AFTER', 'STATUS', 'JOBS', 'UNDO', 'JOB IDS', 'REASON']
    print(`${head(workflow)}\n${table(titles, workflow.steps.map(stepCells))}${nextMove(workflow)}`)
  })
}

function noSuch(id: string): string {
  if (!/^\d{1,19}$/.test(id)) return `"${oneLine(id, 40)}" is not the id of a workflow: expected a number.`
  return `There is no workflow ${id}. \`millrace workflows\` lists them; those that ended are forgotten after a while, and a job's id is another one.`
}

function head(workflow: WorkflowDetails): string {
  const { id, name, status, stopping, resumes, createdBy, createdAt, finishedAt } = workflow
  const why = { failed: ', because a step failed', cancelled: ', because it was cancelled' }
  const isSaid = stopping === null || stopping === status
  const took = finishedAt === null ? 0 : (finishedAt.getTime() - createdAt.getTime()) / 1_000
  return facts([
    ['Workflow', `${id}, ${name}`],
    ['Status', isSaid ? status : `${status}${why[stopping]}`],
    ['Resumed', resumes ? 'it goes on when the undo under way has ended' : null],
    ['Held', workflow.held],
    ['Reason', workflow.reason],
    ['Tenant', workflow.tenant],
    ['Correlation', workflow.correlationId],
    ['Started', `${createdAt.toISOString()}${createdBy === null ? '' : ` by ${createdBy}`}`],
    ['Ended', finishedAt === null ? null : `${finishedAt.toISOString()}, after ${took} s`],
    ['Input', workflow.input === null ? null : JSON.stringify(workflow.input)],
  ])
}

function stepCells(step: WorkflowStep): string[] {
  const { name, after, status, jobIds, jobs, reason } = step
  const before = Object.entries(after).map(([each, policy]) => (policy === 'fail' ? each : `${each} (${policy})`))
  return [
    oneLine(name, 40),
    oneLine(before.join(', '), 60),
    status,
    progress(step),
    undoOf(step),
    few(jobIds, jobs),
    oneLine(reason, 100),
  ]
}

function undoOf({ undo, undoJobIds }: WorkflowStep): string {
  if (undo === 'none') return ''
  return undoJobIds.length === 0 ? undo : `${undo} by ${few(undoJobIds, undoJobIds.length)}`
}

function waitText(kind: WorkflowStep['kind'], dueAt: Date | null): string {
  const until = dueAt === null ? '' : ` until ${dueAt.toISOString()}`
  return kind === 'signal' ? `waits for its signal${until}` : `sleeps${until}`
}

/** "40 of 50 done, 3 failed"; the rest waits or runs. */
function progress({ kind, dueAt, childId, jobs, completed, failed, cancelled, status }: WorkflowStep): string {
  if (kind === 'workflow') return childId === null ? '' : `workflow ${childId}`
  if (kind !== 'jobs') return status === 'running' ? waitText(kind, dueAt) : kind
  if (jobs === 0) return status === 'completed' ? 'none' : ''
  const parts = [`${completed} of ${jobs} done`]
  if (failed > 0) parts.push(`${failed} failed`)
  if (cancelled > 0) parts.push(`${cancelled} cancelled`)
  return parts.join(', ')
}

const FEW = 5

const few = (ids: readonly string[], count: number): string =>
  `${ids.slice(0, FEW).join(' ')}${count > FEW ? ` and ${count - FEW} more` : ''}`

/** What a person can do about it. */
function nextMove(workflow: WorkflowDetails): string {
  const { id, status, rollsBack, held } = workflow
  if (held !== null) return '\nWorkers try again once a minute.\n'
  if (status === 'rolling back') return `\n${rollbackMove(workflow)}\n`
  if (status === 'rollback failed') return `\nGo on with the rollback: millrace workflows resume ${id}\n`
  if (status !== 'failed' && status !== 'cancelled') return ''
  const undo = status === 'failed' && !rollsBack ? `, or undo it: millrace workflows roll-back ${id}` : ''
  return `\nDo what did not complete anew: millrace workflows resume ${id}${undo}\n`
}

/** What a resume would keep, as long as the undo under way lasts. */
function rollbackMove({ id, resumes, steps }: WorkflowDetails): string {
  const undoing = steps.find(({ undo }) => undo === 'running')
  const now = undoing === undefined ? 'An undo ends' : `Step "${oneLine(undoing.name, 40)}" is being undone`
  if (resumes) return `${now}; then it goes on. Roll back after all: millrace workflows cancel ${id}`
  const [next] = toUndo(steps)
  const then = next === undefined ? '' : `, step "${oneLine(next.name, 40)}" is next`
  return `${now}${then}. Keep what is not undone yet, and go on: millrace workflows resume ${id}`
}

/** In the order of the rollback. */
const toUndo = (steps: readonly WorkflowStep[]): WorkflowStep[] =>
  steps
    .filter(({ canBeUndone, completed, undo }) => canBeUndone && completed > 0 && undo === 'none')
    .sort((a, b) => (b.completedAs ?? 0) - (a.completedAs ?? 0))

interface ChangeOptions extends ClientOptions {
  readonly by: string
  readonly reason?: string
}

type Change = (workflows: Workflows, id: string, options: ChangeOptions) => Promise<WorkflowChangeResult>

export function change(act: Change): (ids: string[], options: ChangeOptions, command: Command) => Promise<void> {
  return (ids, options, command) =>
    withClient(command, options, async ({ millrace, workload }) => {
      demandWorkload(workload, 'The steps of a workflow are checked')
      const results = []
      for (const id of ids) {
        const result = await act(millrace.workflows, id, options).catch((error) => explained(error, workload.name))
        results.push({ id, ...result })
      }
      if (results.some(({ status }) => status !== 'done')) process.exitCode = 1
      if (options.json) return printJson(results)
      print(results.map((result) => `${sentence(result.id, result)}\n`).join(''))
    })
}

interface ResumeOptions extends ChangeOptions {
  readonly payload?: Record<string, unknown>
}

export function resume(id: string, { payload: payloads, ...options }: ResumeOptions, command: Command): Promise<void> {
  const act: Change = (workflows, each, { by }) =>
    workflows.resume(each, payloads === undefined ? { by } : { by, payloads })
  return change(act)([id], options, command)
}

interface SignalOptions extends ChangeOptions {
  readonly key?: string
}

export async function signal(
  id: string,
  name: string,
  payload: unknown,
  options: SignalOptions,
  command: Command,
): Promise<void> {
  const { by, key } = options
  await withClient(command, options, async ({ millrace, workload }) => {
    demandWorkload(workload, 'The signals of a workflow are checked')
    const sent = millrace.workflows.signal(id, name, payload, key === undefined ? { by } : { by, key })
    const result = await sent.catch((error) => explained(error, workload.name))
    if (result.status === 'refused' || result.status === 'not_found') process.exitCode = 1
    if (options.json) return printJson({ id, name, ...result })
    print(`${signalSentence(id, name, result)}\n`)
  })
}

function signalSentence(id: string, name: string, result: SignalResult): string {
  if (result.status === 'not_found') return noSuch(id)
  if (result.status === 'refused') return oneLine(result.message, 500)
  if (result.status === 'repeated') return `Workflow ${id} has had this signal before: nothing was changed.`
  return `Workflow ${id} was told "${oneLine(name, 100)}": millrace workflows show ${id}`
}

/** In a program one would list it elsewhere. */
function explained(error: unknown, workload: string): never {
  if (!(error instanceof UnknownWorkflow) || error.step !== undefined) throw error
  throw new Refused(
    `The workload "${workload}" has no workflow "${oneLine(error.workflow, 100)}". Name the module of the program that started it, or list the workflow in the workload's \`workflows\`.`,
  )
}

function sentence(id: string, result: WorkflowChangeResult): string {
  if (result.status === 'not_found') return noSuch(id)
  if (result.status === 'refused') return oneLine(result.message, 500)
  return `Workflow ${id} is ${result.as} now: millrace workflows show ${id}`
}
