// What the subcommands of `millrace dead` decide: about letters by their ids, or about all dead jobs of a query.
import type { Command } from 'commander'
import { quotedValue } from 'millrace'
import { type ClientOptions, withClientOrApi } from '../client.ts'
import { oneLine, print, printJson } from '../print.ts'
import type { Operations } from '../remote/operations.ts'
import { table } from '../table.ts'
import { demandOne, runBulk, type WhereOptions } from './bulk-run.ts'
import { type FilterOptions, filterOf } from './dead-letters.ts'
import { redriveOptions } from './retry.ts'

interface RedriveOptions extends WhereOptions, FilterOptions {
  readonly maxAttempts?: number
  readonly payload?: unknown
}

export async function redrive(ids: string[], options: RedriveOptions, command: Command): Promise<void> {
  if (options.where !== undefined) return redriveWhere(ids, { ...options, where: options.where }, command)
  const filter = filterOf(options)
  if (options.canary !== undefined) return redriveFilter(ids, options, command)
  if (ids.length === 0 && Object.keys(filter).length === 0)
    command.error('error: Say which letters: by id, or by --type, --queue, --tenant, --fingerprint or --where.')
  if (ids.length > 0 && Object.keys(filter).length > 0) command.error('error: Give either ids or a filter, not both.')
  const payload = options.payload === undefined ? {} : { payload: options.payload }
  await withClientOrApi(command, options, async ({ millrace }) => {
    const chosen = ids.length > 0 ? ids : await pendingIds(millrace, filter)
    const results = await millrace.deadLetters.redrive(chosen, { ...redriveOptions(options), ...payload })
    if (results.some(({ status }) => status !== 'redriven')) process.exitCode = 1
    if (options.json) return printJson(results)
    if (results.length === 0) return print('No pending dead letter is like that.\n')
    print(
      table(
        ['LETTER', 'RESULT', 'JOB', 'WHY'],
        results.map((result) => [
          result.id,
          result.status,
          'jobId' in result ? result.jobId : '',
          'message' in result ? oneLine(result.message, 1_000) : '',
        ]),
      ),
    )
  })
}

type Where<Options> = Options & { readonly where: string }

async function redriveWhere(ids: string[], options: Where<RedriveOptions>, command: Command): Promise<void> {
  const { where, maxAttempts, payload } = options
  const other = Object.keys(filterOf(options))[0]
  if (other !== undefined)
    command.error(
      `error: --${other} does not go with --where: say it in the query, as ${other === 'fingerprint' ? 'fp' : other}:…`,
    )
  if (payload !== undefined) command.error('error: --payload is for a single letter, and not for --where.')
  await withClientOrApi(command, options, async ({ millrace }) => {
    demandOne(ids, options, 'letters')
    const attempts = maxAttempts === undefined ? {} : { maxAttempts }
    await runBulk(millrace, { action: 'redrive', query: deadOnly(where), ...attempts }, options)
  })
}

/** With a canary it is a bulk operation, whichever way the letters are named. */
async function redriveFilter(ids: string[], options: RedriveOptions, command: Command): Promise<void> {
  const terms = Object.entries(filterOf(options)).map(
    ([name, value]) => `${name === 'fingerprint' ? 'fp' : name}:${quotedValue(value)}`,
  )
  if (ids.length > 0 || terms.length === 0)
    command.error('error: --canary goes with --where, --type, --queue, --tenant or --fingerprint, and takes no ids.')
  const { type: _, queue: __, tenant: ___, fingerprint: ____, ...rest } = options
  await redriveWhere(ids, { ...rest, where: terms.join(' ') }, command)
}

/** Other jobs leave no letter: a preview that counted them would hide what matters. Last, so that positions of problems fit. */
const deadOnly = (where: string): string => (/(^|\s)status:/.test(where) ? where : `${where} status:dead`)

/** Page by page, so that a long list is never one answer. */
async function pendingIds(millrace: Operations, filter: FilterOptions): Promise<string[]> {
  const ids: string[] = []
  for (;;) {
    const before = ids.at(-1)
    const page = await millrace.deadLetters.list({
      ...filter,
      status: 'pending',
      limit: 1_000,
      ...(before === undefined ? {} : { before }),
    })
    ids.push(...page.map(({ id }) => id))
    if (page.length < 1_000) return ids
  }
}

interface DecisionOptions extends ClientOptions {
  readonly by: string
  readonly note?: string
}

interface ClosingOptions extends WhereOptions {
  readonly note?: string
}

export function close(verb: 'resolve' | 'ignore') {
  return async (ids: string[], options: ClosingOptions, command: Command): Promise<void> => {
    const { where, note } = options
    if (where === undefined && ids.length > 0) return decide(verb)(ids, options, command)
    await withClientOrApi(command, options, async ({ millrace }) => {
      demandOne(ids, options, 'letters')
      const query = deadOnly(where as string)
      await runBulk(millrace, { action: verb, query, ...(note === undefined ? {} : { note }) }, options)
    })
  }
}

type Verb = 'acknowledge' | 'resolve' | 'ignore' | 'note'

export function decide(verb: Verb): (ids: string[], options: DecisionOptions, command: Command) => Promise<void> {
  return async (ids, options, command) => {
    await withClientOrApi(command, options, async ({ millrace }) => {
      const results = await decided(millrace, verb, ids, options)
      if (results.some(({ status }) => status === 'not_found')) process.exitCode = 1
      if (options.json) return printJson(results)
      print(results.map(({ id, status }) => `Dead letter ${id}: ${status.replaceAll('_', ' ')}.\n`).join(''))
    })
  }
}

function decided({ deadLetters }: Operations, verb: Verb, ids: string[], { by, note }: DecisionOptions) {
  const options = { by, ...(note === undefined ? {} : { note }) }
  switch (verb) {
    case 'acknowledge':
      return deadLetters.acknowledge(ids, { by })
    case 'resolve':
      return deadLetters.resolve(ids, options)
    case 'ignore':
      return deadLetters.ignore(ids, options)
    case 'note':
      return deadLetters.note(ids, note ?? '', { by })
  }
}
