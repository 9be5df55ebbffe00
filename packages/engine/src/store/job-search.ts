// Finds jobs wherever they are: in the live table, in the archive, and as dead letters that have outlived the archive.
//
// The only statements that are composed: which conditions a query has, and where such jobs can be, decides their text. All
// values are parameters, every statement only reads and has a time of its own, and none returns more than was asked for.
import type { Now } from '../clock.ts'
import { fieldOf } from '../search/fields.ts'
import type { Condition } from '../search/query.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Database } from './db.ts'
import type { Job, JobStatus } from './jobs.ts'
import { allOf, type Composing, conditionSql, impliedSql, type Source, Values } from './search-conditions.ts'

export interface JobSelection {
  conditions: readonly Condition[]
  /** Newest first, or oldest first. */
  order: 'newest' | 'oldest'
  /** Only jobs that come after the one with this id. Null: from the start. */
  after: string | null
  /**
   * The archive has few such jobs, so that reading and sorting all of them is cheaper than looking for them among the newest. The
   * planner cannot know: it takes each type that it has not seen for an average one.
   */
  isRareInArchive?: boolean
}

export interface Composed {
  text: string
  values: readonly unknown[]
}

interface Statement {
  now: Now
  timeoutMs: number
}

const LIVE = `
    id, case when status = 'pending' and last_error_at is not null then 'failed' else status end as status,
    type, queue, tenant, priority, payload, payload_version, run_at, attempt, max_attempts, crashes, run_id, worker_id,
    started_at, null::timestamptz as finished_at, coalesce(dedup_key, start_key) as dedup_key,
    coalesce(correlation_id, 'job-' || id) as correlation_id, parent_job_id, workflow_id, created_by, trace_parent, last_error,
    last_error_at, null::text as reason, null::jsonb as result, created_at`

const ENDED = `
    id, status, type, queue, tenant, priority, payload, payload_version, run_at, attempt, max_attempts, crashes, run_id,
    worker_id, started_at, finished_at, dedup_key, coalesce(correlation_id, 'job-' || id) as correlation_id,
    parent_job_id, workflow_id, created_by, trace_parent, last_error, last_error_at, reason, result, created_at`

/** As the archive would have them. A letter's row is older than the archive keeps jobs, or its queue keeps none. */
const LETTERS = `(
    select
      letter.job_id as id, 'dead' as status, letter.type, letter.queue, letter.tenant, job.priority, job.payload,
      job.payload_version, job.run_at, letter.attempts as attempt, job.max_attempts, job.crashes, job.run_id,
      job.worker_id, job.started_at, letter.died_at as finished_at, coalesce(job.dedup_key, job.start_key) as dedup_key,
      letter.correlation_id, job.parent_job_id, letter.workflow_id, job.created_by, job.trace_parent, letter.error_message as last_error,
      letter.died_at as last_error_at, letter.reason, null::jsonb as result, job.created_at, letter.fingerprint
    from millrace.dead_letter_jobs as letter
    cross join lateral jsonb_populate_record(null::millrace.job, letter.original_job) as job
    where not exists (
      select from millrace.job_archive as archived
      where archived.id = letter.job_id and archived.finished_at = letter.died_at
    )
  ) as letter`

const PLACES: Record<Source, { columns: string; from: string }> = {
  live: { columns: LIVE, from: 'millrace.job' },
  archive: { columns: ENDED, from: 'millrace.job_archive' },
  letters: { columns: ENDED, from: LETTERS },
}

/** A page of jobs by one statement. Undefined: it took too long. */
export function jobSearch(
  db: Database,
  { now, timeoutMs }: Statement,
  selection: JobSelection,
  limit: number,
): Promise<Job[] | undefined> {
  return db.composed<Job>(searchStatement(now, selection, limit), timeoutMs)
}

export function searchStatement(now: Now, selection: JobSelection, limit: number): Composed {
  const values = new Values()
  const most = values.add(limit, 'int')
  const places = placesOf(now, selection, values).map(({ columns, from, where, composing: { source } }) => {
    const isFenced = source === 'archive' && selection.isRareInArchive
    const rows = isFenced ? `(select * from ${from} where ${where} offset 0) as fenced` : `${from}\n  where ${where}`
    return `(select ${columns}\n  from ${rows}\n  ${ordered(selection)}\n  limit ${most})`
  })
  const text =
    places.length === 0
      ? `select ${LIVE} from millrace.job where false`
      : `select * from (${places.join('\nunion all\n')}) as found\n${ordered(selection)}\nlimit ${most}`
  return values.composed(text)
}

const MANY_JOBS = 2_000

export async function jobArchiveFew(db: Database, types: readonly string[]): Promise<boolean> {
  const [row] = await db.run<{ isFew: boolean }>('jobArchiveFew', [textArray(types), MANY_JOBS])
  return row?.isFew === true
}

/** An id above those of the jobs that were created until then. */
export async function jobIdAt(db: Database, at: Date): Promise<string> {
  const [row] = await db.run<{ id: string }>('jobIdAt', [at])
  return (row as { id: string }).id
}

/** How many there are, up to `cap`. Undefined: counting took too long. */
export async function jobSearchCount(
  db: Database,
  { now, timeoutMs }: Statement,
  conditions: readonly Condition[],
  cap: number,
): Promise<number | undefined> {
  const rows = await db.composed<{ count: number }>(countStatement(now, conditions, cap), timeoutMs)
  return rows === undefined ? undefined : (rows[0]?.count ?? 0)
}

export function countStatement(now: Now, conditions: readonly Condition[], cap: number): Composed {
  const values = new Values()
  const most = values.add(cap, 'int')
  const places = placesOf(now, { conditions, order: 'newest', after: null }, values).map(
    ({ from, where }) => `(select from ${from} where ${where} limit ${most})`,
  )
  if (places.length === 0) return { text: 'select 0 as count', values: [] }
  const found = `select from (${places.join(' union all ')}) as found limit ${most}`
  return values.composed(`select count(*)::int as count from (${found}) as counted`)
}

/** Jobs of one status that were created in the same step of time. */
export interface JobBin {
  /** The first step is 0. */
  bin: number
  status: JobStatus
  count: number
}

/** The newest jobs by when they were created, `cap` jobs at most. Undefined: it took too long. */
export function jobSearchBins(
  db: Database,
  { now, timeoutMs }: Statement,
  conditions: readonly Condition[],
  options: { from: Date; stepMs: number; cap: number },
): Promise<JobBin[] | undefined> {
  return db.composed<JobBin>(binStatement(now, conditions, options), timeoutMs)
}

function binStatement(
  now: Now,
  conditions: readonly Condition[],
  { from: first, stepMs, cap }: { from: Date; stepMs: number; cap: number },
): Composed {
  const values = new Values()
  const most = values.add(cap, 'int')
  const places = placesOf(now, { conditions, order: 'newest', after: null }, values).map(
    ({ columns, from, where }) =>
      `(select id, created_at, status from (select ${columns} from ${from} where ${where} order by id desc limit ${most}) as found)`,
  )
  if (places.length === 0) return { text: `select 0 as bin, '' as status, 0 as count where false`, values: [] }
  const since = `extract(epoch from created_at - ${values.add(first.toISOString(), 'timestamptz')}) * 1000`
  return values.composed(`select floor(${since} / ${values.add(stepMs, 'float8')})::int as bin, status, count(*)::int as count
from (select * from (${places.join(' union all ')}) as found order by id desc limit ${most}) as found
group by 1, 2`)
}

/** Jobs that are alike to a bulk operation. */
export interface JobGroup {
  queue: string
  type: string
  status: JobStatus
  isDue: boolean
  isStep: boolean
  isArchived: boolean
  letterStatus: 'pending' | 'retried' | 'resolved' | 'ignored' | null
  /** They have the priority that was asked about. */
  isSame: boolean
  count: number
}

/** The jobs in groups, `cap` jobs at most. Undefined: it took too long. */
export function jobSearchGroups(
  db: Database,
  { now, timeoutMs }: Statement,
  conditions: readonly Condition[],
  options: { cap: number; priority: number | null },
): Promise<JobGroup[] | undefined> {
  return db.composed<JobGroup>(groupStatement(now, conditions, options), timeoutMs)
}

const GROUPED: Record<Source, string> = {
  live: `id, case when status = 'pending' and last_error_at is not null then 'failed' else status end as status, queue, type,
    priority, status = 'pending' and run_at <= NOW as is_due, workflow_id is not null as is_step, false as is_archived`,
  archive:
    'id, status, queue, type, priority, false as is_due, workflow_id is not null as is_step, true as is_archived',
  letters:
    'id, status, queue, type, priority, false as is_due, workflow_id is not null as is_step, false as is_archived',
}

function groupStatement(
  now: Now,
  conditions: readonly Condition[],
  { cap, priority }: { cap: number; priority: number | null },
): Composed {
  const values = new Values()
  const most = values.add(cap, 'int')
  const places = placesOf(now, { conditions, order: 'oldest', after: null }, values).map(
    ({ from, where, composing: { source, now: time } }) =>
      `(select ${GROUPED[source].replaceAll('NOW', time)} from ${from} where ${where} limit ${most})`,
  )
  const none = `select '' as queue, '' as type, '' as status, false as is_due, false as is_step, false as is_archived, null as letter_status, false as is_same, 0 as count where false`
  if (places.length === 0) return { text: none, values: [] }
  return values.composed(`select found.queue, found.type, found.status, is_due, is_step, is_archived, letter.status as letter_status,
  priority is not distinct from ${values.add(priority, 'int')} as is_same, count(*)::int as count
from (select * from (${places.join(' union all ')}) as found limit ${most}) as found
left join millrace.dead_letter_jobs as letter on letter.job_id = found.id and found.status = 'dead'
group by 1, 2, 3, 4, 5, 6, 7, 8`)
}

export interface Walked {
  /** How many jobs were looked at. */
  rows: number
  /** The last of them; null: there were none. */
  last: string | null
  from: Date | null
  to: Date | null
  /** How many of them are like that. */
  count: number
  /** Those, in order. */
  ids: string[]
}

export interface WalkOptions {
  /** How many jobs to look at. */
  rows: number
  /** The conditions that have an index choose which jobs are looked at. Otherwise all jobs are. */
  isNarrowed: boolean
}

/** Looks at the next jobs, one by one. Undefined: it took too long. */
export async function jobWalk(
  db: Database,
  { now, timeoutMs }: Statement,
  selection: JobSelection,
  options: WalkOptions,
): Promise<Walked | undefined> {
  const rows = await db.composed<Omit<Walked, 'ids'> & { ids: string | null }>(
    walkStatement(now, selection, options),
    timeoutMs,
  )
  if (rows === undefined) return undefined
  const { ids, ...walked } = rows[0] ?? { rows: 0, last: null, from: null, to: null, count: 0, ids: null }
  return { ...walked, ids: ids === null || ids === '' ? [] : ids.split(',') }
}

export function walkStatement(now: Now, selection: JobSelection, { rows, isNarrowed }: WalkOptions): Composed {
  const values = new Values()
  const most = values.add(rows, 'int')
  const isChosen = (condition: Condition) => isNarrowed && !fieldOf(condition.field)?.isScanned
  const chosen = { ...selection, conditions: selection.conditions.filter(isChosen) }
  const rest = selection.conditions.filter((condition) => !isChosen(condition))
  const places = placesOf(now, chosen, values).map(({ from, where, composing }) => {
    const found = allOf(rest.map((condition) => conditionSql(condition, composing)))
    return `(select id, created_at, (${found}) is true as is_found from ${from} where ${where} ${ordered(selection)} limit ${most})`
  })
  if (places.length === 0)
    return {
      text: `select 0 as rows, null::bigint as last, null::timestamptz as "from", null::timestamptz as "to", 0 as count, null as ids`,
      values: [],
    }
  const last = selection.order === 'newest' ? 'min' : 'max'
  const text = `select
  count(*)::int as rows, ${last}(id) as last, min(created_at) as "from", max(created_at) as "to",
  (count(*) filter (where is_found))::int as count,
  string_agg(id::text, ',' ${ordered(selection)}) filter (where is_found) as ids
from (select * from (${places.join(' union all ')}) as looked ${ordered(selection)} limit ${most}) as looked`
  return values.composed(text)
}

/** These jobs, wherever they are by now. */
export async function jobsById(
  db: Database,
  statement: Statement,
  ids: readonly string[],
  order: JobSelection['order'],
): Promise<Job[] | undefined> {
  const values = new Values()
  const given = values.add(plainArray(ids), 'bigint[]')
  const places = Object.values(PLACES).map(
    ({ columns, from }) => `(select ${columns} from ${from} where id = any(${given}))`,
  )
  const text = `${places.join(' union all ')} ${ordered({ order })}`
  return db.composed<Job>(values.composed(text), statement.timeoutMs)
}

const ordered = ({ order }: Pick<JobSelection, 'order'>): string =>
  order === 'newest' ? 'order by id desc' : 'order by id'

/** Where such jobs can be. */
function placesOf(now: Now, { conditions, order, after }: JobSelection, values: Values) {
  const time = now === null ? 'now()' : values.add(now.toISOString(), 'timestamptz')
  return (Object.keys(PLACES) as Source[]).flatMap((source) => {
    const composing: Composing = { source, values, now: time }
    const all = conditions.flatMap((each) => [conditionSql(each, composing), impliedSql(each, composing)])
    if (after !== null) all.push(`id ${order === 'newest' ? '<' : '>'} ${values.add(after, 'bigint')}`)
    const where = allOf(all)
    return where === 'false' ? [] : [{ ...PLACES[source], where, composing }]
  })
}
