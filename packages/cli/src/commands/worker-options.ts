// Options that `dev` and `work` share.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Duration } from 'millrace'

export interface WorkerOptions {
  readonly concurrency: Record<string, number>
  readonly grace: Duration
}

export function addWorkerOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--concurrency <queue=slots>', 'slots of a queue in this process; repeat it for more queues')
        .argParser(parseConcurrency)
        .default({}, "the queues' own"),
    )
    .addOption(
      new Option('--grace <duration>', 'how long running jobs may go on').argParser(parseDuration).default('25s'),
    )
}

function parseConcurrency(text: string, others: Record<string, number>): Record<string, number> {
  const [, queue, slots] = /^([^=]+)=([1-9]\d{0,5})$/.exec(text) ?? []
  if (queue === undefined) throw new InvalidArgumentError('Expected queue=slots with at least 1 slot, such as mail=20.')
  return { ...others, [queue]: Number(slots) }
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Of a duration that `parseDuration` let pass. */
export function durationMs(duration: Duration): number {
  const [, count, unit] = /^([\d.]+)(\w+)$/.exec(String(duration)) ?? []
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
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

/** Of the length of a page. */
export function parseLimit(text: string): number {
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return limit
  throw new InvalidArgumentError('Expected a number from 1 to 1000.')
}
