import type { Millrace } from 'millrace'
import { contract } from '../../contract/operations.ts'
import { type Caller, hasRole, maySee, newestFirst, nextOf, tenantsToList } from '../caller.ts'
import { csvResponse } from '../csv.ts'
import { notFound } from '../problem.ts'
import { given, type Route, route } from '../route.ts'
import { eachTenant, shownAttempt } from './jobs.ts'

const { deadLetters } = contract
const PAGE = 50

export interface LetterQuery {
  readonly tenant?: string | undefined
  readonly limit?: number | undefined
  readonly [filter: string]: unknown
}

/** A page of the letters that the caller may see. */
export async function letterPage(millrace: Millrace, caller: Caller, { tenant, limit = PAGE, ...filter }: LetterQuery) {
  const lists = await eachTenant(tenantsToList(caller, tenant), (each) =>
    millrace.deadLetters.list({ ...given({ ...filter, tenant: each }), limit }),
  )
  return newestFirst(lists, limit)
}

const seenOf = (acknowledged: 'true' | 'false' | undefined) =>
  acknowledged === undefined ? {} : { acknowledged: acknowledged === 'true' }

/** One result per id, by position: letters that the caller may not see are not there. */
export async function decideOn<Result extends { id: string; status: string }>(
  millrace: Millrace,
  caller: Caller,
  ids: readonly string[],
  decide: (ids: string[]) => Promise<Result[]>,
): Promise<(Result | { id: string; status: 'not_found' })[]> {
  const visible: string[] = []
  for (const id of new Set(ids)) {
    if (caller.tenants === null || maySee(caller, (await millrace.deadLetters.get(id))?.tenant ?? null))
      visible.push(id)
  }
  const results = visible.length === 0 ? [] : await decide(visible)
  const byId = new Map(results.map((result) => [result.id, result]))
  return ids.map((id) => byId.get(id) ?? { id, status: 'not_found' as const })
}

/** Null: of all tenants. */
const tenantsOf = (caller: Caller, tenant: string | undefined) =>
  caller.tenants === null && tenant === undefined
    ? null
    : tenantsToList(caller, tenant).filter((each) => each !== undefined)

export const deadLetterRoutes: readonly Route[] = [
  route(deadLetters.list, async ({ acknowledged, limit = PAGE, ...filter }, { millrace, caller }) => {
    const letters = await letterPage(millrace, caller, { ...filter, ...seenOf(acknowledged), limit })
    return { letters, next: nextOf(letters, limit) }
  }),

  route(deadLetters.csv, ({ acknowledged, limit, before: first, ...filter }, { millrace, caller }) =>
    csvResponse({
      ...{ kind: 'deadLetters', goOn: 'before', limit },
      async page(before = first, most) {
        const rows = await letterPage(millrace, caller, { ...filter, ...seenOf(acknowledged), before, limit: most })
        return { rows, next: nextOf(rows, most) }
      },
    }),
  ),

  route(deadLetters.groups, async ({ tenant, limit = PAGE, ...filter }, { millrace, caller }) => {
    const lists = await eachTenant(tenantsToList(caller, tenant), (each) =>
      millrace.deadLetters.groups({ ...given({ ...filter, tenant: each }), limit }),
    )
    return {
      groups: lists
        .flat()
        .sort((a, b) => b.pending - a.pending)
        .slice(0, limit),
    }
  }),

  route(deadLetters.groupFacts, async ({ fingerprints, hours, tenant }, { millrace, caller }) => ({
    groups: await millrace.deadLetters.groupFacts([...new Set(fingerprints.split(','))], {
      ...given({ hours }),
      tenants: tenantsOf(caller, tenant),
    }),
  })),

  route(deadLetters.groupVersions, async ({ fingerprint, type, tenant }, { millrace, caller }) => ({
    versions: await millrace.deadLetters.groupVersions({ fingerprint, type }, { tenants: tenantsOf(caller, tenant) }),
  })),

  route(deadLetters.counts, async ({ limit }, { millrace, caller }) => {
    const counts = await millrace.deadLetters.counts(given({ limit }))
    return { counts: counts.filter(({ tenant }) => maySee(caller, tenant)) }
  }),

  route(deadLetters.get, async ({ id }, { millrace, caller }) => {
    const letter = await millrace.deadLetters.get(id)
    if (letter === undefined || !maySee(caller, letter.tenant)) throw notFound(`dead letter ${id}`)
    if (hasRole(caller, 'operator')) return letter
    const { originalJob: _, errorDetails, failedAttempts, ...rest } = letter
    return {
      ...rest,
      errorDetails: errorDetails && { class: errorDetails.class, stack: errorDetails.stack },
      failedAttempts: failedAttempts.map((attempt) => shownAttempt(caller, attempt)),
    }
  }),

  route(deadLetters.acknowledge, async ({ ids }, { millrace, caller, by }) => ({
    results: await decideOn(millrace, caller, ids, (seen) => millrace.deadLetters.acknowledge(seen, { by })),
  })),

  route(deadLetters.redrive, async ({ ids, ...options }, { millrace, caller, by }) => ({
    results: await decideOn(millrace, caller, ids, (seen) =>
      millrace.deadLetters.redrive(seen, { ...given(options), by }),
    ),
  })),

  route(deadLetters.resolve, async ({ ids, note }, { millrace, caller, by }) => ({
    results: await decideOn(millrace, caller, ids, (seen) =>
      millrace.deadLetters.resolve(seen, { by, ...given({ note }) }),
    ),
  })),

  route(deadLetters.ignore, async ({ ids, note }, { millrace, caller, by }) => ({
    results: await decideOn(millrace, caller, ids, (seen) =>
      millrace.deadLetters.ignore(seen, { by, ...given({ note }) }),
    ),
  })),

  route(deadLetters.note, async ({ ids, note }, { millrace, caller, by }) => ({
    results: await decideOn(millrace, caller, ids, (seen) => millrace.deadLetters.note(seen, note, { by })),
  })),

  route(deadLetters.prune, async ({ olderThan, since }, { millrace, by, request }) =>
    millrace.deadLetters.prune({
      olderThan: olderThan as `${number}d`,
      ...given({ since }),
      by,
      signal: request.signal,
    }),
  ),
]
