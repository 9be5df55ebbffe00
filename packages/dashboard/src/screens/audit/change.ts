// What an audit row says of a change: pairs of before and after first, other facts behind them. Pure.
import { formatDuration } from '../../ui/text/format.ts'

export interface Change {
  readonly name: string
  readonly before: string
  readonly after: string
}

const MOST = 4

export function changeOf(details: unknown): { changes: Change[]; rest: [name: string, value: string][] } {
  if (!isRecord(details)) return { changes: [], rest: details == null ? [] : [['note', shown(details)]] }
  const { before, after, ...others } = details
  const names = Object.keys(others)
  // { before: 0, priority: 2 }
  if ('before' in details && !('after' in details) && names.length === 1)
    return { changes: pairs({ [names[0] as string]: before }, others), rest: [] }
  if ('before' in details || 'after' in details)
    return { changes: pairs(before, after).slice(0, MOST), rest: facts(others) }
  return { changes: [], rest: facts(details) }
}

/** Of two states only what differs. */
function pairs(before: unknown, after: unknown): Change[] {
  if (!isRecord(before) && !isRecord(after)) return [{ name: '', before: shown(before), after: shown(after) }]
  const [old, fresh] = [isRecord(before) ? before : {}, isRecord(after) ? after : {}]
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]))
    .map((name) => {
      const [label, before] = told(name, old[name])
      const [short, after] = told(name, fresh[name])
      return { name: label.length < short.length ? label : short, before, after }
    })
}

const facts = (record: Readonly<Record<string, unknown>>): [string, string][] =>
  Object.entries(record)
    .filter(([, value]) => value !== null && value !== undefined)
    .slice(0, MOST)
    .map(([name, value]) => told(name, value))

/** 'forMs' is told as a time: 'for', '6 h'. */
const told = (name: string, value: unknown): [name: string, value: string] =>
  /[a-z]Ms$/.test(name) && typeof value === 'number' ? [name.slice(0, -2), formatDuration(value)] : [name, shown(value)]

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
