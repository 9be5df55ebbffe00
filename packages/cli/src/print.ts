// What commands write to stdout.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Command } from 'commander'
import { painted } from './colours.ts'
import { safeJson, safeLine, safeLines } from './terminal.ts'

/** What is printed during an act that is watched. */
const kept = new AsyncLocalStorage<string[]>()

export function print(text: string): void {
  const pieces = kept.getStore()
  if (pieces === undefined) process.stdout.write(painted(safeLines(text)))
  else pieces.push(safeLines(text))
}

/** Of an act that is watched, JSON is one line: the next one follows. */
export function printJson(value: unknown): void {
  print(`${kept.getStore() === undefined ? jsonText(value) : safeJson(JSON.stringify(value))}\n`)
}

/** What `act` prints, instead of printing it. */
export async function printed(act: () => Promise<void>): Promise<string> {
  const pieces: string[] = []
  await kept.run(pieces, act)
  return pieces.join('')
}

export const jsonText = (value: unknown): string => safeJson(JSON.stringify(value, null, 2))

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** "in 5m", "3h ago", "now". */
export function fromNow(time: Date | null, now = Date.now()): string {
  if (time === null) return ''
  const ms = time.getTime() - now
  const [unit, size] = UNITS.find(([, length]) => Math.abs(ms) >= length) ?? []
  if (unit === undefined) return 'now'
  const amount = `${Math.round(Math.abs(ms) / size)}${unit}`
  return ms > 0 ? `in ${amount}` : `${amount} ago`
}

/** "12 ms", "3.4 s", "2 min". */
export function duration(ms: number | null): string {
  if (ms === null) return ''
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 120_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`
}

/** How to get the next page of a list, with the options of this one. `place`: where the next page begins. */
export function moreHint(command: Command, place: string | undefined, option = '--before'): string {
  const names = []
  for (let each: Command | null = command; each !== null; each = each.parent) names.unshift(each.name())
  const options = command.options
    .filter((each) => each.long !== option && command.getOptionValueSource(each.attributeName()) === 'cli')
    .map((each) => {
      const value: unknown = command.getOptionValue(each.attributeName())
      return value === true ? each.long : `${each.long} ${argument(String(value))}`
    })
  return `\nThere may be more: ${[...names, ...options, `${option} ${place}`].join(' ')}\n`
}

/** As a shell reads it. */
export function argument(text: string): string {
  const line = oneLine(text, 500)
  return /^[\w.:@/-]+$/.test(line) ? line : `'${line.replaceAll("'", String.raw`'\''`)}'`
}

/** One line of at most `width` characters. */
export function oneLine(text: string | null, width: number): string {
  const clean = safeLine(text ?? '')
  return clean.length > width ? `${clean.slice(0, width - 1)}…` : clean
}
