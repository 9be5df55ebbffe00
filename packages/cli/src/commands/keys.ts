import { Command, InvalidArgumentError } from 'commander'
import type { KeyLimitSetting, StoppedKey } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { fromNow, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { addAuthorOption } from './retry.ts'

const help = `
Jobs with an order key run one after another. If one dies and its contract says so, its key stops until somebody
redrives, resolves or ignores the dead letter, or lets the key continue without it. Of jobs with a limit key so many run
at once as the contract says, or as was set here.

Examples:
  millrace keys                                what is stopped, and which limits are set
  millrace keys continue ledger account-7      the dead job stays dead, the next one runs
  millrace keys limit crawl 5                  five at once of every key of the queue
  millrace keys limit crawl 0 --key example.com
  millrace keys limit crawl default            as the contract says
`

interface Decision extends ClientOptions {
  readonly by: string
  readonly key?: string
  readonly tenant?: string
}

export function keysCommand(): Command {
  return new Command('keys')
    .summary('look at order and limit keys, and decide about them')
    .description('Look at order and limit keys, and decide about them.')
    .addHelpText('after', help)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(continueCommand())
    .addCommand(limitCommand())
}

function listCommand(): Command {
  return addWatchOptions(
    addClientOptions(new Command('list').description('List the keys that are stopped and the limits that are set.')),
  ).action(list)
}

function continueCommand(): Command {
  const command = new Command('continue')
    .description('Let a stopped key go on with its next job.')
    .argument('<queue>', 'the queue of its jobs')
    .argument('<key>', 'the order key')
    .option('--tenant <tenant>', 'whose key it is')
  return addClientOptions(addAuthorOption(command)).action(continueKey)
}

function limitCommand(): Command {
  const command = new Command('limit')
    .description('Say how many jobs of a key run at once; it holds within seconds.')
    .argument('<queue>', 'the queue of the jobs')
    .argument('<places>', 'a number from 0, or "default"', parsePlaces)
    .option('--key <key>', 'only of this key; default: of every key that has no setting of its own')
  return addClientOptions(addAuthorOption(command)).action(setLimit)
}

async function list(options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const stopped = await millrace.keys.stopped()
    const limits = await millrace.keys.limits()
    if (options.json) return printJson({ stopped, limits })
    if (stopped.length === 0 && limits.length === 0) return print('No key is stopped and no limit is set.\n')
    if (stopped.length > 0)
      print(table(['QUEUE', 'STOPPED KEY', 'TENANT', 'WAITING', 'WHEN', 'DEAD JOB'], stopped.map(stoppedRow)))
    if (limits.length > 0) print(table(['QUEUE', 'LIMITED KEY', 'PLACES', 'SET BY', 'WHEN'], limits.map(limitRow)))
  })
}

const stoppedRow = ({ queue, key, tenant, waiting, stoppedAt, jobId, redrivenJobId }: StoppedKey): string[] => [
  queue,
  oneLine(key, 40),
  oneLine(tenant, 30),
  String(waiting),
  fromNow(stoppedAt),
  redrivenJobId === null ? jobId : `${jobId}, now ${redrivenJobId}`,
]

const limitRow = ({ queue, key, concurrency, setBy, setAt }: KeyLimitSetting): string[] => [
  queue,
  key === null ? '(every key)' : oneLine(key, 40),
  String(concurrency),
  oneLine(setBy, 30),
  fromNow(setAt),
]

async function continueKey(queue: string, key: string, options: Decision, command: Command): Promise<void> {
  const { by, tenant } = options
  await withClient(command, options, async ({ millrace }) => {
    const isContinued = await millrace.keys.continue(
      { queue, key, ...(tenant === undefined ? {} : { tenant }) },
      { by },
    )
    if (!isContinued) process.exitCode = 1
    if (options.json) return printJson({ queue, key, tenant: tenant ?? null, continued: isContinued })
    if (isContinued) return print(`Key ${oneLine(key, 40)} goes on.\n`)
    print(
      `Key ${oneLine(key, 40)} of queue ${oneLine(queue, 40)} is not stopped${tenant === undefined ? '; if its jobs have a tenant, pass --tenant' : ''}.\n`,
    )
  })
}

async function setLimit(queue: string, places: number | 'default', options: Decision, command: Command): Promise<void> {
  const { by, key } = options
  const name = { queue, ...(key === undefined ? {} : { key }) }
  await withClient(command, options, async ({ millrace }) => {
    if (places === 'default') await millrace.keys.clearLimit(name, { by })
    else await millrace.keys.setLimit({ ...name, concurrency: places }, { by })
    if (options.json) return printJson({ queue, key: key ?? null, concurrency: places === 'default' ? null : places })
    const which = key === undefined ? 'every key' : `key ${oneLine(key, 40)}`
    const what = places === 'default' ? 'run as the contract says' : `run ${places} at once`
    print(`Of ${which} of queue ${oneLine(queue, 40)} ${what}.\n`)
  })
}

function parsePlaces(text: string): number | 'default' {
  if (text === 'default') return text
  const places = Number(text)
  if (/^\d+$/.test(text) && places <= 10_000) return places
  throw new InvalidArgumentError('Expected a number from 0 to 10000, or "default".')
}
