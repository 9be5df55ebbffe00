import { Command, Option } from 'commander'
import type { Job, JobFilter } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { fromNow, moreHint, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { holding, pausedBy } from './pauses.ts'
import { parseLimit } from './worker-options.ts'

const STATUSES = ['pending', 'processing', 'blocked', 'failed', 'completed', 'cancelled', 'dead']

const help = `
"failed" is a job that waits for its next attempt, "blocked" one that waits for others of its key, "dead" one that has
no attempt left.

Examples:
  millrace jobs --status failed
  millrace jobs --queue mail --limit 20 --json
  millrace jobs --before 48211         the page after the one that ended with that job
`

type Options = ClientOptions & JobFilter & { correlation?: string }

export function jobsCommand(): Command {
  const command = new Command('jobs')
    .summary('list jobs, newest first')
    .description('List jobs, waiting, running and finished, newest first.')
    .addOption(new Option('--status <status>', 'only these').choices(STATUSES))
    .option('--queue <queue>', 'only of this queue')
    .option('--type <type>', 'only of this type')
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--correlation <id>', 'only with this correlation id')
    .option('--before <id>', 'only jobs older than this one')
    .addOption(new Option('--limit <count>', 'how many').argParser(parseLimit).default(50))
  return addClientOptions(command).addHelpText('after', help).action(act)
}

async function act(options: Options, command: Command): Promise<void> {
  const { correlation, databaseUrl: _, json, module: __, ...filter } = options
  await withClient(command, options, async ({ millrace }) => {
    const jobs = await millrace.jobs({
      ...filter,
      ...(correlation === undefined ? {} : { correlationId: correlation }),
    })
    const pauses = await millrace.pauses.list()
    if (json) return printJson(jobs.map((job) => ({ ...job, pauses: holding(pauses, job) })))
    if (jobs.length === 0) return print('No job is like that.\n')
    const rows = jobs.map((job) => [...rowOf(job), pausedBy(holding(pauses, job))])
    print(table(TITLES, rows))
    if (jobs.length === filter.limit) print(moreHint(command, jobs.at(-1)?.id))
  })
}

const TITLES = ['ID', 'STATUS', 'TYPE', 'QUEUE', 'TENANT', 'ATTEMPT', 'WHEN', 'ERROR', 'PAUSED']

function rowOf(job: Job): string[] {
  return [
    job.id,
    job.status,
    oneLine(job.type, 40),
    job.queue,
    oneLine(job.tenant, 30),
    `${job.attempt}/${job.maxAttempts}`,
    whenOf(job),
    oneLine(job.lastError, 60),
  ]
}

/** When it ended, started or is due, whatever matters in its state. */
export function whenOf({ status, finishedAt, startedAt, runAt }: Job): string {
  if (finishedAt !== null) return `ended ${fromNow(finishedAt)}`
  return status === 'processing' ? `started ${fromNow(startedAt)}` : `due ${fromNow(runAt)}`
}
