// What commands that change jobs do with --where: a preview, a question, an operation, and its progress.
import { type Command, Option } from 'commander'
import type { BulkOperation, BulkPreview, BulkReport, BulkRequest, BulkStartOptions } from 'millrace'
import type { ClientOptions } from '../client.ts'
import { confirmed } from '../confirm.ts'
import { Refused } from '../failure.ts'
import { oneLine, print, printJson } from '../print.ts'
import { ProgressBar } from '../progress-bar.ts'
import { pointAt } from '../query-problem.ts'
import type { Operations } from '../remote/operations.ts'
import { table } from '../table.ts'
import { counted } from '../worker-process.ts'
import { canaryLine } from './bulk-canary.ts'
import { parseCount, parseRate } from './worker-options.ts'

/** For commands that change jobs one by one, or all that fit a query. */
export function addWhereOptions(command: Command, what = 'jobs'): Command {
  return command
    .option('--where <query>', `all ${what} that fit this query, as a bulk operation; see millrace jobs --help`)
    .option('--dry-run', 'with --where: look at every job, change none')
    .addOption(new Option('--rate <jobs>', 'with --where: jobs per second').argParser(parseRate).default(200))
    .addOption(new Option('--most <jobs>', 'with --where: only so many, the oldest').argParser(parseCount(1)))
    .option('--yes', 'with --where: do not ask')
}

export interface WhereOptions extends BulkOptions {
  readonly where?: string
  readonly rate: number
}

export interface BulkOptions extends ClientOptions {
  readonly by: string
  readonly dryRun?: true
  readonly rate?: number
  readonly most?: number
  readonly canary?: number
  readonly yes?: true
}

type Caller = Pick<Operations, 'bulk'>

/** Ids or a query: one of them. */
export function demandOne(ids: readonly string[], { where }: Pick<WhereOptions, 'where'>, what = 'jobs'): void {
  if (ids.length > 0 === (where === undefined)) return
  throw new Refused(`Name the ${what} by their ids, or by --where: one of them.`)
}

/** Shows what would happen, asks, starts it and watches it. */
export async function runBulk(millrace: Caller, request: BulkRequest, options: BulkOptions): Promise<void> {
  const { by, rate, most, canary, dryRun = false, json } = options
  const preview = await millrace.bulk.preview(request).catch(pointAt)
  if (!json) print(previewText(preview))
  const isNothing = preview.willChange === 0 && !preview.isCapped
  if (isNothing) return json ? printJson({ preview, operation: null }) : undefined
  if (!dryRun && !options.yes && !(await confirmed(`${verbOf(preview)}? [y/N] `)))
    throw new Refused('Nothing was changed. Pass --yes to start it without a question.')
  const start: BulkStartOptions = {
    ...{ by, dryRun },
    ...(rate === undefined ? {} : { rate }),
    ...(most === undefined ? {} : { limit: most }),
    ...(canary === undefined ? {} : { canary }),
  }
  const operation = await watched(millrace, await millrace.bulk.start(request, start))
  if (operation.status !== 'completed') process.exitCode = 1
  if (json) printJson({ preview, operation })
  else print(reportText(operation))
}

const POLL_MS = 250

/** Until it has ended, or waits for something that does not come by itself. */
export async function watched(millrace: Caller, { id }: Pick<BulkOperation, 'id'>): Promise<BulkReport> {
  const bar = new ProgressBar()
  for (;;) {
    const operation = await millrace.bulk.get(id)
    if (operation === undefined) throw new Refused(`Bulk operation ${id} does not exist any more.`)
    const done = operation.changed + operation.already + operation.refused
    bar.show(done, operation.isCapped ? null : operation.expected, canaryLine(operation) ?? '')
    if (operation.status !== 'running' || operation.waits !== null) {
      bar.end()
      return operation
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

export const capped = (count: number, isCapped: boolean): string => `${count}${isCapped ? '+' : ''}`

function verbOf({ action, willChange, isCapped }: BulkPreview): string {
  return `${action} ${capped(willChange, isCapped)} ${willChange === 1 ? 'job' : 'jobs'}`
}

function previewText(preview: BulkPreview): string {
  if (preview.total === 0) return 'No jobs match.\n'
  const rows = preview.groups.map((group) => [
    group.queue,
    oneLine(group.type, 40),
    ...[group.willChange, group.already, group.refused].map((count) => (count === 0 ? '' : String(count))),
  ])
  const undo =
    preview.noUndo === null
      ? 'It can be taken back: millrace bulk undo.'
      : `It cannot be taken back: ${preview.noUndo}.`
  const parts = [
    table(['QUEUE', 'TYPE', 'WILL CHANGE', 'ALREADY DONE', 'REFUSED'], rows),
    reasonsText(preview.reasons),
    preview.willChange === 0 ? '' : `${undo}\n`,
  ]
  return parts.filter(Boolean).join('\n')
}

const reasonsText = (reasons: BulkPreview['reasons']): string =>
  reasons.map(({ reason, count }) => `${counted(count, 'job')}: ${oneLine(reason, 200)}\n`).join('')

export function reportText(operation: BulkReport): string {
  const { id, isDryRun, status, changed, already, refused, waits, error } = operation
  const would = isDryRun ? 'would be changed' : 'changed'
  const canary = canaryLine(operation)
  const lines = [
    `Operation ${id} is ${status}: ${counted(changed, 'job')} ${would}, ${already} done already, ${refused} refused.\n`,
  ]
  if (canary !== null) lines.push(`${canary}\n`)
  if (waits !== null) lines.push(`It waits: ${oneLine(waits, 200)}. See: millrace bulk show ${id}\n`)
  if (error !== null) lines.push(`${oneLine(error, 500)}\n`)
  return lines.join('') + reasonsText(operation.reasons)
}
