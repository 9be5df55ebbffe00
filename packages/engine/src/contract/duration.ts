import { InvalidDefinition } from '../errors.ts'

type Unit = 'ms' | 's' | 'm' | 'h' | 'd'

/** Milliseconds, or a number with its unit: '250ms', '30s', '5m', '1.5h', '7d'. */
export type Duration = number | `${number}${Unit}`

/** Far enough for everybody, and within what Postgres can add to a timestamp. */
const LONGEST_MS = 3_650 * 86_400_000

const MS: Record<Unit, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a duration. `what` names the option in the error. */
export function toMs(duration: Duration, what: string): number {
  const ms = typeof duration === 'number' ? duration : parse(duration)
  if (!Number.isFinite(ms) || ms < 0) {
    throw new InvalidDefinition(
      `${what} is ${JSON.stringify(duration)}, which is not a duration. Use milliseconds or a number with ms, s, m, h or d, like '30s'.`,
    )
  }
  if (ms > LONGEST_MS) throw new InvalidDefinition(`${what} is ${JSON.stringify(duration)}: ten years is the most.`)
  return ms
}

function parse(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text)
  return match ? Number(match[1]) * MS[match[2] as Unit] : Number.NaN
}
