// Which jobs a bulk operation concerns, by its query.
import type { Condition } from '../search/query.ts'
import { type BulkRow, bulkAdd, bulkCanaries } from '../store/bulk.ts'
import type { BulkWorkServices } from './bulk-work.ts'
import { JobFinder, NOT_SYSTEM, TimeLeft } from './job-finder.ts'
import { conditionsOf } from './search.ts'

const FIND_MS = 5_000

/** All that the jobs must be. Jobs that were enqueued after the start are not concerned. */
export function concernedBy({ query, tenant, lastId }: BulkRow): Condition[] {
  const before: Condition = {
    field: 'id',
    path: [],
    isNegated: false,
    matches: [{ kind: 'compare', operator: '<=', value: lastId }],
  }
  return [...conditionsOf(query ?? '', tenant === null ? {} : { tenant }), NOT_SYSTEM, before]
}

/** Adds the next jobs to the operation, from where its search has come. How many; undefined: another run has come as far. */
export async function findMore(
  services: BulkWorkServices,
  operation: BulkRow,
  limit: number,
): Promise<number | undefined> {
  const { db } = services
  const { id, most, cursor } = operation
  const found = operation.changed + operation.already + operation.refused + operation.open
  const wanted = Math.min(limit, most === null ? limit : most - found)
  // They are in the operation already, and would be counted twice.
  const canaries = operation.canary === null ? [] : (await bulkCanaries(db, id)).map(({ jobId }) => jobId)
  const conditions = [...concernedBy(operation), ...without('id', canaries)]
  const selection = { conditions, order: 'oldest', after: cursor } as const
  const { jobs, next } =
    wanted <= 0
      ? { jobs: [], next: null }
      : await new JobFinder(services).page(selection, wanted, new TimeLeft(FIND_MS))
  const ids = jobs.map((job) => job.id)
  const isFound = next === null || (most !== null && found + ids.length >= most)
  const isOurs = await bulkAdd(db, id, ids, { from: cursor, to: next ?? cursor, isFound })
  return isOurs ? ids.length : undefined
}

export function without(field: Condition['field'], values: readonly string[]): Condition[] {
  if (values.length === 0) return []
  return [{ field, path: [], isNegated: true, matches: values.map((value) => ({ kind: 'is', value })) }]
}
