import { text } from 'node:stream/consumers'
import { Command, InvalidArgumentError, Option } from 'commander'
import { type Duration, type EnqueueByTypeOptions, type EnqueueResult, type JobResult, ResultTimeout } from 'millrace'
import { addModuleOption, addRemoteOptions, type ClientOptions, withClientOrApi } from '../client.ts'
import { fail } from '../failure.ts'
import { parsePayload } from '../json-argument.ts'
import { jsonText, oneLine, print, printJson } from '../print.ts'
import type { Operations } from '../remote/operations.ts'
import { safeLine } from '../terminal.ts'
import { parseCount, parseDuration } from './worker-options.ts'

const help = `
A type that workers have declared is enqueued by what the catalogue says of it (\`millrace types TYPE\`), and the payload is
checked by its JSON Schema. What its contract derives from the payload must be said: --tenant, --dedup-key, --order-key or
--limit-key, or for instance --no-dedup-key if the job has none. A type with sensitive values needs the contract itself.

With the workload the contract checks the payload and derives these: name it with --module or MILLRACE_MODULE, or once and
for all in package.json as "millrace": { "module": "dist/workload.js" }.

Exit codes:
  0  enqueued; with --wait: completed
  1  refused
  2  with --wait: it ended otherwise
  3  with --wait: it had not ended in time, and goes on

Examples:
  millrace enqueue send-mail '{"to":"ada@example.com"}'
  millrace enqueue bill '{"number":"7"}' --tenant acme --dedup-key 7
  millrace enqueue bill '{"number":"7","org":"acme"}' --module dist/workload.js
  millrace enqueue report '{"month":"2026-01"}' --tenant acme --delay 10m
  millrace enqueue import - < payload.json
  millrace enqueue report '{"month":"2026-01"}' --wait --timeout 5m
`

interface Options extends ClientOptions {
  readonly tenant?: string
  readonly priority?: number
  readonly delay?: Duration
  readonly runAt?: Date
  readonly correlation?: string
  /** False: none. */
  readonly dedupKey?: string | false
  readonly orderKey?: string | false
  readonly limitKey?: string | false
  readonly maxAttempts?: number
  readonly createdBy?: string
  readonly wait?: true
  readonly timeout: Duration
}

export function enqueueCommand(): Command {
  const command = new Command('enqueue')
    .summary('enqueue a job')
    .description('Enqueue a job.')
    .argument('<type>', 'the job type')
    .argument('[json]', 'the payload; - reads it from stdin', '{}')
    .option('--tenant <tenant>', 'the tenant it belongs to')
    .addOption(new Option('--priority <number>', "lower runs first; default: the queue's").argParser(parseCount(0)))
    .addOption(new Option('--delay <duration>', 'not before this long from now').argParser(parseDuration))
    .addOption(new Option('--run-at <time>', 'not before this time, such as 2026-01-31T08:00:00Z').argParser(parseTime))
    .option('--correlation <id>', 'ties related jobs together')
    .option(
      '--dedup-key <key>',
      'held by one job of this type and tenant; another is a duplicate, or what the contract says',
    )
    .option('--order-key <key>', 'jobs of the type with this key run one after another; only without the contract')
    .option('--limit-key <key>', 'so many jobs of the type with this key run at once; only without the contract')
    .addOption(new Option('--no-dedup-key', 'it has none').hideHelp())
    .addOption(new Option('--no-order-key', 'it has none').hideHelp())
    .addOption(new Option('--no-limit-key', 'it has none').hideHelp())
    .addOption(new Option('--max-attempts <number>', "default: the job type's").argParser(parseCount(1)))
    .option('--created-by <name>', 'who asked for it')
    .option('--wait', 'wait until it has ended, and print its result')
    .addOption(new Option('--timeout <duration>', 'how long to wait').argParser(parseDuration).default('30s'))
  return addModuleOption(addRemoteOptions(command)).addHelpText('after', help).action(act)
}

async function act(type: string, json: string, options: Options, command: Command): Promise<void> {
  const payload = await payloadFrom(command, json)
  await withClientOrApi(command, options, async ({ millrace }) => {
    const result = await millrace.enqueueByType(type, payload, enqueueOptions(options))
    if (options.wait) return await end(millrace, result, options)
    if (options.json) printJson(result)
    else print(sentence(result))
  })
}

function enqueueOptions(options: Options): EnqueueByTypeOptions {
  const {
    correlation,
    dedupKey,
    orderKey,
    limitKey,
    databaseUrl: _,
    adminUrl: __,
    module: ___,
    json: ____,
    wait,
    timeout,
    ...rest
  } = options
  const keys = Object.entries({ dedupKey, orderKey, limitKey }).filter(([, key]) => key !== undefined)
  return {
    ...rest,
    ...Object.fromEntries(keys.map(([name, key]) => [name, key === false ? null : key])),
    ...(correlation === undefined ? {} : { correlationId: correlation }),
  }
}

/** Waits for the job, also for the one that holds the dedup key. */
async function end(millrace: Operations, enqueued: EnqueueResult, { json, timeout }: Options): Promise<void> {
  if (!json) process.stderr.write(sentence(enqueued))
  try {
    const ended = await millrace.result(enqueued.id, { timeout })
    process.exitCode = ended.status === 'completed' ? 0 : 2
    if (json) printJson({ id: enqueued.id, ...ended })
    else print(endOf(enqueued.id, ended))
    if (!json && ended.status === 'dead') process.stderr.write(`What to do: millrace explain ${enqueued.id}\n`)
  } catch (error) {
    if (!(error instanceof ResultTimeout)) throw error
    process.exitCode = 3
    if (json) printJson({ id: enqueued.id, status: 'unfinished' })
    else print(`Job ${enqueued.id} has not ended within ${timeout}. It goes on: millrace job ${enqueued.id}\n`)
  }
}

function endOf(id: string, ended: JobResult<unknown>): string {
  switch (ended.status) {
    case 'completed':
      return `${jsonText(ended.result ?? null)}\n`
    case 'cancelled':
      return `Job ${id} was cancelled: ${oneLine(ended.reason, 500)}\n`
    case 'dead':
      return `Job ${id} is dead (${ended.reason}): ${oneLine(ended.error, 500)}\n`
    case 'gone':
      return `Job ${id} has ended; its type keeps no history.\n`
  }
}

function sentence(result: EnqueueResult): string {
  if (result.status === 'duplicate') return `Job ${result.id} holds the dedup key: nothing was enqueued.\n`
  const warnings = result.warnings.map(({ code, message }) => `Warning (${code}): ${safeLine(message)}\n`)
  const what = result.status === 'replaced' ? 'was waiting under that dedup key, and now does this' : 'is enqueued'
  return `Job ${result.id} ${what}.\n${warnings.join('')}`
}

async function payloadFrom(command: Command, json: string): Promise<unknown> {
  try {
    return parsePayload(json === '-' ? await text(process.stdin) : json)
  } catch (error) {
    fail(command, error)
  }
}

export function parseTime(value: string): Date {
  const time = new Date(value)
  if (/^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(time.getTime())) return time
  throw new InvalidArgumentError('Expected a time such as 2026-01-31T08:00:00Z.')
}
