import { Command } from 'commander'
import { addClientOptions, withClient } from '../client.ts'
import { print, printJson } from '../print.ts'
import { addWhereOptions, demandOne, runBulk, type WhereOptions } from './bulk-run.ts'
import { addAuthorOption } from './retry.ts'

const help = `
A waiting job ends at once. A running one is asked to stop: its handler's signal aborts, and it ends as cancelled when
the handler heeds it.

Exit codes:
  0  cancelled, or asked to stop
  1  the job is finished already, or there is none

Examples:
  millrace cancel 48211
  millrace cancel 48211 48212 --reason "sent by hand"
  millrace cancel --where 'queue:mail status:pending created:<-1d' --yes
`

interface Options extends WhereOptions {
  readonly reason?: string
}

export function cancelCommand(): Command {
  const command = new Command('cancel')
    .summary('cancel jobs')
    .description('Cancel jobs that wait or run.')
    .argument('[id...]', 'the ids of the jobs')
    .option('--reason <text>', 'stored with the job')
  return addClientOptions(addWhereOptions(addAuthorOption(command)))
    .addHelpText('after', help)
    .action(act)
}

const SAID = {
  cancelled: 'is cancelled',
  requested: 'is running, and was asked to stop',
  already_finished: 'is finished already',
  not_found: 'does not exist',
} as const

async function act(ids: string[], options: Options, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const { by, reason, where } = options
    demandOne(ids, options)
    if (where !== undefined) {
      const request = { action: 'cancel', query: where, ...(reason === undefined ? {} : { reason }) } as const
      return runBulk(millrace, request, options)
    }
    const results = []
    for (const id of ids)
      results.push({ id, result: await millrace.cancel(id, reason === undefined ? { by } : { by, reason }) })
    if (results.some(({ result }) => result === 'already_finished' || result === 'not_found')) process.exitCode = 1
    if (options.json) printJson(results)
    else print(results.map(({ id, result }) => `Job ${id} ${SAID[result]}.\n`).join(''))
  })
}
