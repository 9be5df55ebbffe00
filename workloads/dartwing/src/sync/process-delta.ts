// `dartwing_core.sync.process_delta`: merges what a device changed while it was offline, exactly once.
import { discard, type Implementation, implement, type JobContext, type Queryable } from 'millrace'
import { processDelta } from '../contracts/default.ts'
import { orgContext } from '../organization/org-context.ts'
import { syncConflicts } from '../telemetry/metrics.ts'
import { type Changes, changes as changesSchema } from './delta.ts'
import { stampRows } from './head-store.ts'
import { EMPTY, isDeleted, type MergeState, merge } from './merge.ts'
import {
  conflictsInsert,
  deltaApplied,
  deltaGet,
  type Kind,
  type NoticedConflict,
  recordsLock,
  recordsUpsert,
} from './sync-store.ts'

const KINDS: readonly Kind[] = ['Contact', 'Task']

export const processDeltaHandler = (): Implementation =>
  implement(processDelta, async ({ organization, delta }, ctx) => {
    const stored = await orgContext(ctx, (tx) => deltaGet(tx, ctx, delta))
    const parsed = changesSchema.safeParse(stored.changes)
    if (!parsed.success)
      return discard(
        `Delta ${delta} breaks its schema: ${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}`,
      )
    const result = await orgContext(ctx, (tx) => apply(tx, { organization, delta, changes: parsed.data, ctx }), {
      complete: true,
    })
    syncConflicts.inc(result.conflicts)
    return result
  })

async function apply(
  tx: Queryable,
  { organization, delta, changes, ctx }: { organization: string; delta: string; changes: Changes; ctx: JobContext },
) {
  const { isApplied, serverSeq } = await deltaGet(tx, ctx, delta)
  if (isApplied) return { applied: 0, unchanged: changes.length, conflicts: 0, serverSeq: serverSeq ?? 0 }
  let applied = 0
  const conflicts: NoticedConflict[] = []
  const changed: Partial<Record<Kind, string[]>> = {}
  for (const doctype of KINDS) {
    const of = changes.filter((change) => change.doctype === doctype)
    const names = [...new Set(of.map(({ name }) => name))]
    if (names.length === 0) continue
    const states = new Map<string, MergeState>(
      (await recordsLock(tx, doctype, names)).map((record) => [record.name, record]),
    )
    const touched = new Set<string>()
    for (const change of of) {
      const { state, isChanged, conflict } = merge(states.get(change.name) ?? EMPTY, change)
      states.set(change.name, state)
      if (isChanged) touched.add(change.name)
      applied += isChanged ? 1 : 0
      if (conflict !== undefined)
        conflicts.push({ ...conflict, doctype, name: change.name, isOurs: conflict.lost.stamp === change.stamp })
    }
    const records = [...touched].map((name) => {
      const { fields, clocks } = states.get(name) as MergeState
      return { name, fields, clocks, deleted: isDeleted({ fields, clocks }) }
    })
    await recordsUpsert(tx, organization, doctype, records)
    changed[doctype] = [...touched]
  }
  const noticed = conflicts.length === 0 ? 0 : await conflictsInsert(tx, organization, delta, conflicts)
  const seq = await stampRows(tx, organization, changed)
  await deltaApplied(tx, delta, seq)
  return { applied, unchanged: changes.length - applied, conflicts: noticed, serverSeq: seq }
}
