// Dead letters through an admin API.
import { contract } from '@millrace/admin/contract'
import type {
  DeadLetter,
  DeadLetterCounts,
  DeadLetterDetails,
  DeadLetterGroup,
  LetterIds,
  PruneResult,
  RedriveResult,
} from 'millrace'
import { type Ask, undefinedIfMissing } from './ask.ts'
import type { Operations } from './operations.ts'

/** The most that one request may name. */
const BATCH = 1_000
/** As many as the engine lists. */
const GROUPS = 100

type Letters = Omit<Operations['deadLetters'], 'ofJob'>

export function remoteLetters(ask: Ask): Letters {
  const { deadLetters } = contract
  return {
    async list({ acknowledged, ...filter } = {}) {
      const seen =
        acknowledged === undefined ? {} : { acknowledged: acknowledged ? ('true' as const) : ('false' as const) }
      return ((await ask(deadLetters.list, { ...filter, ...seen })) as { letters: DeadLetter[] }).letters
    },
    async get(id) {
      if (!/^\d{1,19}$/.test(id)) return undefined
      const letter = (await ask(deadLetters.get, { id }).catch(undefinedIfMissing)) as DeadLetterDetails | undefined
      // Viewers are not told the original job.
      return letter && { ...letter, originalJob: letter.originalJob ?? {} }
    },
    async groups({ limit = GROUPS, ...filter } = {}) {
      return ((await ask(deadLetters.groups, { ...filter, limit })) as { groups: DeadLetterGroup[] }).groups
    },
    async counts({ limit } = {}) {
      return ((await ask(deadLetters.counts, { limit })) as { counts: DeadLetterCounts[] }).counts
    },
    async prune({ olderThan, since }) {
      return (await ask(deadLetters.prune, { olderThan: olderThan as string, since })) as PruneResult
    },
    redrive: (ids, { payload, maxAttempts }) =>
      inBatches<RedriveResult>(ids, (batch) => ask(deadLetters.redrive, { ids: batch, payload, maxAttempts })),
    acknowledge: (ids) => inBatches(ids, (batch) => ask(deadLetters.acknowledge, { ids: batch })),
    resolve: (ids, { note }) => inBatches(ids, (batch) => ask(deadLetters.resolve, { ids: batch, note })),
    ignore: (ids, { note }) => inBatches(ids, (batch) => ask(deadLetters.ignore, { ids: batch, note })),
    note: (ids, note) => inBatches(ids, (batch) => ask(deadLetters.note, { ids: batch, note })),
  }
}

async function inBatches<Result>(ids: LetterIds, decide: (ids: string[]) => Promise<unknown>): Promise<Result[]> {
  const all = typeof ids === 'string' ? [ids] : ids
  const results: Result[] = []
  for (let i = 0; i < all.length; i += BATCH) {
    const answer = (await decide(all.slice(i, i + BATCH))) as { results: Result[] }
    results.push(...answer.results)
  }
  return results
}
