// What may stand at a place of a query: fields, and values of a field with how many jobs they have.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { fieldsLike, type Place, placeAt } from '../search/complete.ts'
import { type FieldName, STATUSES } from '../search/fields.ts'
import { quoted } from '../search/terms.ts'
import { catalogueList } from '../store/catalogue.ts'
import type { Database } from '../store/db.ts'
import { deadLetterGroups } from '../store/dead-letters.ts'
import { tenantList } from '../store/tenants.ts'
import { workerList } from '../store/worker-reports.ts'
import { StatsReader } from './stats.ts'

export interface Suggestion {
  /** What is put into the text from `start` to `end`. */
  readonly text: string
  readonly about: string | null
  /** How many jobs have this value; of queues, types and tenants: live ones, and dead ones without a decision. Null: not counted. */
  readonly count: number | null
  readonly isCapped: boolean
}

export interface Suggestions {
  /** What the position asks for: a field, the value of one, or nothing that is known. */
  readonly of: 'field' | FieldName | null
  readonly start: number
  readonly end: number
  readonly items: readonly Suggestion[]
}

interface SuggestServices {
  db: Database
  clock: Clock
  registry: Registry
  count(query: string): Promise<{ count: number; isCapped: boolean }>
}

interface Named {
  value: string
  about?: string
  count?: number | null
  isCapped?: boolean
}

const MOST = 20

export async function suggest(
  services: SuggestServices,
  { text, position }: { text: string; position: number },
  { tenant }: { tenant?: string },
): Promise<Suggestions> {
  const place = placeAt(text, position)
  if (place === undefined) return { of: null, start: position, end: position, items: [] }
  const { field, start, end } = place
  if (field === null) {
    const items = fieldsLike(place.prefix).map(({ name, kind, about }) => ({
      text: kind === 'payload' ? `${name}.` : `${name}:`,
      about,
      count: null,
      isCapped: false,
    }))
    return { of: 'field', start, end, items }
  }
  const found = await (tenant === undefined
    ? valuesOf(services, field.name)
    : valuesWithin(services, field.name, tenant))
  return { of: field.name, start, end, items: shown(found, place) }
}

/** Those that begin as it was typed come before those that contain it; the most frequent first. */
function shown(values: readonly Named[], { prefix, field }: Place): Suggestion[] {
  const typed = prefix.toLowerCase()
  const rank = ({ value }: Named) => (value.toLowerCase().startsWith(typed) ? 0 : 1)
  return values
    .filter(({ value }) => value.toLowerCase().includes(typed))
    .sort((a, b) => rank(a) - rank(b) || (b.count ?? 0) - (a.count ?? 0) || (a.value < b.value ? -1 : 1))
    .slice(0, MOST)
    .map(({ value, about = null, count = null, isCapped = false }) => {
      const isOperation = field?.kind === 'time' || field?.kind === 'duration' || field?.kind === 'number'
      return { text: isOperation ? value : quoted(value), about, count, isCapped }
    })
}

async function valuesOf(services: SuggestServices, field: FieldName): Promise<Named[]> {
  switch (field) {
    case 'queue':
    case 'type': {
      const { types } = await new StatsReader(services).stats()
      return summed(types.map((row) => ({ value: row[field], count: row.waiting + row.running + row.dead })))
    }
    case 'tenant': {
      const { tenants } = await new StatsReader(services).stats()
      const known = await tenantList(services.db, { limit: 1_000 })
      const live = tenants.map((row) => ({ value: row.tenant, count: row.waiting + row.running }))
      return summed([...live, ...known.map(({ name }) => ({ value: name, count: 0 }))])
    }
    case 'worker': {
      const workers = await workerList(services.db)
      return Promise.all(
        workers.map(async ({ id, host, pid }) => ({
          value: id,
          about: `${host}, process ${pid}`,
          ...(await services.count(`status:processing worker:${id}`)),
        })),
      )
    }
    default:
      return valuesWithin(services, field, undefined)
  }
}

/** What a caller may know who sees one tenant; undefined: everything. */
async function valuesWithin(services: SuggestServices, field: FieldName, tenant: string | undefined): Promise<Named[]> {
  switch (field) {
    case 'status':
      return Promise.all(STATUSES.map(async (value) => ({ value, ...(await services.count(`status:${value}`)) })))
    case 'queue':
    case 'type':
      return (await catalogueList(services.db, field)).map(({ name }) => ({ value: name }))
    case 'tenant':
      return tenant === undefined ? [] : [{ value: tenant }]
    case 'fp': {
      const groups = await deadLetterGroups(services.db, tenant === undefined ? {} : { tenant }, 100)
      return groups.flatMap(({ fingerprint, type, pending, sampleMessage }) =>
        fingerprint === null ? [] : { value: fingerprint, count: pending, about: `${type}: ${sampleMessage}` },
      )
    }
    default:
      return (EXAMPLES[field] ?? []).map(([value, about]) => ({ value, about }))
  }
}

const TIMES = [
  ['>-1h', 'in the last hour'],
  ['>-24h', 'in the last 24 hours'],
  ['>-7d', 'in the last seven days'],
  ['<-1h', 'longer than an hour ago'],
] as const
const LENGTHS = [
  ['>10s', 'longer than ten seconds'],
  ['>1m', 'longer than a minute'],
  ['>1h', 'longer than an hour'],
] as const

const EXAMPLES: Partial<Record<FieldName, readonly (readonly [string, string])[]>> = {
  ...{ created: TIMES, started: TIMES, finished: TIMES, waited: LENGTHS, took: LENGTHS },
  due: [
    ['<now', 'due already'],
    ['>now', 'later'],
    ['>+1h', 'not within an hour'],
  ],
  attempt: [
    ['>1', 'tried again'],
    ['>3', 'tried more than three times'],
  ],
}

function summed(values: readonly { value: string | null; count: number }[]): Named[] {
  const counts = new Map<string, number>()
  for (const { value, count } of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + count)
  return [...counts].map(([value, count]) => ({ value, count }))
}
