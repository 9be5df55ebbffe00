// Options that `dev` and `work` share.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Duration, OverloadOptions, WorkOptions } from 'millrace'

export interface WorkerOptions {
  readonly concurrency: Record<string, number>
  readonly queues?: readonly string[]
  readonly grace: Duration
  readonly lease?: NonNullable<WorkOptions['lease']>
  readonly overload?: OverloadOptions
  readonly deadLetterAlertAt?: number
  readonly maxConnections?: number
  readonly notify: boolean
  readonly schema: string
}

export function addWorkerOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--concurrency <queue=slots>', 'slots of a queue in this process; repeat it for more queues')
        .argParser(parseConcurrency)
        .default({}, "the queues' own"),
    )
    .addOption(
      new Option('--queues <names>', 'serve only these queues, separated by commas; default: all').argParser(
        parseNames,
      ),
    )
    .addOption(
      new Option('--grace <duration>', 'how long running jobs may go on').argParser(parseDuration).default('25s'),
    )
    .addOption(
      new Option('--lease <part=duration>', 'heartbeat, ttl and sweep of the lease; default 10s, 45s, 15s').argParser(
        parseDurations('heartbeat', 'ttl', 'sweep'),
      ),
    )
    .addOption(
      new Option(
        '--overload <part=duration>',
        'loopLag and claimTime at which other queues yield to critical ones, and checkInterval; default 200ms, 1s, 5s',
      ).argParser(parseDurations('loopLag', 'claimTime', 'checkInterval')),
    )
    .addOption(
      new Option('--dead-letter-alert-at <count>', 'so many pending dead letters raise an alert; default 50').argParser(
        parseCount(1),
      ),
    )
    .addOption(
      new Option('--max-connections <count>', 'of the client, and of its handlers; default 10').argParser(
        parseCount(1),
      ),
    )
    .option('--no-notify', 'neither send nor await NOTIFY: poll')
    .addOption(schemaOption())
}

export const DEFAULT_SCHEMA = 'millrace'
export const SCHEMA_VARIABLE = 'MILLRACE_SCHEMA'

export function schemaOption(): Option {
  return new Option('--schema <name>', 'the schema that holds the tables').env(SCHEMA_VARIABLE).default(DEFAULT_SCHEMA)
}

/** `ttl=60s`, several separated by commas; the option can be repeated. */
function parseDurations(...parts: string[]) {
  return (text: string, others: Record<string, Duration> = {}): Record<string, Duration> => {
    const given = text.split(',').map((each): [string, Duration] => {
      const [part = '', duration = ''] = each.split('=')
      if (!parts.includes(part)) throw new InvalidArgumentError(`Expected ${parts.join(', ')}, such as ${parts[0]}=5s.`)
      return [part, parseDuration(duration)]
    })
    return { ...others, ...Object.fromEntries(given) }
  }
}

function parseConcurrency(text: string, others: Record<string, number>): Record<string, number> {
  const [, queue, slots] = /^([^=]+)=([1-9]\d{0,5})$/.exec(text) ?? []
  if (queue === undefined) throw new InvalidArgumentError('Expected queue=slots with at least 1 slot, such as mail=20.')
  return { ...others, [queue]: Number(slots) }
}

/** `HIGH,DEFAULT`; the option can be repeated. */
function parseNames(text: string, others: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('Expected names separated by commas, such as HIGH,DEFAULT.')
  return [...new Set([...others, ...names])]
}

export function parseDuration(text: string): Duration {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) return text as Duration
  throw new InvalidArgumentError("Expected a number with ms, s, m, h or d, such as '25s'.")
}

export function parsePort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== '') return port
  throw new InvalidArgumentError('Expected a port from 0 to 65535; 0 takes any free one.')
}

export function parseProcesses(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected how many, from 1 to 999.')
}

/** A whole number from `lowest`. */
export function parseCount(lowest: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= lowest) return Number(text)
    throw new InvalidArgumentError(`Expected a whole number from ${lowest}.`)
  }
}

/** Jobs per second: 20 or 20/s. */
export function parseRate(text: string): number {
  const [, rate] = /^(\d{1,9})(?:\/s)?$/.exec(text) ?? []
  if (Number(rate) >= 1) return Number(rate)
  throw new InvalidArgumentError('Expected jobs per second, a whole number from 1, such as 20 or 20/s.')
}

/** Of the length of a page. */
export function parseLimit(text: string): number {
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return limit
  throw new InvalidArgumentError('Expected a number from 1 to 1000.')
}
