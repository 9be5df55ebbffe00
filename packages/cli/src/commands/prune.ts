import { Command, Option } from 'commander'
import type { Duration, PruneOptions, PruneResult } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { print, printJson } from '../print.ts'
import { counted } from '../worker-process.ts'
import { addAuthorOption } from './retry.ts'
import { parseDuration } from './worker-options.ts'

const help = `
The archive forgets jobs by itself when their retention is over. This forgets some of them sooner. Jobs of workflows stay
with their workflow, and the dead letter of a dead job stays until it is redriven, resolved or ignored. Ctrl-C stops it: what is
forgotten by then stays so.

Examples:
  millrace prune --older-than 30d
  millrace prune --older-than 1d --type mail.send --status completed
`

interface Options extends ClientOptions {
  readonly olderThan: Duration
  readonly type?: string[]
  readonly status?: NonNullable<PruneOptions['statuses']>
  readonly by: string
}

export function pruneCommand(): Command {
  const command = addAgeOption(new Command('prune'))
    .summary('forget archived jobs')
    .description('Forget archived jobs before their retention is over.')
    .option('--type <type...>', 'only of these job types')
    .addOption(new Option('--status <status...>', 'only these').choices(['completed', 'cancelled', 'dead']))
  return addClientOptions(addAuthorOption(command)).addHelpText('after', help).action(act)
}

export function addAgeOption(command: Command): Command {
  return command.addOption(
    new Option('--older-than <duration>', 'only what is older, like 30d')
      .argParser(parseDuration)
      .makeOptionMandatory(),
  )
}

async function act({ olderThan, type, status, by, ...options }: Options, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const types = type === undefined ? {} : { types: type }
    const statuses = status === undefined ? {} : { statuses: status }
    tellPruned(await millrace.prune({ olderThan, by, ...types, ...statuses }), 'job', options)
  })
}

export function tellPruned(result: PruneResult, what: string, { json }: ClientOptions): void {
  if (json) printJson(result)
  else print(`Forgot ${counted(result.pruned, what)}.\n`)
}
