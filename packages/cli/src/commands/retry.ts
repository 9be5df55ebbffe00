import { userInfo } from 'node:os'
import { Command, Option } from 'commander'
import type { RetryResult } from 'millrace'
import { addClientOptions, addModuleOption, withClient } from '../client.ts'
import { print, printJson } from '../print.ts'
import { safeLine } from '../terminal.ts'
import { addWhereOptions, demandOne, runBulk, type WhereOptions } from './bulk-run.ts'
import { parseCount } from './worker-options.ts'

const help = `
A job that waits is due at once. A dead one gets a new job of the same work, linked with it; for that the workload must
be known (--module), because the payload is checked again. With --where the workers do it, and check it themselves.

Exit codes:
  0  every job will be tried again
  1  at least one will not

Examples:
  millrace retry 48211
  millrace retry 48211 48212 --module dist/workload.js
  millrace retry --where 'status:dead fp:9f3a' --rate 20
`

interface Options extends WhereOptions {
  readonly maxAttempts?: number
}

export function retryCommand(): Command {
  const command = new Command('retry')
    .summary('try jobs again')
    .description('Try jobs again: waiting ones at once, dead ones as new jobs.')
    .argument('[id...]', 'the ids of the jobs')
  return addModuleOption(addClientOptions(addWhereOptions(addDecisionOptions(command))))
    .addHelpText('after', help)
    .action(act)
}

/** Who decides, and how often the new job may be tried. */
export function addDecisionOptions(command: Command): Command {
  return addAuthorOption(command).addOption(
    new Option('--max-attempts <number>', 'attempts of the new job; default: as the dead one had').argParser(
      parseCount(1),
    ),
  )
}

export function addAuthorOption(command: Command): Command {
  return command.addOption(new Option('--by <name>', 'who decides; it is written down').default(...currentUser()))
}

function currentUser(): [string, string] {
  try {
    const { username } = userInfo()
    return [username, `you, ${username}`]
  } catch {
    return ['somebody at the command line', 'nobody in particular']
  }
}

async function act(ids: string[], options: Options, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    demandOne(ids, options)
    if (options.where !== undefined) {
      const { where: query, maxAttempts } = options
      return runBulk(
        millrace,
        { action: 'retry', query, ...(maxAttempts === undefined ? {} : { maxAttempts }) },
        options,
      )
    }
    const results = []
    for (const id of ids) results.push({ job: id, ...(await millrace.retry(id, redriveOptions(options))) })
    if (results.some(({ status }) => status !== 'due' && status !== 'redriven')) process.exitCode = 1
    if (options.json) printJson(results)
    else print(results.map((result) => `${safeLine(sentence(result.job, result))}\n`).join(''))
  })
}

export function redriveOptions({ by, maxAttempts }: Pick<Options, 'by' | 'maxAttempts'>) {
  return maxAttempts === undefined ? { by } : { by, maxAttempts }
}

function sentence(id: string, result: RetryResult): string {
  switch (result.status) {
    case 'due':
      return `Job ${id} is due now.`
    case 'running':
      return `Job ${id} runs at this moment.`
    case 'finished':
      return `Job ${id} is ${result.as}, and leaves nothing to try again.`
    case 'not_found':
      return `Job ${id} does not exist.`
    case 'redriven':
      return `Job ${id} is dead. Job ${result.jobId} takes its place.`
    case 'already_redriven':
      return `Job ${id} is dead. Job ${result.jobId} has taken its place before.`
    case 'duplicate':
      return `Job ${id} is dead, and job ${result.jobId} holds its dedup key: nothing was enqueued.`
    case 'refused':
      return `Job ${id} cannot be tried again: ${result.message}`
  }
}
