import { Command, Option } from 'commander'
import type { BulkOperation } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { Refused } from '../failure.ts'
import { fromNow, moreHint, oneLine, print, printJson } from '../print.ts'
import { facts, table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { canaryTable } from './bulk-canary.ts'
import { capped, reportText, watched } from './bulk-run.ts'
import { addAuthorOption } from './retry.ts'
import { parseLimit, parseRate } from './worker-options.ts'

const help = `
An operation is started by retry, cancel, fail or prioritise with --where. Workers run it, as a job of type millrace.bulk.
Its report is kept for 30 days.

Examples:
  millrace bulk                        what was started, newest first
  millrace bulk show 7                 how far it is, and what was refused and why
  millrace bulk cancel 7
  millrace bulk proceed 7              do not wait for its canary any longer
  millrace bulk undo 7
`

export function bulkCommand(): Command {
  return new Command('bulk')
    .summary('look at changes of many jobs, stop them, take them back')
    .description('Look at bulk operations, stop them, take them back.')
    .addHelpText('after', help)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(showCommand())
    .addCommand(cancelCommand())
    .addCommand(proceedCommand())
    .addCommand(undoCommand())
}

function listCommand(): Command {
  const command = new Command('list')
    .description('List bulk operations, newest first.')
    .option('--before <id>', 'only operations older than this one')
    .addOption(new Option('--limit <count>', 'how many').argParser(parseLimit).default(50))
  return addWatchOptions(addClientOptions(command)).action(
    async (options: ClientOptions & { limit: number; before?: string }) => {
      await withClient(command, options, async ({ millrace }) => {
        const { limit, before } = options
        const operations = await millrace.bulk.list({ limit, ...(before === undefined ? {} : { before }) })
        if (options.json) return printJson(operations)
        if (operations.length === 0) return print('No bulk operation was started.\n')
        print(table(TITLES, operations.map(rowOf)))
        if (operations.length === limit) print(moreHint(command, operations.at(-1)?.id))
      })
    },
  )
}

const TITLES = ['ID', 'STATUS', 'ACTION', 'JOBS', 'CHANGED', 'ALREADY', 'REFUSED', 'BY', 'STARTED', 'QUERY']

function rowOf(operation: BulkOperation): string[] {
  const { id, status, action, isDryRun, expected, isCapped, changed, already, refused } = operation
  const counts = [changed, already, refused].map((count) => (count === 0 ? '' : String(count)))
  return [
    ...[id, status, isDryRun ? `${action} (dry run)` : action, capped(expected, isCapped), ...counts],
    oneLine(operation.createdBy, 30),
    fromNow(operation.createdAt),
    oneLine(operation.query, 60),
  ]
}

function showCommand(): Command {
  const command = new Command('show')
    .description('Show one: how far it is, what was refused, and why.')
    .argument('<id>')
  return addWatchOptions(addClientOptions(command)).action((id: string, options: ClientOptions) =>
    withClient(command, options, async ({ millrace }) => {
      const operation = await millrace.bulk.get(id)
      if (operation === undefined) throw new Refused(`There is no bulk operation ${id}.`)
      if (options.json) return printJson({ ...operation, items: await millrace.bulk.items(id, { limit: 1_000 }) })
      print(
        facts([
          ['query', operation.query],
          ['by', operation.createdBy],
          ['started', fromNow(operation.createdAt)],
          ['ended', operation.finishedAt && fromNow(operation.finishedAt)],
          ['rate', `${operation.rate} jobs per second`],
          ['job', operation.jobId],
          ['taken back by', operation.undoneBy],
          ['undo', operation.noUndo === null ? `millrace bulk undo ${id}` : `no: ${operation.noUndo}`],
        ]),
      )
      print(`\n${reportText(operation)}`)
      if (operation.canaries.length > 0) print(`\n${canaryTable(operation.canaries)}`)
    }),
  )
}

function cancelCommand(): Command {
  const command = new Command('cancel')
    .description('Stop one. The jobs that it has changed stay as they are.')
    .argument('<id>')
  return addClientOptions(addAuthorOption(command)).action((id: string, options: ClientOptions & { by: string }) =>
    withClient(command, options, async ({ millrace }) => {
      const operation = await millrace.bulk.cancel(id, { by: options.by })
      if (operation.status !== 'cancelled') process.exitCode = 1
      if (options.json) printJson(operation)
      else print(reportText(operation))
    }),
  )
}

function proceedCommand(): Command {
  const command = new Command('proceed')
    .description('Go on with the rest of one without waiting for its canary.')
    .argument('<id>')
    .addOption(new Option('--rate <jobs>', 'jobs per second from now on').argParser(parseRate))
  type Options = ClientOptions & { by: string; rate?: number }
  return addClientOptions(addAuthorOption(command)).action((id: string, { by, rate, ...options }: Options) =>
    withClient(command, options, async ({ millrace }) => {
      await millrace.bulk.proceed(id, { by, ...(rate === undefined ? {} : { rate }) })
      const operation = await watched(millrace, { id })
      if (operation.status !== 'completed') process.exitCode = 1
      if (options.json) printJson(operation)
      else print(reportText(operation))
    }),
  )
}

function undoCommand(): Command {
  const command = new Command('undo')
    .description('Take one back, where that can be done: only changes of priority can.')
    .argument('<id>')
  return addClientOptions(addAuthorOption(command)).action((id: string, options: ClientOptions & { by: string }) =>
    withClient(command, options, async ({ millrace }) => {
      const operation = await watched(millrace, await millrace.bulk.undo(id, { by: options.by }))
      if (options.json) printJson(operation)
      else print(reportText(operation))
    }),
  )
}
