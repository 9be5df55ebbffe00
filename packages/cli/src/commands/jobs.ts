import { Command, Option } from 'commander'
import { type Duration, type Job, quotedValue, type SearchOrder, type SearchPage, searchFields, toMs } from 'millrace'
import { addRemoteOptions, type ClientOptions, withClientOrApi } from '../client.ts'
import { addCsvOptions, type CsvOptions, demandPage, printCsv } from '../csv.ts'
import { fromNow, moreHint, oneLine, print, printJson } from '../print.ts'
import { pointAt } from '../query-problem.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { counted } from '../worker-process.ts'
import { holding, pausedBy } from './pauses.ts'
import { parseDuration } from './worker-options.ts'

const STATUSES = ['pending', 'processing', 'blocked', 'failed', 'completed', 'cancelled', 'dead']

const help = `
"failed" is a job that waits for its next attempt, "blocked" one that waits for others of its key, "dead" one that has
no attempt left.

Queries (--where):
  field:value          several terms must all hold: status:dead queue:mail
  field:a,b            one of several values: status:dead,failed
  -field:value         not: -type:metrics
  field:"two words"    a value with spaces or commas
  field:~part          contains, in upper or lower case: error:~timeout
  field:begin*         begins with: type:mail.*     field:*  has any value, -tenant:*  has none
  field:>3             compares numbers, times and durations: attempt:>3 created:>-2h waited:>5m
  payload.path:value   a value in the payload: payload.user.id:42
  Fields: ${searchFields.map(({ name }) => name).join(', ')}.

A search of payloads and errors looks at jobs one by one. It ends with its time, says what it looked at, and prints how to
go on.

Examples:
  millrace jobs --status failed
  millrace jobs --where 'status:dead error:~timeout created:>-2h'
  millrace jobs --where 'payload.user.id:42' --timeout 10s
  millrace jobs --where 'queue:mail' --count
  millrace jobs --queue mail --limit 20 --json
  millrace jobs --where 'status:dead' --csv > dead.csv
`

interface Options extends ClientOptions, CsvOptions {
  readonly where?: string
  readonly status?: Job['status']
  readonly queue?: string
  readonly type?: string
  readonly tenant?: string
  readonly correlation?: string
  readonly before?: string
  readonly after?: string
  readonly oldest?: true
  readonly count?: true
  readonly timeout: Duration
}

export function jobsCommand(): Command {
  const command = new Command('jobs')
    .summary('find jobs, newest first')
    .description('Find jobs, waiting, running and finished, newest first.')
    .option('--where <query>', 'only jobs that fit this query')
    .addOption(new Option('--status <status>', 'only these').choices(STATUSES))
    .option('--queue <queue>', 'only of this queue')
    .option('--type <type>', 'only of this type')
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--correlation <id>', 'only with this correlation id')
    .option('--before <id>', 'only jobs older than this one')
    .option('--after <cursor>', 'the page after the one that printed this cursor')
    .option('--oldest', 'oldest first')
    .option('--count', 'only how many there are, up to 100000')
    .addOption(new Option('--timeout <duration>', 'how long to search').argParser(parseDuration).default('2s'))
  return addWatchOptions(addRemoteOptions(addCsvOptions(command)))
    .addHelpText('after', help)
    .action(act)
}

async function act(options: Options, command: Command): Promise<void> {
  demandPage(command, options)
  await withClientOrApi(command, options, async ({ millrace }) => {
    const query = queryOf(options)
    const timeoutMs = toMs(options.timeout, '--timeout')
    if (options.count) {
      const counted = await millrace.search.count(query, { timeoutMs }).catch(pointAt)
      return options.json ? printJson(counted) : print(`${counted.count}${counted.isCapped ? '+' : ''}\n`)
    }
    const order: SearchOrder = options.oldest ? 'oldest' : 'newest'
    const find = (after: string | undefined, limit: number) =>
      millrace.search.jobs(query, { limit, order, timeoutMs, ...(after === undefined ? {} : { after }) }).catch(pointAt)
    if (options.csv)
      return printCsv(command, options, {
        ...{ kind: 'jobs', goOn: '--after' },
        async page(next = options.after, limit) {
          const { jobs: rows, next: goOn } = await find(next, limit)
          return { rows, next: goOn }
        },
      })
    const page = await find(options.after, options.limit)
    const pauses = await millrace.pauses.list()
    if (options.json) {
      const jobs = page.jobs.map((job) => ({ ...job, pauses: holding(pauses, job) }))
      // A list by options is a list; a search has more to say.
      return printJson(options.where === undefined ? jobs : { ...page, jobs })
    }
    if (page.jobs.length === 0) print('No jobs match.\n')
    else
      print(
        table(
          TITLES,
          page.jobs.map((job) => [...rowOf(job), pausedBy(holding(pauses, job))]),
        ),
      )
    tellRest(command, page)
  })
}

/** The options are terms, too. */
function queryOf({ where = '', before, ...options }: Options): string {
  const named = (['status', 'queue', 'type', 'tenant', 'correlation'] as const).flatMap((field) => {
    const value = options[field]
    return value === undefined ? [] : `${field}:${quotedValue(value)}`
  })
  if (before !== undefined) named.push(`id:<${quotedValue(before)}`)
  // First, so that the positions of problems are those in what was typed.
  return [where, ...named].join(' ').trimEnd()
}

function tellRest(command: Command, { next, scanned }: SearchPage): void {
  if (scanned !== null) {
    const span =
      scanned.from === null ? '' : `, created from ${scanned.from.toISOString()} to ${scanned.to?.toISOString()}`
    print(`\nLooked at ${counted(scanned.rows, 'job')}${span}.\n`)
  }
  if (next !== null) print(moreHint(command, next, '--after'))
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
