import { Command, Option } from 'commander'
import type { Duration, PruneOptions, PruneResult } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { print, printJson } from '../print.ts'
import { counted } from '../worker-process.ts'
import { addWhereOptions, runBulk, type WhereOptions } from './bulk-run.ts'
import { addAuthorOption } from './retry.ts'
import { parseDuration } from './worker-options.ts'

const help = `
The archive forgets jobs by itself when their retention is over. This forgets some of them sooner. Jobs of workflows stay
with their workflow, and the dead letter of a dead job stays until it is redriven, resolved or ignored. Ctrl-C stops it: what is
forgotten by then stays so.

Examples:
  millrace prune --older-than 30d
  millrace prune --older-than 1d --type mail.send --status completed
  millrace prune --where 'type:mail.send tenant:acme finished:<-1d'
`

interface Options extends WhereOptions {
  readonly olderThan?: Duration
  readonly type?: string[]
  readonly status?: NonNullable<PruneOptions['statuses']>
}

export function pruneCommand(): Command {
  const command = new Command('prune')
    .addOption(ageOption())
    .summary('forget archived jobs')
    .description('Forget archived jobs before their retention is over.')
    .option('--type <type...>', 'only of these job types')
    .addOption(new Option('--status <status...>', 'only these').choices(['completed', 'cancelled', 'dead']))
  return addClientOptions(addWhereOptions(addAuthorOption(command), 'archived jobs'))
    .addHelpText('after', help)
    .action(act)
}

export const ageOption = (): Option =>
  new Option('--older-than <duration>', 'only what is older, like 30d').argParser(parseDuration)

async function act(options: Options, command: Command): Promise<void> {
  const { olderThan, type, status, by, where } = options
  if ((olderThan === undefined) === (where === undefined))
    command.error('error: Say which jobs: by --older-than, or by --where. One of them.')
  if (where !== undefined && (type ?? status) !== undefined)
    command.error('error: --type and --status go with --older-than. With --where, say them in the query.')
  await withClient(command, options, async ({ millrace }) => {
    if (where !== undefined) return runBulk(millrace, { action: 'prune', query: where }, options)
    const types = type === undefined ? {} : { types: type }
    const statuses = status === undefined ? {} : { statuses: status }
    const pruned = await millrace.prune({ olderThan: olderThan as Duration, by, ...types, ...statuses })
    tellPruned(pruned, 'job', options)
  })
}

export function tellPruned(result: PruneResult, what: string, { json }: ClientOptions): void {
  if (json) printJson(result)
  else print(`Forgot ${counted(result.pruned, what)}.\n`)
}
