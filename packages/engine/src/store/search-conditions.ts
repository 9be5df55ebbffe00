// What a condition of a query is in SQL, on each of the three places where jobs are: the live table, the archive, and dead
// letters that have outlived the archive.
import type { FieldName } from '../search/fields.ts'
import { fieldOf } from '../search/fields.ts'
import type { Condition, Match, Moment } from '../search/query.ts'
import { plainArray, textArray } from './arrays.ts'
import { rootOf } from './own-correlation.ts'

export type Source = 'live' | 'archive' | 'letters'

/** The values of a statement that is being composed. */
export class Values {
  readonly #list: unknown[] = []

  /** Its place, with the type that the server is to read it as. */
  add(value: unknown, type: string): string {
    this.#list.push(value)
    return `$${this.#list.length}::${type}`
  }

  /** The statement with the values that are still in it: conditions may have been folded away. */
  composed(text: string): { text: string; values: unknown[] } {
    const values: unknown[] = []
    const places = new Map<string, number>()
    const numbered = text.replace(/\$(\d+)::/g, (_, given: string) => {
      const place = places.get(given) ?? values.push(this.#list[Number(given) - 1])
      places.set(given, place)
      return `$${place}::`
    })
    return { text: numbered, values }
  }
}

/** `now`: an expression. */
export interface Composing {
  readonly source: Source
  readonly values: Values
  readonly now: string
}

/** A condition in SQL. 'false' and 'true' are folded, so that a place that cannot have such jobs is left out. */
export function conditionSql(condition: Condition, composing: Composing): string {
  const matches =
    listed(condition, composing) ?? condition.matches.map((match) => matchSql(condition, match, composing))
  const some = anyOf(matches)
  if (!condition.isNegated) return some
  if (some === 'true') return 'false'
  return some === 'false' ? 'true' : `(${some}) is not true`
}

/** Many ids are one list. */
function listed({ field, matches }: Condition, { values }: Composing): string[] | undefined {
  const ids = matches.flatMap((match) => (match.kind === 'is' ? match.value : []))
  if (field !== 'id' || ids.length < 2 || ids.length < matches.length) return undefined
  return [`id = any(${values.add(plainArray(ids), 'bigint[]')})`]
}

export function allOf(conditions: readonly string[]): string {
  if (conditions.includes('false')) return 'false'
  const some = conditions.filter((condition) => condition !== 'true')
  return some.length === 0 ? 'true' : some.map((condition) => `(${condition})`).join(' and ')
}

function anyOf(conditions: readonly string[]): string {
  if (conditions.includes('true')) return 'true'
  const some = [...new Set(conditions.filter((condition) => condition !== 'false'))]
  return some.length === 0 ? 'false' : some.map((condition) => `(${condition})`).join(' or ')
}

function matchSql(condition: Condition, match: Match, composing: Composing): string {
  switch (condition.field) {
    case 'status':
      return statusSql(match, composing.source)
    case 'fp':
      return fingerprintSql(match, composing)
    case 'payload':
      return payloadSql(condition.path, match, composing)
    case 'correlation':
      return match.kind === 'is' ? correlationSql(match.value, composing) : columnSql('correlation', match, composing)
    default:
      return columnSql(condition.field, match, composing)
  }
}

const LIVE_STATUS: Record<string, string> = {
  pending: `status = 'pending' and last_error_at is null`,
  failed: `status = 'pending' and last_error_at is not null`,
  processing: `status = 'processing'`,
  blocked: `status = 'blocked'`,
}

function statusSql(match: Match, source: Source): string {
  const status = match.kind === 'is' ? match.value : ''
  if (source === 'live') return LIVE_STATUS[status] ?? 'false'
  if (source === 'letters') return status === 'dead' ? 'true' : 'false'
  return ['completed', 'cancelled', 'dead'].includes(status) ? `status = '${status}'` : 'false'
}

/** Live jobs by their last failed attempt, dead ones by their letter. */
function fingerprintSql(match: Match, { source, values }: Composing): string {
  const fits = (column: string): string => {
    if (match.kind !== 'starts') return `${column} is not null`
    const prefix = values.add(match.value, 'text')
    // Hexadecimal, so that "g" comes after all that begin so: a range, which the index has in order.
    return `${column} >= ${prefix} and ${column} < ${prefix} || 'g'`
  }
  if (source === 'letters') return fits('letter.fingerprint')
  if (source === 'archive')
    return `status = 'dead' and exists (select from millrace.dead_letter_jobs as own where own.job_id = job_archive.id and ${fits('own.fingerprint')})`
  return `last_error_at is not null and exists (select from millrace.job_attempt as own where own.job_id = job.id and own.finished_at = job.last_error_at and ${fits('own.fingerprint')})`
}

function correlationSql(value: string, { values }: Composing): string {
  const given = `correlation_id = ${values.add(value, 'text')}`
  const root = rootOf(value)
  return root === null ? given : `${given} or (correlation_id is null and id = ${values.add(root, 'bigint')})`
}

function payloadSql(path: readonly string[], match: Match, { values }: Composing): string {
  const keys = path.length === 0 ? null : values.add(textArray(path), 'text[]')
  const text = keys === null ? 'payload::text' : `payload #>> ${keys}`
  if (match.kind === 'any') return keys === null ? 'payload is not null' : `payload #> ${keys} is not null`
  if (match.kind !== 'compare') return textSql(text, match, values)
  if (keys === null) return 'false'
  const number = `case jsonb_typeof(payload #> ${keys}) when 'number' then (payload #>> ${keys})::numeric end`
  return `${number} ${match.operator} ${values.add(String(match.value), 'numeric')}`
}

function textSql(text: string, match: Match, values: Values): string {
  if (match.kind === 'contains') {
    const pattern = `%${match.value.replace(/[\\%_]/g, '\\$&')}%`
    return `${text} ilike ${values.add(pattern, 'text')}`
  }
  if (match.kind === 'starts')
    return match.value === '' ? `${text} is not null` : `starts_with(${text}, ${values.add(match.value, 'text')})`
  return match.kind === 'is' ? `${text} = ${values.add(match.value, 'text')}` : `${text} is not null`
}

type Column = Exclude<FieldName, 'status' | 'fp' | 'payload'>

/** Null: jobs of that place have no such value. `NOW` stands for the time. */
const COLUMNS: Record<Column, string | Partial<Record<Source, string>>> = {
  queue: 'queue',
  type: 'type',
  tenant: 'tenant',
  id: 'id',
  attempt: 'attempt',
  priority: 'priority',
  created: 'created_at',
  due: 'run_at',
  started: 'started_at',
  finished: { archive: 'finished_at', letters: 'finished_at' },
  waited: {
    live: `case status when 'processing' then started_at else NOW end - greatest(run_at, created_at)`,
    archive: 'started_at - greatest(run_at, created_at)',
    letters: 'started_at - greatest(run_at, created_at)',
  },
  took: {
    live: `case status when 'processing' then NOW - started_at end`,
    archive: 'finished_at - started_at',
    letters: 'finished_at - started_at',
  },
  error: 'last_error',
  reason: { archive: 'reason', letters: 'reason' },
  correlation: `coalesce(correlation_id, 'job-' || id)`,
  workflow: 'workflow_id',
  parent: 'parent_job_id',
  worker: 'worker_id',
  by: 'created_by',
  key: { live: 'coalesce(dedup_key, start_key)', archive: 'dedup_key', letters: 'dedup_key' },
}

const TYPES = { number: 'bigint', id: 'bigint', uuid: 'uuid', duration: 'float8' } as const

function columnSql(field: Column, match: Match, { source, values, now }: Composing): string {
  const given = COLUMNS[field]
  const column = (typeof given === 'string' ? given : given[source])?.replaceAll('NOW', now)
  if (column === undefined) return 'false'
  if (match.kind === 'any') return `${column} is not null`
  const kind = fieldOf(field)?.kind
  if (kind === 'time') return timeSql(column, match, { values, now })
  if (kind === 'name' || kind === 'text') return textSql(column, match, values)
  const type = TYPES[kind as keyof typeof TYPES]
  if (match.kind === 'is') return `${column} = ${values.add(match.value, type)}`
  if (match.kind !== 'compare') return 'false'
  if (kind !== 'duration') return `${column} ${match.operator} ${values.add(match.value, type)}`
  return `${column} ${match.operator} ${values.add(match.value, type)} * interval '1 millisecond'`
}

function timeSql(column: string, match: Match, { values, now }: Pick<Composing, 'values' | 'now'>): string {
  const at = (moment: Moment): string =>
    'at' in moment
      ? values.add(moment.at.toISOString(), 'timestamptz')
      : `${now} + ${values.add(moment.fromNowMs, 'float8')} * interval '1 millisecond'`
  if (match.kind === 'during') return `${column} >= ${at(match.from)} and ${column} < ${at(match.to)}`
  return match.kind === 'compare' ? `${column} ${match.operator} ${at(match.value as Moment)}` : 'false'
}

/** Jobs end after they were created, and the archive is divided by the time of the end: the days before are not looked at. */
export function impliedSql(condition: Condition, composing: Composing): string {
  const isEarly = condition.field === 'created' || condition.field === 'started' || condition.field === 'due'
  if (composing.source !== 'archive' || !isEarly || condition.isNegated || condition.field === 'due') return 'true'
  const bounds = condition.matches.map((match) => {
    if (match.kind === 'during')
      return timeSql('finished_at', { kind: 'compare', operator: '>=', value: match.from }, composing)
    if (match.kind !== 'compare' || match.operator.startsWith('<')) return 'true'
    return timeSql('finished_at', { ...match, operator: '>=' }, composing)
  })
  return anyOf(bounds)
}
