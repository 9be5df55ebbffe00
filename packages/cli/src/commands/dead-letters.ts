// What the subcommands of `millrace dead` show.
import type { Command } from 'commander'
import type { DeadLetter, DeadLetterDetails, DeadLetterFilter, Duration } from 'millrace'
import { type ClientOptions, withClientOrApi } from '../client.ts'
import { type CsvOptions, demandPage, printCsv } from '../csv.ts'
import { Refused } from '../failure.ts'
import { fromNow, moreHint, oneLine, print, printJson } from '../print.ts'
import { facts, table } from '../table.ts'
import { safeLine } from '../terminal.ts'
import { counted } from '../worker-process.ts'
import { tellPruned } from './prune.ts'

export interface FilterOptions {
  readonly queue?: string
  readonly type?: string
  readonly tenant?: string
  readonly fingerprint?: string
}

interface ListOptions extends ClientOptions, CsvOptions, FilterOptions {
  readonly status: 'pending' | 'retried' | 'resolved' | 'ignored' | 'any'
  readonly reason?: NonNullable<DeadLetterFilter['reason']>
  readonly before?: string
}

export async function list(options: ListOptions, command: Command): Promise<void> {
  const { status, reason, limit, before } = options
  demandPage(command, options)
  const filter = {
    ...filterOf(options),
    ...(status === 'any' ? {} : { status }),
    ...(reason === undefined ? {} : { reason }),
  }
  await withClientOrApi(command, options, async ({ millrace }) => {
    const page = (next: string | undefined, size: number) =>
      millrace.deadLetters.list({ ...filter, ...(next === undefined ? {} : { before: next }), limit: size })
    if (options.csv)
      return printCsv(command, options, {
        ...{ kind: 'deadLetters', goOn: '--before' },
        async page(next = before, size) {
          const rows = await page(next, size)
          return { rows, next: rows.length === size ? (rows.at(-1)?.id ?? null) : null }
        },
      })
    const letters = await page(before, limit)
    if (options.json) return printJson(letters)
    if (letters.length === 0) return print(`No dead letter is ${status === 'any' ? 'like that' : status}.\n`)
    print(
      table(
        ['ID', 'JOB', 'DIED', 'TYPE', 'TENANT', 'REASON', 'ATTEMPTS', 'STATUS', 'FINGERPRINT', 'ERROR'],
        letters.map(rowOf),
      ),
    )
    if (letters.length === limit) print(moreHint(command, letters.at(-1)?.id))
  })
}

export function filterOf({ queue, type, tenant, fingerprint }: FilterOptions): FilterOptions {
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(type === undefined ? {} : { type }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  }
}

function rowOf(letter: DeadLetter): string[] {
  return [
    letter.id,
    letter.jobId,
    fromNow(letter.diedAt),
    oneLine(letter.type, 40),
    oneLine(letter.tenant, 30),
    letter.reason,
    String(letter.attempts),
    letter.acknowledged && letter.status === 'pending' ? 'acknowledged' : letter.status,
    letter.fingerprint ?? '',
    oneLine(letter.errorMessage, 60),
  ]
}

export async function counts(options: ClientOptions, command: Command): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace }) => {
    const found = await millrace.deadLetters.counts()
    if (options.json) return printJson(found)
    if (found.length === 0) return print('There are no dead letters.\n')
    const rows = found.map(({ queue, tenant, pending, retried, resolved, ignored, oldestPendingAt }) => [
      oneLine(queue, 40),
      oneLine(tenant, 30),
      ...[pending, retried, resolved, ignored].map(String),
      fromNow(oldestPendingAt),
    ])
    print(table(['QUEUE', 'TENANT', 'PENDING', 'RETRIED', 'RESOLVED', 'IGNORED', 'OLDEST PENDING'], rows))
  })
}

interface PruneOptions extends ClientOptions {
  readonly olderThan: Duration
  readonly since: 'decision' | 'death'
  readonly by: string
}

export async function prune({ olderThan, since, by, ...options }: PruneOptions, command: Command): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace }) =>
    tellPruned(await millrace.deadLetters.prune({ olderThan, since, by }), 'dead letter', options),
  )
}

export async function groups(options: ClientOptions & FilterOptions, command: Command): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace }) => {
    const found = await millrace.deadLetters.groups(filterOf(options))
    if (options.json) return printJson(found)
    if (found.length === 0) return print('No dead letter is pending.\n')
    const rows = found.map((group) => [
      String(group.pending),
      oneLine(group.type, 40),
      group.fingerprint ?? '',
      fromNow(group.firstDiedAt),
      fromNow(group.lastDiedAt),
      oneLine(group.sampleMessage, 70),
    ])
    print(table(['PENDING', 'TYPE', 'FINGERPRINT', 'FIRST', 'LAST', 'NEWEST ERROR'], rows))
  })
}

export async function show(id: string, options: ClientOptions, command: Command): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace }) => {
    const letter = await millrace.deadLetters.get(id)
    if (letter === undefined)
      throw new Refused(
        `There is no dead letter ${oneLine(id, 40)}. \`millrace dead --status any\` lists them; a job's id is another one.`,
      )
    if (options.json) return printJson(letter)
    print(block(letter))
  })
}

function block(letter: DeadLetterDetails): string {
  const decided =
    letter.acknowledgedBy === null ? '' : `, by ${letter.acknowledgedBy} ${fromNow(letter.acknowledgedAt)}`
  const head = facts([
    ['Letter', letter.id],
    ['Job', `${letter.jobId}, ${letter.type}, queue ${letter.queue}`],
    ['Tenant', letter.tenant],
    ['Correlation', letter.correlationId],
    [
      'Workflow',
      letter.workflowId === null ? null : `${letter.workflowId}: millrace workflows show ${letter.workflowId}`,
    ],
    ['Died', `${letter.diedAt.toISOString()}, ${letter.reason} after ${counted(letter.attempts, 'attempt')}`],
    ['Status', `${letter.status}${decided}`],
    ['Redriven as', letter.redrivenJobId],
    ['Error', `${letter.errorClass ?? 'Error'}: ${letter.errorMessage}`],
    ['Fingerprint', letter.fingerprint],
    ['Payload', JSON.stringify(letter.originalJob.payload) ?? null],
  ])
  const { stack = null, logs = null } = letter.errorDetails ?? {}
  const attempts = letter.failedAttempts.map((each) =>
    safeLine(`${each.attempt}  ${fromNow(each.finishedAt)}  ${each.errorClass}: ${each.errorMessage}`),
  )
  return (
    head +
    section('Attempts', attempts.join('\n')) +
    section('Notes', letter.notes) +
    section('Log', logText(logs)) +
    section('Stack', stack)
  )
}

function section(title: string, text: string | null): string {
  if (!text) return ''
  const lines = text.split('\n').map((line) => `  ${oneLine(line, 200)}\n`)
  return `\n${title}\n${lines.join('')}`
}

/** The last lines that the run logged, as the flight recorder keeps them. */
function logText(logs: unknown): string | null {
  if (!Array.isArray(logs)) return null
  return logs.map(({ level, ms, msg, fields }) => safeLine(`+${ms} ms  ${level}  ${msg}  ${fields ?? ''}`)).join('\n')
}
