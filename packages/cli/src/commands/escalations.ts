import { setTimeout as sleep } from 'node:timers/promises'
import { Command, Option } from 'commander'
import type { EscalationFilter, ListedEscalation, Millrace } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { Refused } from '../failure.ts'
import { fromNow, moreHint, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { addAuthorOption } from './retry.ts'
import { parseLimit } from './worker-options.ts'

const help = `
An escalation is a fault that people have to be told of: a dead job of a queue that declares an escalation, a budget that
is used up, an alert. A worker whose workload has an escalation delivers it.

Examples:
  millrace escalations                       what is open, newest first
  millrace escalations --state overdue       what nobody has acknowledged in time
  millrace escalations --state undelivered   what nobody was told of yet, and why
  millrace escalations acknowledge 17        somebody looks after it
  millrace escalations resend 17
  millrace escalations test '#ops-alerts'    a message to see whether the channel works
`

const STATES = ['open', 'overdue', 'undelivered', 'resolved', 'any']
const TEST_MS = 30_000

interface ListOptions extends ClientOptions, Omit<EscalationFilter, 'state'> {
  readonly state: NonNullable<EscalationFilter['state']> | 'any'
  readonly limit: number
}

interface Decision extends ClientOptions {
  readonly by: string
}

export function escalationsCommand(): Command {
  return new Command('escalations')
    .summary('what people were told of, and what waits')
    .description('Look at escalations, acknowledge them, send them again, test a channel.')
    .addHelpText('after', help)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(showCommand())
    .addCommand(acknowledgeCommand())
    .addCommand(resendCommand())
    .addCommand(testCommand())
}

function listCommand(): Command {
  const command = new Command('list')
    .description('List escalations, newest first.')
    .addOption(new Option('--state <state>', 'only these').choices(STATES).default('open'))
    .option('--queue <queue>', 'only of this queue')
    .option('--channel <channel>', 'only for this channel')
    .option('--key <key>', 'only of this fault')
    .option('--before <id>', 'only older ones than this: the next page')
    .addOption(new Option('--limit <count>', 'how many').argParser(parseLimit).default(50))
  return addWatchOptions(addClientOptions(command)).action(list)
}

function showCommand(): Command {
  const command = new Command('show').description('Show one escalation.').argument('<id>', 'the id of the escalation')
  return addClientOptions(command).action(show)
}

function acknowledgeCommand(): Command {
  const command = new Command('acknowledge')
    .description('Say that somebody looks after a fault: all its open escalations are acknowledged.')
    .argument('<id...>', 'the ids of escalations')
  return addClientOptions(addAuthorOption(command)).action(acknowledge)
}

function resendCommand(): Command {
  const command = new Command('resend')
    .description('Send escalations again, also such as their channel refused.')
    .argument('<id...>', 'the ids of escalations')
  return addClientOptions(addAuthorOption(command)).action(resend)
}

function testCommand(): Command {
  const command = new Command('test')
    .description('Send a test message to a channel, and wait until it has arrived.')
    .argument('<channel>', 'the name of the channel, as the escalation of the workload has it')
  return addClientOptions(addAuthorOption(command)).action(test)
}

async function list(options: ListOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const { state, queue, channel, key, before, limit } = options
    const given = Object.entries({ queue, channel, key, before, ...(state !== 'any' && { state }) })
    const filter = Object.fromEntries(given.filter(([, value]) => value !== undefined))
    const rows = await millrace.escalations.list({ ...filter, limit })
    if (options.json) return printJson(rows)
    if (rows.length === 0) print(state === 'any' ? 'There are no escalations.\n' : `No escalation is ${state}.\n`)
    else print(table(['ID', 'WHEN', 'SEVERITY', 'WHAT', 'QUEUE', 'CHANNEL', 'DELIVERY', 'RESPONSE'], rows.map(cells)))
    if (rows.length === limit) print(moreHint(command, rows.at(-1)?.id))
    await warnIfUndelivered(millrace)
  })
}

/** Rows that nobody delivers look like any other; say so. */
async function warnIfUndelivered(millrace: Millrace): Promise<void> {
  const { unsent, deliverers, undeliverable } = await millrace.escalations.standing()
  if (unsent > 0 && deliverers === 0)
    print(`\n${unsent} wait, and no worker delivers: start one whose workload has an escalation.\n`)
  if (undeliverable > 0)
    print(`\n${undeliverable} were refused by their channel: millrace escalations --state undelivered\n`)
}

async function show(id: string, options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const row = await found(millrace, id)
    if (options.json) return printJson(row)
    const facts: [string, string][] = [
      ['what', what(row)],
      ['key', row.key],
      ['severity', row.severity],
      ['queue', row.queue ?? ''],
      ['job', row.jobId ?? ''],
      ['tenant', row.tenant ?? ''],
      ['created', row.createdAt.toISOString()],
      ['channel', row.channel ?? 'not chosen yet'],
      ['delivery', deliveryOf(row)],
      ['message', row.messageKey ?? ''],
      ['error', row.lastError ?? ''],
      ['respond by', row.respondBy?.toISOString() ?? ''],
      ['response', responseOf(row)],
      ['details', JSON.stringify(row.details)],
    ]
    for (const [name, value] of facts) if (value !== '') print(`${name.padEnd(12)}${oneLine(value, 500)}\n`)
  })
}

async function acknowledge(ids: string[], options: Decision, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const answers = await millrace.escalations.acknowledge(ids, { by: options.by })
    if (options.json) printJson(answers)
    else for (const { id, status } of answers) print(`${id}: ${status.replaceAll('_', ' ')}\n`)
    if (answers.some(({ status }) => status === 'not_found')) process.exitCode = 1
  })
}

async function resend(ids: string[], options: Decision, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const sent = new Set(await millrace.escalations.resend(ids, { by: options.by }))
    const answers = ids.map((id) => ({ id, status: sent.has(id) ? 'waits' : 'not_found' }))
    if (options.json) printJson(answers)
    else for (const { id, status } of answers) print(`${id}: ${status === 'waits' ? 'is sent again' : 'not found'}\n`)
    if (sent.size < ids.length) process.exitCode = 1
  })
}

async function test(channel: string, options: Decision, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const { deliverers } = await millrace.escalations.standing()
    const id = deliverers === 0 ? undefined : await millrace.escalations.test(channel, { by: options.by })
    if (id === undefined)
      throw new Refused(
        'No worker delivers on this database. Start one whose workload has an escalation, then test again.',
      )
    const row = await outcomeOf(millrace, id)
    if (options.json) printJson(row)
    else if (row.sentAt !== null) print(`The test message has reached ${channel}.\n`)
    else print(`The test message has not reached ${channel}: ${row.lastError ?? 'it still waits.'}\n`)
    if (row.sentAt === null) process.exitCode = 1
  })
}

/** Delivered, refused, or failed once: that is what a person wants to see. */
async function outcomeOf(millrace: Millrace, id: string): Promise<ListedEscalation> {
  const end = Date.now() + TEST_MS
  for (;;) {
    const row = await found(millrace, id)
    if (row.sentAt !== null || row.lastError !== null || Date.now() > end) return row
    await sleep(200)
  }
}

async function found(millrace: Millrace, id: string): Promise<ListedEscalation> {
  const row = await millrace.escalations.get(id)
  if (row === undefined) throw new Refused(`There is no escalation ${id}.`)
  return row
}

function cells(row: ListedEscalation): string[] {
  const { id, createdAt, severity, queue, channel } = row
  const delivery = oneLine(deliveryOf(row), 40)
  return [
    id,
    fromNow(createdAt),
    severity,
    oneLine(what(row), 60),
    queue ?? '',
    channel ?? '',
    delivery,
    responseOf(row),
  ]
}

function what({ kind, summary, type, details, jobId }: ListedEscalation): string {
  return kind === 'dead_job' ? `job ${jobId} of type ${type} died: ${String(details.reason)}` : (summary ?? kind)
}

function deliveryOf({ sentAt, undeliverableAt, lastError, dueAt, tries, repeats }: ListedEscalation): string {
  if (sentAt !== null) return `sent ${fromNow(sentAt)}${repeats > 0 ? `, ${repeats} repeats` : ''}`
  if (undeliverableAt !== null) return `refused: ${lastError ?? ''}`
  if (lastError !== null) return `${tries} tries: ${lastError}`
  return dueAt === null ? 'waits' : `due ${fromNow(dueAt)}`
}

function responseOf({ resolvedAt, acknowledgedAt, acknowledgedBy, respondBy, isOverdue }: ListedEscalation): string {
  if (resolvedAt !== null) return `resolved ${fromNow(resolvedAt)}`
  if (acknowledgedAt !== null) return `by ${oneLine(acknowledgedBy, 30)} ${fromNow(acknowledgedAt)}`
  if (respondBy === null) return ''
  return isOverdue ? `OVERDUE ${fromNow(respondBy)}` : `due ${fromNow(respondBy)}`
}
