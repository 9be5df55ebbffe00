// The engine broken on purpose: each mutation rewrites the text of a few statements before they are first used.
//
// A scenario that stays green under its mutation proves nothing. A mutation whose pattern no longer matches throws, so
// that a changed statement cannot quietly turn it into the healthy engine.

import { statementTexts } from '../../../packages/engine/dist/store/sql.generated.js'
import type { StatementName } from '../../../packages/engine/dist/store/statements.js'
import { skewMs } from './skew.ts'

type Texts = Record<StatementName, string>

interface Edit {
  statement: StatementName
  change(text: string): string
}

// The replacement is a function because `$1` is a parameter here, not a capture.
const edit = (statement: StatementName, from: string | RegExp, to: string): Edit => ({
  statement,
  change: (text) => text.replace(from, () => to),
})

const runId = /\s+and run_id = \(\$3::uuid\[\]\)\[[^\n]+/
const status = /\s+and case status when 'processing' then true else false end/
const settlements = ['jobFinish', 'jobRequeue', 'jobBury'] as const
/** A parameter that is not mentioned has no type. */
const mentioned = (each: StatementName) => (each === 'jobFinish' ? '($3::uuid[], $4::int[])' : '$3::uuid[]')
const unfenced = settlements.map((each) => edit(each, runId, `\n    and ${mentioned(each)} is not null`))

/** What everybody writes first. The planner is free to run the limited sub-select again for every row of the table. */
const subselect = `where id in (
  select id from millrace.job
  where queue = any($2) and status = 'pending' and type = any($4) and run_at <= coalesce($1, now()) and $8::text[] is not null
  limit (select sum(slots) from unnest($3::int[]) as slots)
  for no key update skip locked
)`

function withSubselect(claim: string): string {
  const update = claim.slice(claim.indexOf('update millrace.job'))
  const types = claim.includes('$14') ? ['text[]', 'text[]'] : ['text[]']
  const entries = [...types, 'int[]', 'float8[]', 'bigint[]'].map((type, i) => `, $${10 + i}::${type}`).join('')
  return update.replace(
    /where id = any\(.*\n/,
    () => `${subselect}\n  and row($9::bigint${entries}) is distinct from null\n`,
  )
}

/** Whoever ticks last, ticks: nobody looks whether the schedule was moved or changed meanwhile. */
const unmoved = edit('scheduleAdvance', 'revision = $3', '$3::bigint is not null')
/** What a process takes for the time: its own. */
const ownClock = `(clock_timestamp() + ${skewMs()} * interval '1 millisecond')`

const table = {
  /** Whoever settles, settles: neither run_id nor status is looked at. */
  'unfenced-settle': [...unfenced, ...settlements.map((each) => edit(each, status, ''))],
  /** Only the fence is missing: any run may settle a job that is processing. */
  'settle-ignores-run-id': unfenced,
  /** The rows to claim are neither locked nor looked at again. */
  'claim-without-guard': [
    edit('jobClaim', /for no key update skip locked/g, ''),
    edit('jobClaim', /\s+and status = 'pending'\nreturning/, '\nreturning'),
    edit('jobClaimTypes', /for no key update skip locked/g, ''),
    edit('jobClaimTypes', /\s+and status = 'pending'\nreturning/, '\nreturning'),
  ],
  /** Nothing keeps the limit of a claim under every plan. */
  'claim-with-subselect': [
    { statement: 'jobClaim', change: withSubselect },
    { statement: 'jobClaimTypes', change: withSubselect },
  ],
  /** Nobody looks for the runs of dead workers. */
  'no-rescue': [edit('jobOrphans', "where job.status = 'processing'", 'where false')],
  /** A lease lasts as long as it lasts, whoever ends it. */
  'leases-not-ended': [edit('workerEnd', 'where id = $2', 'where false and id = $2')],
  /** Rescuers take the lease of whoever has not renewed it within the last moment. */
  'rescue-ignores-leases': [
    edit('rescueNeeds', 'expires_at < now()', 'heartbeat_at < now()'),
    edit('workerExpire', /expires_at < coalesce\(\$1, now\(\)\)/g, 'heartbeat_at < now()'),
  ],
  /** A crash leaves no mark on the job. */
  'crashes-uncounted': [edit('jobRequeue', 'else crashes + 1 end', 'else crashes end')],
  /** Whatever fails leaves a mark, as if it had taken its worker along. */
  'failures-are-crashes': [edit('jobRequeue', "when 'clear' then 0", "when 'clear' then crashes + 1")],
  /** Giving back costs an attempt. */
  'no-refund': [edit('jobRequeue', / - (\(\$5::bool\[\]\)\[[^\n]+)::int/, ' - 0 * ($5::bool[])[1]::int')],
  /** Nobody gives back what a lost claim took. */
  'no-release': [edit('jobReleaseRun', 'where worker_id = $2', 'where false and worker_id = $2')],
  /** A settlement whose reply was lost finds no trace of itself. */
  'blind-read-back': [
    edit('jobRunState', 'job.run_id = mine.run_id', 'false'),
    edit('jobRunState', 'archive.run_id = mine.run_id', 'false'),
  ],
  /** The dedup key is not stored. */
  'keys-forgotten': [edit('jobInsertKeyed', /(?<=interval '1 millisecond'\), )dedup_key,/, 'null::text,')],
  /** A window that is open keeps nobody out. */
  'windows-ignored': [
    edit('jobInsertKeyed', 'past.expires_at > input.now', 'false'),
    edit('jobInsertKeyed', 'where past.expires_at <= coalesce($1, now())', 'where true'),
  ],
  /** A key that is taken is an error instead of an answer. */
  'conflict-is-an-error': [edit('jobInsertKeyed', /\s+on conflict [^\n]*do nothing/, '')],
  /** Somebody thought that a null in a payload says nothing. */
  'nulls-stripped': [
    edit('jobInsert', /(?<=\(\$6::int\[\]\)\[1\]\), )payload,/, 'jsonb_strip_nulls(payload),'),
    edit('jobInsertOne', '$7::jsonb', 'jsonb_strip_nulls($7::jsonb)'),
  ],
  /** The same, of results. */
  'results-stripped': [
    edit('jobFinish', /(?<=last_error, payload, )result(?=\n\s+from finished)/, 'jsonb_strip_nulls(result)'),
  ],
  /** The places of a key that are taken are not counted. */
  'places-uncounted': [edit('limitAdmit', 'allowed.places - count(*)', 'allowed.places + 0 * count(*)')],
  /** The next of an ordered key does not wait for the one before it. */
  'order-unheeded': [edit('orderAdmit', /\s+and \(\s+select id from millrace\.job[^)]+\) = judged[^)]*\) is null/, '')],
  /** Nobody looks for jobs that were left blocked. */
  'no-sweep': [
    edit('orderKeys', ') is null as is_free', ') is null and false as is_free'),
    edit('limitKeys', 'else false end', 'else false end and false'),
  ],
  /** Nobody hears of anything: not of work, nor the message by which LISTEN proves itself. */
  'notify-says-nothing': [edit('notify', 'as payload', 'as payload where false')],
  /** The next job is always said to be due in a moment. */
  'always-due-soon': [
    edit(
      'jobNextDue',
      /\(extract\(epoch from min[^\n]*::float8 as wait_ms/,
      "coalesce(1, date_part('epoch', $1::timestamptz)) as wait_ms",
    ),
  ],
  /** Every claim begins at the head of its queue, however many dead entries lie there. */
  'claims-from-the-head': [
    edit(
      'jobClaim',
      'to_timestamp(run_at_s) as run_at, id + 1 as id',
      "least(to_timestamp(run_at_s), '-infinity') as run_at, 0 * id as id",
    ),
  ],
  /** Nobody looks how the tables are. */
  'tables-unwatched': [edit('tableBloat', 'where relnamespace', 'where false and relnamespace')],
  /** A governed claim looks at one tenant only, always the same. */
  'first-tenant-only': [edit('governedLook', 'where stream.nth < $5', 'where stream.nth < least(1, $5)')],
  /** No tenant is offered more than one slot, however many are free. */
  'one-job-per-tenant': [edit('governedLook', /limit (\$6 \* coalesce\(special\.weight, 1\))/, 'limit least(1, $6)')],
  /** What runs under a limit is not counted. */
  'running-uncounted': [edit('governedStanding', "limits <> '{}'", "limits <> '{}' and false")],
  /** Several processes count and take at once. */
  'governed-without-lock': [edit('governedLock', 'bool_and(pg_try_advisory_xact_lock(key))', 'bool_and(key <> 0)')],
  /** A claim that was cut short keeps its locks for as long as its connection stands. */
  'locks-kept': [edit('governedLock', "'2s', true", "'0', true")],
  /** A tick is written by whoever has planned it, however long ago. */
  'ticks-by-anybody': [unmoved],
  /** The same, and no fire time is kept from being ticked twice. */
  'ticks-unguarded': [unmoved, edit('scheduleAdvance', "'due', 'running'", "'manual', 'running'")],
  /** What is due is decided by the clock of the process. */
  'ticks-by-own-clock': (['scheduleLook', 'scheduleGet', 'scheduleAdvance'] as const).map((each) =>
    edit(each, 'clock_timestamp()', ownClock),
  ),
  /** A tick that was cut short keeps its schedule for as long as its connection stands. */
  'tick-locks-kept': [edit('scheduleAdvance', "'2s', true", "'0', true")],
  /** Every fire time that was missed is made up for, one after another. */
  'all-caught-up': [
    edit(
      'scheduleGet',
      'coalesce($1, clock_timestamp()) as now',
      'least(coalesce($1, clock_timestamp()), next_at) as now',
    ),
  ],
  /** The next fire time is found by the clocks of Greenwich. */
  'zones-ignored': [edit('scheduleGet', 'cadence, timing,', `cadence, timing || '{"timeZone": "UTC"}' as timing,`)],
  /** However many jobs of a step end in one statement, one is counted off. */
  'items-counted-singly': [
    edit('workflowSettle', 'items_left - done', 'items_left - least(1, done)'),
    edit('workflowSettle', /items_left = done/g, 'items_left = least(1, done)'),
  ],
  /** Several processes decide what follows in a workflow at once. */
  'advance-without-lock': [
    edit('workflowLock', 'for no key update', ''),
    edit('workflowTryLock', 'for no key update skip locked', ''),
  ],
  /** Nobody looks for workflows that were left standing. */
  'workflows-not-swept': [edit('workflowLook', 'where needs_advance', 'where false and needs_advance')],
  /** Whoever was cut short while it ended jobs keeps their steps for as long as its connection stands. */
  'step-locks-kept': [edit('workflowSettle', "_session_timeout', $5, true", "_session_timeout', '0', true")],
  /** Nobody knows in which order steps completed. */
  'completions-forgotten': [edit('workflowStepRows', 'completed_as', 'null::int as completed_as')],
  /** Nothing ever becomes a dead letter. */
  'no-burial': [edit('jobBury', 'where job.id', 'where false and job.id')],
} as const satisfies Record<string, readonly Edit[]>

/** Of packages whose statements are not in files: the scenario breaks its database by this SQL instead. */
const onDatabase = {
  /** An entry of the spike buffer may become a job as often as it is read. */
  'entries-without-key': `
    create function fault.no_key() returns trigger language plpgsql as
      $$ begin delete from millrace_redis.buffer_entry where entry_id = new.entry_id; return new; end $$;
    create trigger no_key before insert on millrace_redis.buffer_entry for each row execute function fault.no_key()`,
  /** Every holder of a lock gets the same number. */
  'fences-stand-still': `
    create function fault.same_fence() returns trigger language plpgsql as
      $$ begin new.fence := old.fence; return new; end $$;
    create trigger same_fence before update on millrace_redis.lock_fence for each row execute function fault.same_fence()`,
} as const

export type MutationName = keyof typeof table | keyof typeof onDatabase

/** What breaks the database of a scenario; undefined: this mutation breaks statements, or there is none. */
export const databaseMutation = (name: MutationName | undefined): string | undefined =>
  onDatabase[name as keyof typeof onDatabase]

/** The statements as this mutation leaves them; the healthy ones without a name. */
export function textsUnder(name: MutationName | undefined): Texts {
  const texts: Texts = { ...statementTexts }
  if (name === undefined) return texts
  if (name in onDatabase) return texts
  for (const { statement, change } of table[name as keyof typeof table] as readonly Edit[]) {
    const mutated = change(texts[statement])
    if (mutated === texts[statement]) throw new Error(`Mutation ${name} finds nothing to change in ${statement}.`)
    texts[statement] = mutated
  }
  return texts
}

/** Breaks the engine of this thread. */
export function applyMutation(name: string | undefined): void {
  if (name === undefined || name === '') return
  if (name in onDatabase) return
  if (!(name in table)) throw new Error(`There is no mutation "${name}".`)
  Object.assign(statementTexts, textsUnder(name as MutationName))
}

export const mutationNames = [...Object.keys(table), ...Object.keys(onDatabase)] as MutationName[]
