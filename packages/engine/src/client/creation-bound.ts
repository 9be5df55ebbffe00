// A page of the newest jobs that were created before some time begins far down in the ids. Without a bound its statement would
// walk over all younger jobs first: five million took two seconds.
//
// Ids grow with time as far as transactions are short: a job is created when its transaction begins, and gets its id when it is
// written. So the bound is an hour above.
import type { Condition, Match, Moment } from '../search/query.ts'
import type { Database } from '../store/db.ts'
import { type JobSelection, jobIdAt } from '../store/job-search.ts'

const SLACK_MS = 3_600_000
/** Jobs start and end after they were created. */
const AFTER_CREATION: readonly string[] = ['created', 'started', 'finished']

/** The selection, with a bound if that spares a walk. `now`: null for the clock of this process, an hour is more than it is wrong. */
export async function withIdBound(db: Database, now: Date | null, selection: JobSelection): Promise<JobSelection> {
  const latest = latestCreation(selection.conditions, now ?? new Date())
  if (latest === undefined || selection.order === 'oldest') return selection
  const bound = await jobIdAt(db, new Date(latest + SLACK_MS))
  const isBelow: Condition = {
    field: 'id',
    path: [],
    isNegated: false,
    matches: [{ kind: 'compare', operator: '<', value: bound }],
  }
  return { ...selection, conditions: [...selection.conditions, isBelow] }
}

/** The time before which all such jobs were created. Undefined: there is none. */
export function latestCreation(conditions: readonly Condition[], now: Date): number | undefined {
  const ends = conditions
    .filter(({ field, isNegated }) => AFTER_CREATION.includes(field) && !isNegated)
    .map(({ matches }) => Math.max(...matches.map((match) => endOf(match, now))))
  const earliest = Math.min(...ends)
  return Number.isFinite(earliest) ? earliest : undefined
}

function endOf(match: Match, now: Date): number {
  if (match.kind === 'during') return msOf(match.to, now)
  const isBefore = match.kind === 'compare' && match.operator.startsWith('<')
  return isBefore ? msOf(match.value as Moment, now) : Number.POSITIVE_INFINITY
}

const msOf = (moment: Moment, now: Date): number =>
  'at' in moment ? moment.at.getTime() : now.getTime() + moment.fromNowMs
